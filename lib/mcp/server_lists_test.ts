import assert from "node:assert/strict";
import { resultText } from "../core/rpc.ts";
import type { ManagedServer } from "../servers/server.ts";
import { type CallServer, listFromAll, listValid, withValidItems } from "./server_lists.ts";

function fakeServer(
  name: string,
  capabilities: Record<string, unknown> = { prompts: {} },
  warned: string[] = [],
) {
  const warnOnce = (part: string, line: string) => warned.push(`${part} ${line}`);
  return { name, info: { capabilities }, warnOnce } as unknown as ManagedServer;
}

const scope = {
  id: 1,
  method: "prompts/list",
  params: {},
  text: "{}",
  signal: new AbortController().signal,
  send: () => {},
};

Deno.test("listFromAll() reads every page, and leaves out who fails, hangs or has none", async () => {
  const servers = ["paged", "failing", "hanging", "refusing"].map((name) => fakeServer(name));
  servers.push(fakeServer("without", {}));
  const asked: string[] = [];
  const call: CallServer = async (server, { id, signal }, params) => {
    asked.push(server.name);
    if (server.name === "failing") throw new Error("gone");
    if (server.name === "refusing") return '{"jsonrpc":"2.0","id":1,"error":{"code":-1}}';
    if (server.name === "hanging") {
      await new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    }
    const page = params === undefined ? 1 : Number(JSON.parse(params).cursor);
    const next = page < 3 ? `,"nextCursor":"${page + 1}"` : "";
    return resultText(id, `{"prompts":[{"name":"p${page}","big":12345678901234567890}]${next}}`);
  };
  const items = await listFromAll(servers, "prompts", scope, call, 50);
  assert.deepEqual(items.map(({ server, value }) => `${server.name} ${value.name}`), [
    "paged p1",
    "paged p2",
    "paged p3",
  ]);
  assert.match(items[0]?.text ?? "", /12345678901234567890/);
  assert.ok(!asked.includes("without"));
});

Deno.test("listFromAll() waits for no server that takes long to be reached", async () => {
  const connection = (signal?: AbortSignal) =>
    new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  const server = { name: "slow", info: undefined, connection } as unknown as ManagedServer;
  const call = () => Promise.resolve(resultText(1, "{}"));
  assert.deepEqual(await listFromAll([server], "prompts", scope, call, 20), []);
});

const EXTENSION = "io.modelcontextprotocol/skills";
const ALL = { prompts: {}, resources: {}, tasks: {}, extensions: { [EXTENSION]: {} } };
const SKILL = { uri: "skill://a/SKILL.md", frontmatter: { name: "a", description: "A" } };
const TASK = { taskId: "a", status: "working", ttl: null, createdAt: "", lastUpdatedAt: "" };

/** Of each list, what is valid and what is not. */
const ENTRIES = {
  "prompts/list": ["prompts", { name: "a", x: 1 }, { name: "b", arguments: "oops" }],
  "resources/list": ["resources", { uri: "a:b", name: "a" }, { uri: "a:c" }],
  "resources/templates/list": [
    "resourceTemplates",
    { uriTemplate: "a:{b}", name: "a", _meta: {} },
    { uriTemplate: "a:{c}", name: "c", _meta: 1 },
  ],
  "tasks/list": ["tasks", TASK, { ...TASK, status: "sleeping" }],
  "skills/list": ["skills", { ...SKILL, resources: [] }, SKILL],
} as const;

Deno.test("an invalid entry of a list costs neither the list nor other servers' entries", async (t) => {
  for (const [method, [list, good, bad]] of Object.entries(ENTRIES)) {
    const text = `{ "id":12345678901234567890,${JSON.stringify(good).slice(1)}`;
    const result = (...entries: string[]) =>
      resultText(1, `{"${list}":[${entries.join()}],"ttlMs":1}`);
    await t.step(`${method}, of several servers`, async () => {
      const warned: string[] = [];
      const servers = ["one", "two"].map((name) => fakeServer(name, ALL, warned));
      const call: CallServer = ({ name }) =>
        Promise.resolve(name === "one" ? result(JSON.stringify(bad), text, "null") : result(text));
      const items = await listValid(servers, list, scope, call);
      assert.deepEqual(items.map(({ server, text }) => [server.name, text]), [
        ["one", text],
        ["two", text],
      ]);
      assert.equal(warned.length, 1);
      assert.match(warned[0]!, new RegExp(`^${method} ${method}: left out "`));
    });
    await t.step(`${method}, of one`, async () => {
      const server = fakeServer("one", ALL);
      const answer = result(text, JSON.stringify(bad), text);
      assert.equal(await withValidItems(server, method, answer), result(text, text));
      const clean = result(text, text);
      assert.equal(await withValidItems(server, method, clean), clean);
    });
  }
});

Deno.test("withValidItems() leaves all other answers as they came", async () => {
  const server = fakeServer("one", ALL);
  for (
    const answer of [
      '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}',
      resultText(1, '{"prompts":"none"}'),
      resultText(1, "[]"),
    ]
  ) {
    assert.equal(await withValidItems(server, "prompts/list", answer), answer);
  }
  const other = resultText(1, '{"prompts":[1]}');
  assert.equal(await withValidItems(server, "tools/call", other), other);
});
