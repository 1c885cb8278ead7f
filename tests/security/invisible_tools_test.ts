import assert from "node:assert/strict";
import * as z from "zod";
import { VIEW_NAMES } from "../../lib/http/endpoint_path.ts";
import { at, tool } from "../combined_endpoints.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { until } from "../gateway.ts";
import { Guarded, Visitor } from "./guarded.ts";

/** In every name of what the narrow token may not see, and in nothing else. */
const MARK = /topsecret|vault/i;
const CHANGED = "notifications/tools/list_changed";

let notes: ScriptedServer;
let vault: ScriptedServer;
let guarded: Guarded;
/** For the notes alone, without what is marked there. */
let narrow: string;

function withFeatures(server: ScriptedServer, name: string): ScriptedServer {
  server.capabilities = { resources: {}, prompts: {} };
  const uri = `file:///${name}.txt`;
  const text = (params: Record<string, unknown>) => `${name} says ${params.uri ?? params.name}`;
  server.scripts.set("resources/list", () => ({ resources: [{ uri, name }] }));
  server.scripts.set("resources/templates/list", () => ({
    resourceTemplates: [{ uriTemplate: `file:///${name}/{id}`, name }],
  }));
  server.scripts.set("resources/read", (params) => ({
    contents: [{ uri: String(params.uri), text: text(params) }],
  }));
  server.scripts.set("prompts/list", () => ({ prompts: [{ name: `${name}_prompt` }] }));
  server.scripts.set("prompts/get", (params) => ({
    messages: [{ role: "user", content: { type: "text", text: text(params) } }],
  }));
  return server;
}

Deno.test.beforeAll(async () => {
  notes = withFeatures(
    new ScriptedServer([
      tool("read", { description: "Read a note" }),
      tool("write", { description: "Write a note" }),
      tool("topsecret_purge", { description: "Burn the crown jewels" }),
    ]),
    "notes",
  );
  vault = withFeatures(
    new ScriptedServer([
      tool("topsecret_extract", { description: "Extract the crown jewels" }),
      tool("read", { description: "Read the crown jewels, topsecret" }),
      tool("topsecret_off", { description: "Switched off, with crown jewels" }),
    ]),
    "vault",
  );
  guarded = await Guarded.open({ notes: at(notes), vault: at(vault) });
  await setTools("vault", ["topsecret_extract", "read"]);
  for (
    const [name, tools] of Object.entries({
      plain: ["notes.read", "notes.topsecret_purge", "vault.topsecret_extract"],
      topsecret_set: ["vault.topsecret_extract", "notes.read"],
      vault_only: ["vault.topsecret_extract"],
    })
  ) {
    const { status, value } = await guarded.api("POST", "/api/toolsets", { name, tools });
    assert.equal(status, 201, JSON.stringify(value));
  }
  ({ text: narrow } = await guarded.token({
    rights: ["read", "call", "manage", "optimize"],
    servers: ["notes"],
    tools: ["!*topsecret*"],
    toolsets: ["plain"],
  }));
});

Deno.test.afterAll(async () => {
  await guarded?.[Symbol.asyncDispose]();
  for (const server of [notes, vault]) await server?.[Symbol.asyncDispose]();
});

function visit(path: string, token = narrow): Promise<Visitor> {
  return Visitor.open(guarded.url, path, token);
}

async function setTools(server: string, enabled: string[] | null): Promise<void> {
  const { status, value } = await guarded.api("PUT", `/api/servers/${server}/tools`, { enabled });
  assert.equal(status, 200, JSON.stringify(value));
}

const endpoints = [
  ...VIEW_NAMES.flatMap((view) => [`/mcp?expose=${view}`, `/mcp?expose=${view}&names=flat`]),
  "/servers/notes/mcp",
  "/servers/notes/mcp?names=flat",
  "/servers/notes/mcp?names=original",
  "/s/notes/mcp",
  "/toolsets/plain/mcp",
  "/gateway/mcp",
];

/** An answer in which the name that was asked for does not tell which one it was. */
function without(name: string, text: string): string {
  return text.replaceAll(name, "NAME").replaceAll(/"id":\d+/g, '"id":0');
}

Deno.test("what a token may not see is in no list, at any endpoint", async () => {
  for (const endpoint of endpoints) {
    const visitor = await visit(endpoint);
    for (const list of ["tools", "resources", "resources/templates", "prompts"]) {
      const { text } = await visitor.request(`${list}/list`);
      assert.doesNotMatch(text, MARK, `${endpoint} ${list}`);
    }
  }
  assert.deepEqual(await (await visit("/mcp?expose=all")).tools(), ["notes_read", "notes_write"]);
  assert.deepEqual(await (await visit("/toolsets/plain/mcp")).tools(), ["notes_read"]);
  assert.deepEqual(
    await (await visit("/servers/notes/mcp")).tools(),
    ["notes.read", "notes.write"],
  );
  const whole = await visit("/mcp?expose=all", guarded.owner);
  assert.match((await whole.request("tools/list")).text, MARK, "the test's own eyes");
  assert.match((await whole.request("resources/list")).text, MARK);
});

Deno.test("an endpoint to what a token may not see is as closed as one to nothing", async () => {
  for (const path of ["/servers/NAME/mcp", "/s/NAME/mcp", "/toolsets/NAME/mcp"]) {
    const [hidden, missing] = await Promise.all(
      [path.includes("toolsets") ? "topsecret_set" : "vault", "nonesuch"].map(async (name) => {
        const error = await visit(path.replace("NAME", name)).then(
          () => new Error("it is open"),
          (error: Error) => error,
        );
        return without(name, error.message);
      }),
    );
    assert.equal(hidden, missing);
    assert.match(hidden!, /There is no/);
  }
});

Deno.test("search, counts and descriptions know nothing of what a token may not see", async () => {
  const visitor = await visit("/mcp");
  const jewels = "the crown jewels";
  const asked: [string, object][] = [
    ["tool_discovery", { query: jewels, detailLevel: "full" }],
    ["tool_discovery", { query: ["read", "extract"], maxResults: 20 }],
    ["optim.find_tool", { tool_description: jewels }],
    ["list_available_tools", { include_disabled: true }],
    ["discover-all-tools", {}],
    ["discover-all-tools", { filter: jewels }],
    ["tool_capabilities", {}],
    ["tool_capabilities", { server: "notes" }],
    ["get_tool_description", { tool_name: "notes_read" }],
    ["list-saved-toolsets", {}],
    ["equip-toolset", { name: "plain" }],
    ["get-active-toolset", {}],
    ["delete-toolset", { name: "plain" }],
  ];
  for (const [name, args] of asked) {
    const text = await visitor.call(name, args);
    assert.doesNotMatch(text, MARK, name);
    assert.doesNotMatch(text, /Invalid arguments|INVALID_PARAMS|Unrecognized/, text);
  }
  const { result } = await visitor.request("tools/call", { name: "tool_capabilities" });
  const said = z.looseObject({ structuredContent: z.looseObject({}) }).parse(result);
  const counted = JSON.stringify(said.structuredContent);
  assert.match(counted, /"totalTools":2\b/, counted);
  assert.doesNotMatch(await visitor.call("delete-toolset", { name: "plain" }), /3 tools/);
  for (const name of ["topsecret_set", "nonesuch_set"]) {
    const written = { name, tools: ["notes.read"], replace: true };
    assert.match(await visitor.call("build-toolset", written), /NOT_FOUND/, name);
  }
  assert.match(await visitor.call("list-saved-toolsets"), /plain \(equipped\): 1 tool\b/);
});

Deno.test("an error says the same of a hidden tool as of one that does not exist", async () => {
  const pairs: [string, string, (name: string) => [string, object]][] = [
    ["vault_topsecret_extract", "nonesuch_thing", (name) => [name, {}]],
    ["vault.topsecret_extract", "nonesuch.thing", (name) => [name, {}]],
    ["vault:topsecret_off", "nonesuch:thing", (name) => [name, {}]],
    ["notes_topsecret_purge", "nonesuch_thing", (name) => [name, {}]],
    ["vault_topsecret_extract", "nonesuch_thing", (name) => ["tool_execute", {
      toolKey: name,
      arguments: {},
    }]],
    ["topsecret_extract", "nonesuchthing", (name) => ["optim.call_tool", {
      backend_id: "vault",
      tool_name: name,
      parameters: {},
    }]],
    ["vault", "nonesuch", (name) => ["optim.call_tool", {
      backend_id: name,
      tool_name: "read",
      parameters: {},
    }]],
    ["vault", "nonesuch", (name) => ["tool_capabilities", { server: name }]],
    ["vault_read", "nonesuch_read", (name) => ["get_tool_description", { tool_name: name }]],
    ["topsecret_set", "nonesuch_set", (name) => ["equip-toolset", { name }]],
    ["topsecret_set", "nonesuch_set", (name) => ["delete-toolset", { name, confirm: true }]],
  ];
  const visitor = await visit("/mcp");
  const suggestions = /"(hint|suggestedTools)":("[^"]*"|\[[^\]]*\]),?/g;
  for (const [hidden, missing, ask] of pairs) {
    const answers = await Promise.all(
      [hidden, missing].map(async (name) => {
        const text = without(name, await visitor.call(...ask(name)));
        assert.doesNotMatch(text.replaceAll("vault", ""), MARK, name);
        // What is near to a name depends on the name.
        return text.replaceAll(suggestions, "").replaceAll(/Did you mean [^?]*\?/g, "");
      }),
    );
    assert.equal(answers[0], answers[1], hidden);
  }
  // Close to a hidden name, and far from every other.
  for (const near of ["vaul_topsecre_extract", "notes_topsecre_purge", "topsecre_extract"]) {
    assert.doesNotMatch(await visitor.call(near), MARK, near);
    const executed = await visitor.call("tool_execute", { toolKey: near, arguments: {} });
    assert.doesNotMatch(executed, MARK, near);
  }
  // A key is of no use to anybody but whom it was given to.
  const owner = await visit("/mcp", guarded.owner);
  const found = await owner.call("tool_discovery", { query: "extract the crown jewels" });
  const [, toolKey] = /toolKey\\?":\s*\\?"([^"\\]+)/.exec(found) ?? [];
  assert.ok(toolKey, found);
  const stolen = await visitor.call("tool_execute", { toolKey, arguments: {} });
  assert.match(stolen, /TOOLKEY_INVALID/);
  assert.doesNotMatch(stolen, MARK);
  // Only one server that exists for the caller has a tool of this name.
  assert.match(await visitor.call("read"), /called read/);
  assert.equal(vault.calls.length, 0, "a call went through");
});

Deno.test("a toolset none of whose tools a token may see does not exist for it", async () => {
  // For all toolsets, as tokens are made unless somebody says otherwise.
  const { text: token } = await guarded.token({
    rights: ["read", "call", "manage"],
    servers: ["notes"],
  });
  const visitor = await visit("/mcp", token);
  const listed = await visitor.call("list-saved-toolsets");
  assert.match(listed, /plain: 2 tools/);
  assert.doesNotMatch(listed, /vault_only/);
  const [hidden, missing] = await Promise.all(["vault_only", "none_such"].map(async (name) => {
    const answers = [
      await visit(`/toolsets/${name}/mcp`, token).then(() => "it is open", String),
      await visitor.call("equip-toolset", { name }),
      await visitor.call("delete-toolset", { name, confirm: true }),
    ];
    return without(name, answers.join("\n"));
  }));
  assert.equal(hidden, missing);
  for (
    const [tool, more] of [["equip-toolset", {}], ["delete-toolset", { confirm: true }]] as const
  ) {
    const near = await visitor.call(tool, { name: "vault_onl", ...more });
    assert.match(near, /There is no toolset/);
    assert.doesNotMatch(near, /vault_only/, "a hint names it");
  }
});

Deno.test("resources and prompts of a hidden server cannot be read", async () => {
  for (const endpoint of ["/mcp", "/mcp?expose=all", "/servers/notes/mcp"]) {
    const visitor = await visit(endpoint);
    const reads: [string, object][] = [
      ["resources/read", { uri: "file:///vault.txt" }],
      ["resources/read", { uri: "file:///vault/1" }],
      ["prompts/get", { name: "vault_prompt" }],
      ["prompts/get", { name: "vault_vault_prompt" }],
      ["prompts/get", { name: "vault.vault_prompt" }],
      ["completion/complete", {
        ref: { type: "ref/prompt", name: "vault_prompt" },
        argument: { name: "a", value: "" },
      }],
    ];
    for (const [method, params] of reads) {
      const { text } = await visitor.request(method, params);
      assert.doesNotMatch(text, /vault says/, `${endpoint} ${method}`);
    }
  }
  const owner = await visit("/mcp?expose=all", guarded.owner);
  const { result } = await owner.request("resources/list");
  const { resources } = z.looseObject({ resources: z.array(z.looseObject({ uri: z.string() })) })
    .parse(result);
  const uri = resources.find((resource) => MARK.test(JSON.stringify(resource)))?.uri;
  assert.match((await owner.request("resources/read", { uri })).text, /vault says/);
  const stranger = await visit("/mcp?expose=all");
  assert.doesNotMatch((await stranger.request("resources/read", { uri })).text, /vault says/);
});

Deno.test("a change of what a token may not see is no news for it", async () => {
  for (const path of ["/mcp?expose=all", "/servers/notes/mcp"]) {
    const [seeing, blind] = await Promise.all([visit(path, guarded.owner), visit(path)]);
    await using told = await seeing.listen();
    await using spared = await blind.listen();
    for (const visitor of [seeing, blind]) await visitor.tools();
    const count = (text: string) => text.split(CHANGED).length - 1;
    await setTools("notes", ["read", "write"]);
    await until(() => count(told.text) > 0 || undefined);
    await setTools("vault", []);
    // Then one that both see; it cannot come before what the other was told.
    await setTools("notes", ["read"]);
    await until(() => count(spared.text) > 0 || undefined);
    assert.equal(count(spared.text), 1, path);
    assert.doesNotMatch(spared.text, MARK);
    await setTools("vault", ["topsecret_extract", "read"]);
    await setTools("notes", null);
  }
});
