import assert from "node:assert/strict";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
// @ts-types="@modelcontextprotocol/sdk/types"
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import { at, connect, type EndpointClient, Endpoints, must, tool } from "./combined_endpoints.ts";
import { connectChaos, exerciseCallingOff } from "./fixtures/exercise_chaos.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";
import { startHttpFixture } from "./fixtures/start_fixture.ts";
import { until } from "./gateway.ts";
import { StatelessClient } from "./stateless_client.ts";

const SHARED = "note://same/readme?lang=en";
const TEMPLATE = "note://same/{id}";

/** A server whose answers say whose they are. */
function library(name: string): ScriptedServer {
  const server = new ScriptedServer([tool("find")]);
  server.capabilities = { resources: {}, prompts: {}, completions: {} };
  const own = `${name}://own`;
  const resources = [{ uri: SHARED, name: "shared" }, { uri: own, name: "own" }];
  const says = (text: unknown) => `${name} has ${text}`;
  server.results.set(
    "find",
    JSON.stringify({
      content: [{ type: "resource_link", uri: own, name: "own" }, {
        type: "resource_link",
        uri: `${name}://found`,
        name: "found",
      }],
    }),
  );
  server.scripts.set("resources/list", ({ cursor }) => ({
    resources: cursor === undefined ? resources.slice(0, 1) : resources.slice(1),
    ...(cursor === undefined ? { nextCursor: "2" } : {}),
  }));
  server.scripts.set("resources/templates/list", () => ({
    resourceTemplates: [
      { uriTemplate: TEMPLATE, name: "note" },
      { uriTemplate: `${name}://{id}`, name: "own" },
    ],
  }));
  server.scripts.set("resources/read", ({ uri }) => ({
    contents: [{ uri, text: says(uri) }],
  }));
  server.scripts.set("prompts/list", () => ({
    prompts: [{ name: "greet", title: `Greet from ${name}`, arguments: [{ name: "who" }] }],
  }));
  server.scripts.set("prompts/get", ({ name: prompt, arguments: args }) => ({
    messages: [{
      role: "user",
      content: { type: "text", text: says(`${prompt} ${JSON.stringify(args)}`) },
    }],
  }));
  server.scripts.set("completion/complete", ({ ref, argument }) => ({
    completion: { values: [says(JSON.stringify([ref, argument]))] },
  }));
  return server;
}

async function read({ client }: EndpointClient, uri: string): Promise<string> {
  const { contents } = await client.readResource({ uri });
  return z.looseObject({ text: z.string() }).parse(contents[0]).text;
}

Deno.test("/mcp: resources, templates, prompts and completions of servers that have the same ones", async (t) => {
  await using one = library("one");
  await using two = library("two");
  await using hidden = library("hidden");
  await using endpoints = await Endpoints.open({ one: at(one), two: at(two), hidden: at(hidden) });
  await endpoints.build("both", ["one.find", "two.find"]);
  await endpoints.build("other", ["hidden.find"]);
  await using client = await connect(endpoints.url, "/mcp");

  await t.step("nothing is there before a toolset is equipped", async () => {
    assert.deepEqual((await client.client.listResources()).resources, []);
    assert.deepEqual((await client.client.listPrompts()).prompts, []);
  });

  await t.step("equipping tells that there are others", async () => {
    await must(client, "equip-toolset", { name: "both" });
    await until(() =>
      client.told.resources.length > 0 && client.told.prompts.length > 0 || undefined
    );
  });

  await t.step("resources: each once, under a URI that leads to it", async () => {
    const { resources } = await client.client.listResources();
    const uris = resources.map(({ uri }) => uri);
    assert.equal(new Set(uris).size, 4);
    assert.ok(uris.every((uri) => URL.canParse(uri)), uris.join(" "));
    assert.ok(["one://own", "two://own", SHARED].every((uri) => uris.includes(uri)));
    const texts = await Promise.all(uris.map((uri) => read(client, uri)));
    assert.deepEqual(texts.sort(), [
      `one has ${SHARED}`,
      "one has one://own",
      `two has ${SHARED}`,
      "two has two://own",
    ]);
    const second = uris.find((uri) => uri.endsWith(SHARED) && uri !== SHARED)!;
    await using fresh = await connect(endpoints.url, "/mcp");
    assert.equal(await read(fresh, second), `two has ${SHARED}`, "without a list before");
  });

  await t.step("templates: each expands to what its server reads", async () => {
    const { resourceTemplates } = await client.client.listResourceTemplates();
    const same = resourceTemplates.map(({ uriTemplate }) => uriTemplate)
      .filter((uri) => uri.endsWith(TEMPLATE));
    assert.equal(same.length, 2);
    const texts = await Promise.all(same.map((uri) => read(client, uri.replace("{id}", "5"))));
    assert.deepEqual(texts.sort(), ["one has note://same/5", "two has note://same/5"]);
  });

  await t.step("links in results can be read", async () => {
    for (const name of ["one", "two"]) {
      const { content } = CallToolResultSchema.parse(
        await client.client.callTool({ name: `${name}_find` }),
      );
      for (const item of content) {
        assert.ok(item.type === "resource_link");
        assert.equal(await read(client, item.uri), `${name} has ${item.uri}`);
      }
    }
  });

  await t.step("prompts: under flat names", async () => {
    const { prompts } = await client.client.listPrompts();
    assert.deepEqual(prompts.map(({ name, title }) => `${name}: ${title}`), [
      "one_greet: Greet from one",
      "two_greet: Greet from two",
    ]);
    await using fresh = await connect(endpoints.url, "/mcp");
    for (const from of [client, fresh]) {
      for (const name of ["two_greet", "two.greet"]) {
        const { messages } = await from.client.getPrompt({ name, arguments: { who: "Ada" } });
        assert.deepEqual(messages[0]?.content, {
          type: "text",
          text: 'two has greet {"who":"Ada"}',
        });
      }
    }
    await assert.rejects(client.client.getPrompt({ name: "greet" }), /There is no prompt "greet"/);
    await assert.rejects(client.client.getPrompt({ name: "away_greet" }), /There is no prompt/);
  });

  await t.step("completions: of prompts and of templates", async () => {
    const argument = { name: "who", value: "A" };
    const complete = async (ref: Parameters<typeof client.client.complete>[0]["ref"]) =>
      (await client.client.complete({ ref, argument })).completion.values[0];
    assert.equal(
      await complete({ type: "ref/prompt", name: "two_greet" }),
      'two has [{"type":"ref/prompt","name":"greet"},{"name":"who","value":"A"}]',
    );
    const { resourceTemplates } = await client.client.listResourceTemplates();
    const second = resourceTemplates.map(({ uriTemplate }) => uriTemplate)
      .find((uri) => uri.endsWith(TEMPLATE) && uri !== TEMPLATE)!;
    const shown = JSON.stringify([{ type: "ref/resource", uri: TEMPLATE }, argument]);
    assert.equal(await complete({ type: "ref/resource", uri: TEMPLATE }), `one has ${shown}`);
    assert.equal(await complete({ type: "ref/resource", uri: second }), `two has ${shown}`);
  });

  await t.step("what is not equipped is not listed, and can be read", async () => {
    const listed = async () =>
      (await client.client.listResources()).resources.map(({ uri }) => uri);
    await assert.rejects(read(client, "nowhere://own"), /There is no resource|-32002/);
    const readHidden = async () => {
      assert.equal(await read(client, "hidden://own"), "hidden has hidden://own");
      const { messages } = await client.client.getPrompt({ name: "hidden_greet" });
      assert.match(JSON.stringify(messages), /hidden has greet/);
    };
    await readHidden();
    assert.ok(!(await listed()).includes("hidden://own"));
    await must(client, "equip-toolset", { name: "other" });
    await readHidden();
    assert.ok((await listed()).includes("hidden://own"));
    assert.ok(!(await listed()).includes("one://own"));
    await using toolset = await connect(endpoints.url, "/toolsets/other/mcp");
    await assert.rejects(read(toolset, "one://own"), /There is no resource/);
  });
});

Deno.test("/mcp: what two servers say and ask reaches the client it is for, as it is for it", async (t) => {
  await using http = await startHttpFixture("chaos_http", ["--stats"]);
  await using endpoints = await Endpoints.open({
    one: at(http, "/s/one/mcp"),
    two: at(http, "/s/two/mcp"),
  });
  await endpoints.build("both", ["one.*", "two.*"]);
  const open = (marker: string) => {
    const transport = new StreamableHTTPClientTransport(new URL("/mcp", endpoints.url));
    return connectChaos(transport as never, marker);
  };
  await using ada = await open("Ada");
  await using bob = await open("Bob");
  await ada.call("equip-toolset", { name: "both" });
  const uris = (await ada.client.listResources()).resources.map(({ uri }) => uri);
  const [first = "", second = ""] = uris;
  const hears = ({ heard }: typeof ada, line: string) =>
    until(() => heard.includes(line) || undefined);

  await t.step("questions: both servers number them alike, and both clients answer", async () => {
    const answers = await Promise.all(
      [ada, bob].flatMap((client) =>
        ["one_ask", "two_ask"].flatMap((name) =>
          ["sampling", "elicitation", "roots"].map((kind) => client.call(name, { kind }))
        )
      ),
    );
    for (const answer of answers.slice(0, 6)) assert.match(answer, /Ada/);
    for (const answer of answers.slice(6)) assert.match(answer, /Bob/);
  });

  await t.step("a question that its server calls off is called off, not the other's", async () => {
    await using eve = await open("Eve");
    await exerciseCallingOff(eve, { first: "one_ask", second: "two_ask" });
  });

  await t.step("updates come under the URI that was subscribed to", async () => {
    assert.deepEqual(uris.length, 2);
    await ada.client.subscribeResource({ uri: second });
    assert.equal(await bob.call("one_touch_resource"), "Told 0 clients");
    assert.equal(await bob.call("two_touch_resource"), "Told 1 clients");
    await hears(ada, `updated ${second}`);
    ada.heard.length = 0;
    assert.equal(await ada.call("two_touch_resource"), "Told 1 clients", "while a call is served");
    await hears(ada, `updated ${second}`);
    assert.ok(!ada.heard.includes(`updated ${first}`));
    await ada.client.subscribeResource({ uri: first });
    await bob.call("one_touch_resource");
    await hears(ada, `updated ${first}`);
    assert.deepEqual(bob.heard.filter((line) => line.startsWith("updated")), []);
    const { contents } = await ada.client.readResource({ uri: second });
    assert.match(JSON.stringify(contents), /Touched 2 times/);
  });

  await t.step("also where a template made it, and no longer after unsubscribing", async () => {
    const { resourceTemplates } = await ada.client.listResourceTemplates();
    const [, template] = resourceTemplates.map(({ uriTemplate }) => uriTemplate);
    const uri = template!.replace("{id}", "7");
    await ada.client.subscribeResource({ uri });
    assert.equal(await bob.call("two_touch_resource", { uri: "chaos://item/7" }), "Told 1 clients");
    await hears(ada, `updated ${uri}`);
    for (const subscribed of [uri, second, first]) {
      await ada.client.unsubscribeResource({ uri: subscribed });
    }
    assert.equal(await bob.call("two_touch_resource", { uri: "chaos://item/7" }), "Told 0 clients");
    assert.equal(await bob.call("two_touch_resource"), "Told 0 clients");
    assert.equal(await bob.call("one_touch_resource"), "Told 0 clients");
  });

  await t.step("progress comes in order, before the result", async () => {
    const run = async (client: typeof ada, name: string) => {
      const _meta = { progressToken: 1 };
      const result = await client.client.callTool({ name, arguments: { steps: 4, ms: 5 }, _meta });
      assert.match(JSON.stringify(result), /Made 4 steps/);
    };
    await Promise.all([run(ada, "one_progress"), run(bob, "two_progress")]);
    for (const client of [ada, bob]) {
      const steps = client.heard.filter((line) => line.startsWith("1 "));
      assert.deepEqual(steps, ["1 1/4", "1 2/4", "1 3/4", "1 4/4"]);
    }
  });

  await t.step("a log level holds for every server, and for its client alone", async () => {
    await ada.client.setLoggingLevel("error");
    for (const name of ["one_log", "two_log"]) {
      for (const client of [ada, bob]) {
        await client.call(name, { level: "info", message: `${name} low` });
        await client.call(name, { level: "error", message: `${name} high` });
      }
    }
    const levels = ({ heard }: typeof ada) => heard.filter((line) => /^(info|error): /.test(line));
    await until(() => levels(bob).length === 4 || undefined);
    assert.deepEqual(levels(ada), ["error: one_log high", "error: two_log high"]);
  });

  await t.step("a cancelled call is cancelled at its server, the others go on", async () => {
    const countsOf = async (name: string): Promise<{ calls: number; cancels: number }> => {
      const { servers } = await (await fetch(new URL("/stats", http.url))).json();
      return servers[name];
    };
    const { calls } = await countsOf("one");
    const stop = new AbortController();
    const hanging = ada.client.callTool(
      { name: "one_hang", arguments: {} },
      CallToolResultSchema,
      { signal: stop.signal },
    );
    const slow = bob.call("one_sleep", { ms: 300 });
    const other = ada.call("two_sleep", { ms: 300 });
    await until(async () => (await countsOf("one")).calls === calls + 2 || undefined);
    stop.abort();
    await assert.rejects(hanging);
    await until(async () => (await countsOf("one")).cancels === 1 || undefined);
    assert.equal((await countsOf("two")).cancels, 0);
    assert.deepEqual(await Promise.all([slow, other]), ["Slept 300 ms", "Slept 300 ms"]);
  });

  await t.step(
    "a server's new tool is there for the next toolset, and callable at once",
    async () => {
      const added = await ada.call("two_change_tools");
      await until(async () => {
        const answer = await bob.call(`two_${added}`).catch(() => undefined);
        return answer === `${added} was called` || undefined;
      });
    },
  );
});

Deno.test("an invalid prompt or resource costs clients nothing but itself", async () => {
  await using good = library("good");
  await using bad = library("bad");
  const broken: Record<string, unknown> = {
    prompts: [{ name: "x", arguments: "oops" }, { name: "y" }],
    resources: [{ uri: "bad://x" }, { uri: "bad://y", name: "y" }],
    resourceTemplates: [{ uriTemplate: "bad://x/{id}", name: 1 }, null],
  };
  bad.scripts.set("prompts/list", () => ({ prompts: broken.prompts }));
  bad.scripts.set("resources/list", () => ({ resources: broken.resources }));
  bad.scripts.set("resources/templates/list", () => ({
    resourceTemplates: broken.resourceTemplates,
  }));
  await using endpoints = await Endpoints.open({ good: at(good), bad: at(bad) });
  const listed = async (path: string) => {
    await using client = await connect(endpoints.url, path);
    await using newer = await StatelessClient.http(new URL(path, endpoints.url));
    const lists = await Promise.all([client.client, newer.client].map(async (sdk) => [
      (await sdk.listPrompts()).prompts.map(({ name }) => name),
      (await sdk.listResources()).resources.map(({ uri }) => uri),
      (await sdk.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    ]));
    assert.deepEqual(lists[0], lists[1]);
    return lists[0];
  };
  assert.deepEqual(await listed("/servers/bad/mcp"), [["y"], ["bad://y"], []]);
  for (let round = 0; round < 2; round++) {
    assert.deepEqual(await listed("/mcp?features=all"), [
      ["bad_y", "good_greet"],
      ["bad://y", SHARED, "good://own"],
      [TEMPLATE, "good://{id}"],
    ]);
  }
  const { value } = await endpoints.api("POST", "/api/server.logs", { name: "bad" });
  const { lines } = z.object({ lines: z.array(z.object({ line: z.string() })) }).parse(value);
  assert.deepEqual(
    lines.map(({ line }) => line).filter((line) => line.includes("left out")).sort(),
    [
      'prompts/list: left out "x", which is invalid: arguments: Invalid input: expected array, received string',
      'resources/list: left out "bad://x", which is invalid: name: Invalid input: expected string, received undefined',
      'resources/templates/list: left out "bad://x/{id}", which is invalid: name: Invalid input: expected string, received number',
    ],
  );
});
