import assert from "node:assert/strict";
import { resultText } from "../core/rpc.ts";
import type { ManagedServer } from "../servers/server.ts";
import { type CallServer, listFromAll } from "./server_lists.ts";

function fakeServer(name: string, capabilities: Record<string, unknown> = { prompts: {} }) {
  return { name, info: { capabilities } } as unknown as ManagedServer;
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
