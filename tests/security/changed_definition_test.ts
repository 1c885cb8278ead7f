import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import { ReviewList } from "../../lib/trust/review_items.ts";
import { EndpointClient, FaultyGateway, pause } from "../faults.ts";
import { until } from "../gateway.ts";

const FIXTURE = fromFileUrl(new URL("../fixtures/file_tools_server.ts", import.meta.url));

/** In every changed definition, and in nothing else. */
const MARK = "zqxmark";
const announce = { name: "announce", inputSchema: { type: "object" } };
const pinned = {
  name: "look",
  title: "Look at files",
  description: "Looks at the files of a folder",
  inputSchema: { type: "object", properties: { path: { type: "string" } } },
  outputSchema: { type: "object", properties: { files: { type: "array" } } },
  annotations: { readOnlyHint: true },
  icons: [{ src: "data:image/png;base64,AAAA" }],
  _meta: { "example.com/kind": "plain" },
};

const MUTATIONS: Record<string, object> = {
  name: { ...pinned, name: MARK },
  title: { ...pinned, title: `Look ${MARK}` },
  description: { ...pinned, description: `Looks at the files of a folder ${MARK}` },
  inputSchema: {
    ...pinned,
    inputSchema: { type: "object", properties: { path: { type: "string" }, [MARK]: {} } },
  },
  outputSchema: { ...pinned, outputSchema: { type: "object", properties: { [MARK]: {} } } },
  annotations: { ...pinned, annotations: { readOnlyHint: true, title: MARK } },
  icons: { ...pinned, icons: [{ src: "data:image/png;base64,AAAA", sizes: [MARK] }] },
  _meta: { ...pinned, _meta: { "example.com/kind": MARK } },
  "a tool that is added": { ...pinned, name: `added_${MARK}` },
};

/** Everything that clients can read of tools, at every endpoint and on a connection of their own. */
async function readAll(faulty: FaultyGateway, own: EndpointClient): Promise<Map<string, string>> {
  const read = new Map<string, string>();
  const ask = async (endpoint: string, method: string, params: object) => {
    const client = await EndpointClient.open(faulty.url + endpoint);
    const answer = JSON.stringify(await client.request(method, params));
    read.set(`${endpoint} ${method} ${JSON.stringify(params)}`, answer);
  };
  // A call has the server say on this client's connection that its list has changed.
  await own.must("announce");
  for (let tries = 0; tries < 3; tries++) {
    read.set(`own connection ${tries}`, JSON.stringify(await own.request("tools/list", {})));
    await pause(20);
  }
  for (const naming of ["original", "namespaced", "flat"]) {
    await ask(`/servers/files/mcp?names=${naming}`, "tools/list", {});
  }
  await ask("/mcp?expose=all", "tools/list", {});
  await ask("/mcp?expose=default", "tools/list", {});
  const calls: [string, string, object][] = [
    ["discovery", "tool_discovery", { query: "look at the files of a folder" }],
    ["index", "list_available_tools", {}],
    ["index", "get_tool_description", { tool_name: "files.look" }],
    ["index", "get_tool_description", { tool_name: `files.${MARK}` }],
    ["optimizer", "optim.find_tool", { tool_description: "look at the files of a folder" }],
    ["default", "discover-all-tools", {}],
    ["all", "files.look_", {}],
  ];
  for (const [expose, name, args] of calls) {
    await ask(`/mcp?expose=${expose}`, "tools/call", { name, arguments: args });
  }
  await ask("/gateway/mcp", "tools/call", {
    name: "get_enabled_tools",
    arguments: { server: "files" },
  });
  return read;
}

function entry(folder: string, changes: string): Record<string, unknown> {
  const args = ["run", "-A", "-q", "--no-lock", FIXTURE, join(folder, "tools.json")];
  return { command: Deno.execPath(), args, changes };
}

/** What every program of the server lists from here on. */
async function listIn(folder: string, ...tools: object[]): Promise<void> {
  // Whole at once: servers of single clients read it whenever they like.
  await Deno.writeTextFile(join(folder, "next.json"), JSON.stringify([announce, ...tools]));
  await Deno.rename(join(folder, "next.json"), join(folder, "tools.json"));
}

Deno.test("a definition that changes after it was seen reaches no client of a server on hold", async (test) => {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const list = (...tools: object[]) => listIn(folder, ...tools);
  try {
    await list(pinned);
    await using faulty = await FaultyGateway.start({ files: entry(folder, "hold") }, {
      folder,
      dataDir: folder,
    });
    await faulty.reaches("files", "ready");
    const client = await faulty.open("files");
    const own = await faulty.open("files", { sampling: {} });

    /** What the server lists is recorded for its owner, whatever clients see. */
    const isRecorded = (text: string) =>
      until(async () => {
        const response = await fetch(`${faulty.url}/api/review`);
        const { items } = ReviewList.parse(await response.json());
        return JSON.stringify(items).includes(text) ? items : undefined;
      });

    for (const [field, changed] of Object.entries(MUTATIONS)) {
      await test.step(field, async () => {
        await (field === "a tool that is added" ? list(pinned, changed) : list(changed));
        await client.must("announce");
        const items = await isRecorded(MARK);
        assert.deepEqual(items.map(({ server, state }) => [server, state]), [["files", "held"]]);
        if (field === "name") {
          assert.deepEqual([items[0]?.kind, items[0]?.from], ["renamed", "look"]);
        }
        for (const [endpoint, text] of await readAll(faulty, own)) {
          // A caller may read its own words in an error.
          const own = endpoint.includes(MARK) ? text.replaceAll(`files.${MARK}`, "") : text;
          assert.ok(!own.includes(MARK), `${endpoint}: ${text.slice(0, 2_000)}`);
        }
        const { result } = await client.request("tools/list", {});
        const look = result?.tools?.find(({ name }) => name === "look");
        if (field === "name") assert.equal(look, undefined);
        else {
          assert.deepEqual(look, pinned);
          assert.equal(await client.must("look"), "done");
        }
        assert.equal((await faulty.statuses()).get("files")?.toolCount, field === "name" ? 1 : 2);
        await list(pinned);
        await client.must("announce");
        await until(async () => {
          const response = await fetch(`${faulty.url}/api/review`);
          return (await response.text()).includes(MARK) ? undefined : true;
        });
      });
    }

    await test.step("and does where the policy is to allow it", async () => {
      await list(MUTATIONS.description!);
      await faulty.configure({ files: entry(folder, "allow") });
      await until(async () => {
        const again = await faulty.open("files");
        const { result } = await again.request("tools/list", {});
        return JSON.stringify(result).includes(MARK) ? true : undefined;
      });
      // Else what was read before would say nothing.
      const open = [...await readAll(faulty, own)].filter(([, text]) => text.includes(MARK));
      assert.ok(open.length >= 10, open.map(([endpoint]) => endpoint).join("\n"));
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("two clients' versions of a tool wait side by side, and the log has what is in them", async () => {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  try {
    await listIn(folder, pinned);
    await using faulty = await FaultyGateway.start({ files: entry(folder, "hold") }, {
      folder,
      dataDir: folder,
    });
    await faulty.reaches("files", "ready");
    const items = async () => {
      const response = await fetch(`${faulty.url}/api/review`);
      return ReviewList.parse(await response.json()).items;
    };
    const described = (words: string) => ({ ...pinned, description: `Looks at ${words}` });
    const versions = ["the letters\u200b of a folder", "the keys of a folder"].map(described);
    const clients: EndpointClient[] = [];
    for (const [index, version] of versions.entries()) {
      // Only the program that is started for this client reads it.
      await listIn(folder, version);
      const client = await faulty.open("files", { sampling: {} });
      clients.push(client);
      await client.must("announce");
      await until(async () => (await items()).length > index || undefined);
    }
    const [first, second] = await items();
    assert.deepEqual(
      [first, second].map((item) => [item?.tool, item?.kind, item?.state]),
      [["look", "changed", "held"], ["look", "changed", "held"]],
    );
    await until(async () => (await items())[0]?.findings.length || undefined);
    assert.match(JSON.stringify(first?.diff), /letters/);
    assert.match(JSON.stringify(second?.diff), /keys/);
    const logged = (words: string) =>
      faulty.gateway.log().split("\n").filter((line) => line.includes(words));
    const lines = logged("on a client's own connection are held");
    assert.equal(lines.length, 2, faulty.gateway.log());
    assert.match(
      lines[0]!,
      /description: Looks at the \[-files-\]\{\+letters<U\+200B>\+\} of a folder/,
    );
    assert.match(lines[1]!, /\[-files-\]\{\+keys\+\}/);

    const shown = async (client: EndpointClient) => {
      const { result } = await client.request("tools/list", {});
      return result?.tools?.find(({ name }) => name === "look")?.description;
    };
    for (const client of clients) assert.equal(await shown(client), pinned.description);
    const { server, tool, fingerprint } = second!;
    const approved = await fetch(`${faulty.url}/api/review/approve`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ server, tool, fingerprint }),
    });
    assert.equal(approved.status, 200, await approved.text());
    const left = (await items()).map((item) => [item.fingerprint, item.state]);
    assert.ok(left.some(([each, state]) => each === first?.fingerprint && state === "held"));
    assert.ok(!left.some(([each]) => each === fingerprint));
    for (const client of clients) assert.equal(await shown(client), versions[1]!.description);

    // What all are listed is told with its words as well.
    await listIn(folder, described("the endpoints of a folder"));
    const client = await faulty.open("files");
    await client.must("announce");
    const tells = (message: string, words: string) =>
      until(() => logged(message).some((line) => line.includes(words)) || undefined);
    await tells("Changed tools are held", "[-keys-]{+endpoints+}");
    await tells("Tools have changed", "{+endpoints+}");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
