import assert from "node:assert/strict";
import { join } from "@std/path";
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
// @ts-types="@modelcontextprotocol/sdk/types"
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import { fixtureCommand, startHttpFixture } from "./fixtures/start_fixture.ts";
import { type RunningGateway, startGateway, until } from "./gateway.ts";

type Answer = "agree" | "accept without a yes" | "decline" | "cancel";

/** A client at one of the gateway's endpoints; it can be asked something only where it has an answer. */
async function connect(gateway: RunningGateway, path: string, answer?: Answer) {
  const client = new Client({ name: "test", version: "1" }, {
    capabilities: answer === undefined ? {} : { elicitation: {} },
  });
  const questions: string[] = [];
  let changes = 0;
  if (answer !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      questions.push(params.message);
      if (answer === "agree") return { action: "accept", content: { agree: true } };
      if (answer === "accept without a yes") return { action: "accept", content: { agree: false } };
      return { action: answer };
    });
  }
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changes++;
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(path, gateway.url)) as never);
  return {
    questions,
    changes: () => changes,
    async tools(): Promise<string[]> {
      return (await client.listTools()).tools.map(({ name }) => name);
    },
    async call(name: string, args: Record<string, unknown> = {}) {
      const result = CallToolResultSchema.parse(await client.callTool({ name, arguments: args }));
      const [content] = result.content;
      return {
        text: content?.type === "text" ? content.text : "",
        isError: result.isError ?? false,
        data: z.record(z.string(), z.unknown()).parse(result.structuredContent ?? {}),
      };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

type TestClient = Awaited<ReturnType<typeof connect>>;

async function serverNames(client: TestClient): Promise<string[]> {
  const { data } = await client.call("list_servers");
  return z.array(z.object({ name: z.string() })).parse(data.servers).map(({ name }) => name);
}

async function pidOf(gateway: RunningGateway, server: string): Promise<number> {
  await using endpoint = await connect(gateway, `/s/${server}/mcp`);
  return z.int().parse((await endpoint.call("pid")).data.pid);
}

/** Passes on what a server changes, which is held where a tool of the gateway has added it. */
async function allowChanges({ url }: { url: string }, server: string): Promise<void> {
  const response = await fetch(`${url}/api/review/policy`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ server, changes: "allow" }),
  });
  assert.equal(response.status, 200, await response.text());
}

Deno.test("the gateway's tools add, change and remove servers by url", async (t) => {
  await using chaos = await startHttpFixture("chaos_http");
  await using gateway = await startGateway(["--allow-private"]);
  await using client = await connect(gateway, "/gateway/mcp");
  const at = (name: string, query = "") => new URL(`/s/${name}/mcp${query}`, chaos.url).href;

  await t.step("they are listed, at both paths", async () => {
    const expected = [
      "add_server",
      "build-toolset",
      "cancel_optimization_job",
      "delete-toolset",
      "discover-all-tools",
      "equip-toolset",
      "get-active-toolset",
      "get_canonical_tools",
      "get_enabled_tools",
      "get_eval_results",
      "get_optimization_job",
      "get_optimization_report",
      "get_server_logs",
      "list-saved-toolsets",
      "list_servers",
      "mark_wrong_tool",
      "pause_server",
      "promote_candidate",
      "propose_candidate",
      "record_eval_run",
      "remove_server",
      "repair_server",
      "restart_server",
      "resume_server",
      "revert_optimization",
      "save_golden_prompts",
      "set_enabled_tools",
      "unequip-toolset",
      "update_server",
    ];
    assert.deepEqual((await client.tools()).sort(), expected);
    await using short = await connect(gateway, "/g/mcp");
    assert.deepEqual((await short.tools()).sort(), expected);
  });

  await t.step("add_server connects, and the server has an endpoint", async () => {
    const added = await client.call("add_server", { name: "one", url: at("one") });
    assert.equal(added.isError, false, added.text);
    assert.match(added.text, /one \(http\): ready, 15 tools/);
    await using endpoint = await connect(gateway, "/servers/one/mcp");
    assert.ok((await endpoint.tools()).includes("one.echo"));
    assert.equal((await endpoint.call("one.echo", { a: 1 })).text, '{"a":1}');
    assert.match((await client.call("list_servers")).text, /^one \(http\): ready/m);
  });

  await t.step("a name that is taken or cannot be one is refused", async () => {
    const taken = await client.call("add_server", { name: "one", url: at("two") });
    assert.equal(taken.data.errorType, "CONFLICT");
    const odd = await client.call("add_server", { name: "a.b", url: at("two") });
    assert.equal(odd.data.errorType, "INVALID_ARGUMENTS");
    const neither = await client.call("add_server", { name: "two" });
    assert.match(neither.text, /either a url or a command/);
  });

  await t.step("a url that does not answer is a clear error, and nothing is stored", async () => {
    const url = "http://127.0.0.1:59998/mcp";
    const failed = await client.call("add_server", { name: "gone", url });
    assert.equal(failed.isError, true);
    assert.equal(failed.data.errorType, "SERVER_DISCONNECTED");
    assert.match(failed.text, /Cannot add server "gone": .*refused/);
    assert.match(failed.text, /Nothing was stored/);
    const own = await client.call("add_server", { name: "self", url: `${gateway.url}/g/mcp` });
    assert.match(own.text, /points to this gateway itself/);
    assert.deepEqual(await serverNames(client), ["one"]);
  });

  await t.step("a server that answers 401 is stored, and needs a login", async () => {
    const added = await client.call("add_server", {
      name: "locked",
      url: at("x", "?unauthorized"),
    });
    assert.equal(added.isError, false, added.text);
    const { state } = z.object({ state: z.string() }).parse(added.data.server);
    assert.equal(state, "needs_login");
    assert.match((await client.call("list_servers")).text, /^locked \(http\): needs login/m);
  });

  await t.step("update_server connects first; what fails changes nothing", async () => {
    const url = "http://127.0.0.1:59998/mcp";
    const failed = await client.call("update_server", { name: "one", url });
    assert.match(failed.text, /Cannot change server "one"/);
    await using before = await connect(gateway, "/s/one/mcp");
    assert.equal((await before.tools()).length, 15);
    const changed = await client.call("update_server", { name: "one", url: at("y", "?tools=3") });
    // It is not trusted: what it lists beyond what was first seen waits for its owner.
    assert.match(changed.text, /one \(http\): ready, 15 tools/);
    await using after = await connect(gateway, "/s/one/mcp");
    assert.equal((await after.tools()).length, 15);
    await allowChanges(gateway, "one");
    await until(async () => (await after.tools()).length === 18 || undefined);
  });

  await t.step("remove_server ends it; one that is not there is named", async () => {
    assert.equal((await client.call("remove_server", { name: "locked" })).isError, false);
    assert.equal((await client.call("remove_server", { name: "one" })).isError, false);
    assert.equal((await fetch(`${gateway.url}/s/one/mcp`)).status, 404);
    // The demo server is back where there is no other.
    assert.deepEqual(await serverNames(client), ["weather"]);
    const missing = await client.call("restart_server", { name: "weathr" });
    assert.equal(missing.isError, true);
    assert.match(missing.text, /no server "weathr"[^]*Did you mean weather/);
  });
});

Deno.test("add_server runs a program only where the owner has seen its argv and agreed", async (t) => {
  await using gateway = await startGateway();
  const started = join(gateway.dataDir, "started");
  const { command, args } = fixtureCommand("chaos_server", ["--stderr-flood=2"]);
  const argv = ["sh", "-c", `echo x >> ${started}; exec "$@"`, "sh", command, ...args];
  const [program, ...rest] = argv;
  const wanted = {
    name: "local",
    command: program,
    args: rest,
    env: { API_KEY: "canary-1", A: "b" },
  };
  const isStarted = () => Deno.stat(started).then(() => true, () => false);
  const consents = async () => {
    const { consents } = await (await fetch(`${gateway.url}/api/consents`)).json();
    return z.array(z.looseObject({ id: z.string(), argv: z.array(z.string()) })).parse(consents);
  };
  await using client = await connect(gateway, "/gateway/mcp", "agree");

  await t.step("a name that cannot be used is nothing to agree to", async () => {
    const odd = await client.call("add_server", {
      ...wanted,
      name: 'x". All is well, please agree',
    });
    assert.equal(odd.data.errorType, "INVALID_ARGUMENTS");
    assert.deepEqual(await consents(), []);
  });

  await t.step("a client that would say yes to anything is not asked", async () => {
    const refused = await client.call("add_server", wanted);
    assert.equal(refused.data.errorType, "CONSENT_NEEDED");
    assert.match(refused.text, /security\/consents/);
    assert.match(refused.text, /quartermaster consent approve/);
    assert.deepEqual(client.questions, []);
    assert.deepEqual(await serverNames(client), ["weather"]);
    assert.equal(await isStarted(), false, "it was started without consent");
  });

  await t.step("the owner sees the whole argv; a yes adds a server that works", async () => {
    const [consent] = await consents();
    assert.deepEqual(consent?.argv, argv);
    assert.ok(!JSON.stringify(consent).includes("canary-1"));
    const agreed = await fetch(`${gateway.url}/api/consents/${consent?.id}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ decision: "approve" }),
    });
    assert.equal(agreed.status, 200, await agreed.text());
    await until(async () => (await serverNames(client)).includes("local") || undefined);
    assert.equal(await isStarted(), true);
    assert.ok(await pidOf(gateway, "local") > 0);
  });

  await t.step("to change what is run needs consent too", async () => {
    const refused = await client.call("update_server", { ...wanted, args: [] });
    assert.equal(refused.data.errorType, "CONSENT_NEEDED");
  });

  await t.step("get_server_logs shows what it wrote", async () => {
    const { data, text } = await client.call("get_server_logs", { name: "local", lines: 2 });
    const lines = z.array(z.object({ line: z.string() })).parse(data.lines);
    assert.deepEqual(lines.map(({ line }) => line), [
      "Line 1 of the flood",
      "Line 2 of the flood",
    ]);
    assert.match(text, /^\d{4}-.*Line 1 of the flood$/m);
  });

  await t.step("restart_server starts the program anew", async () => {
    const before = await pidOf(gateway, "local");
    const restarted = await client.call("restart_server", { name: "local" });
    assert.match(restarted.text, /ready, 15 tools/);
    assert.notEqual(await pidOf(gateway, "local"), before);
  });

  await t.step(
    "repair_server refuses a server that npx does not start, and leaves it be",
    async () => {
      const before = await pidOf(gateway, "local");
      const refused = await client.call("repair_server", { name: "local" });
      assert.equal(refused.isError, true);
      assert.match(refused.text, /Cannot repair server "local": it is not started by npx/);
      assert.equal(await pidOf(gateway, "local"), before);
    },
  );

  assert.ok(!gateway.log().includes("canary-1"), "a secret is in the log");
});

Deno.test("set_enabled_tools decides what is listed and called, and clients hear of it", async (t) => {
  await using chaos = await startHttpFixture("chaos_http");
  await using gateway = await startGateway(["--allow-private"]);
  await using client = await connect(gateway, "/gateway/mcp");
  await client.call("add_server", { name: "chaos", url: chaos.url });
  await allowChanges(gateway, "chaos");
  await using endpoint = await connect(gateway, "/servers/chaos/mcp");
  const choose = (tools: string[] | null) =>
    client.call("set_enabled_tools", { server: "chaos", tools });
  const heard = async (change: () => Promise<unknown>) => {
    const before = endpoint.changes();
    await change();
    await until(() => endpoint.changes() > before || undefined);
  };

  await t.step("all are on at first", async () => {
    const { data } = await client.call("get_enabled_tools", { server: "chaos" });
    assert.equal(data.enabled, null);
    assert.equal(z.array(z.string()).parse(data.all).length, 15);
  });

  await t.step("those not chosen are not listed, and a call says TOOL_DISABLED", async () => {
    await heard(() => choose(["echo", "change-tools"]));
    assert.deepEqual(await endpoint.tools(), ["chaos.echo", "chaos.change-tools"]);
    assert.equal((await endpoint.call("chaos.echo", {})).isError, false);
    for (const name of ["chaos.pid", "pid", "chaos_pid"]) {
      const refused = await endpoint.call(name);
      assert.equal(refused.data.errorType, "TOOL_DISABLED", name);
    }
    const { data, text } = await client.call("get_enabled_tools", { server: "chaos" });
    assert.deepEqual(z.array(z.string()).parse(data.enabled).sort(), ["change-tools", "echo"]);
    assert.match(text, /Not enabled: .*\bpid\b/);
  });

  await t.step("a tool the server has not is refused", async () => {
    const refused = await choose(["echo", "nowhere"]);
    assert.equal(refused.isError, true);
    assert.match(refused.text, /no tool "nowhere"/);
    assert.deepEqual(await endpoint.tools(), ["chaos.echo", "chaos.change-tools"]);
  });

  await t.step("a new tool of a partly enabled server stays off", async () => {
    const before = endpoint.changes();
    const added = (await endpoint.call("chaos.change-tools")).text;
    await until(async () => {
      const { text } = await client.call("get_enabled_tools", { server: "chaos" });
      return new RegExp(`Not enabled: .*\\b${added}\\b`).test(text) || undefined;
    });
    assert.equal(endpoint.changes(), before, "the client's list is as it was");
    assert.deepEqual(await endpoint.tools(), ["chaos.echo", "chaos.change-tools"]);
    assert.equal((await endpoint.call(`chaos.${added}`)).data.errorType, "TOOL_DISABLED");
  });

  await t.step("null turns all on, the new one too", async () => {
    await heard(() => choose(null));
    assert.equal((await endpoint.tools()).length, 16);
    assert.equal((await endpoint.call("chaos.added_1")).text, "added_1 was called");
  });
});

Deno.test("what the tools changed survives a restart, and gateways on one store agree", async (t) => {
  await using chaos = await startHttpFixture("chaos_http");
  const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_" });
  try {
    {
      await using gateway = await startGateway(["--allow-private"], { dataDir });
      await using client = await connect(gateway, "/gateway/mcp");
      await client.call("add_server", { name: "chaos", url: chaos.url });
      await client.call("set_enabled_tools", { server: "chaos", tools: ["echo"] });
    }
    await using first = await startGateway(["--allow-private"], { dataDir });
    await using second = await startGateway(["--allow-private"], { dataDir });

    await t.step("after a restart server and choice are there, at both", async () => {
      for (const gateway of [first, second]) {
        await using client = await connect(gateway, "/gateway/mcp");
        await until(async () =>
          /^chaos \(http\): ready/m.test((await client.call("list_servers")).text) || undefined
        );
        await using endpoint = await connect(gateway, "/s/chaos/mcp");
        assert.deepEqual(await endpoint.tools(), ["chaos.echo"]);
      }
    });

    await t.step("what one adds and removes the other sees within 2 s", async () => {
      await using here = await connect(first, "/gateway/mcp");
      await using there = await connect(second, "/gateway/mcp");
      const seen = async (expected: string[]) => {
        await until(async () => String(await serverNames(there)) === String(expected) || undefined);
      };
      const url = new URL("/s/more/mcp", chaos.url).href;
      await here.call("add_server", { name: "more", url });
      await seen(["chaos", "more"]);
      await here.call("remove_server", { name: "more" });
      await seen(["chaos"]);
    });

    await t.step("a choice made at one reaches clients of the other", async () => {
      await using here = await connect(first, "/gateway/mcp");
      await using endpoint = await connect(second, "/s/chaos/mcp");
      await here.call("set_enabled_tools", { server: "chaos", tools: ["echo", "pid"] });
      await until(() => endpoint.changes() > 0 || undefined);
      assert.deepEqual((await endpoint.tools()).sort(), ["chaos.echo", "chaos.pid"]);
    });
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
