import assert from "node:assert/strict";
import { buildAddressPolicy } from "./address_policy.ts";
import { RemoteServer, type ServerSource } from "../core/server.ts";
import { GatewayError } from "../core/errors.ts";
import type { PooledServer } from "./server.ts";

const NO_ENV = { get: () => undefined };
const STORE: ServerSource = { kind: "store" };

function server(name: string, source: ServerSource, more: object = {}): PooledServer {
  const spec = RemoteServer.parse({ type: "http", url: "https://mcp.example/", ...more });
  return { name, spec, source };
}

const SERVERS = new Map(
  [
    server("added", STORE),
    server("chosen", STORE, { allowPrivate: true }),
    server("filed", { kind: "file", path: "x" }),
  ].map((one) => [one.name, one]),
);

function reachOf(stack: AsyncDisposableStack, allowPrivate = false) {
  return buildAddressPolicy({
    stack,
    allowPrivate,
    env: NO_ENV,
    find: (name) => SERVERS.get(name),
  });
}

Deno.test("buildAddressPolicy() guards what was added at run time, and costs the others nothing", async () => {
  await using stack = new AsyncDisposableStack();
  const reach = reachOf(stack);
  const fetchFor = (name: string) => reach.fetchFor(SERVERS.get(name)!, "https://mcp.example/");
  assert.notEqual(await fetchFor("added"), undefined);
  assert.equal(await fetchFor("chosen"), undefined);
  assert.equal(await fetchFor("filed"), undefined);
  const open = reachOf(stack, true);
  assert.equal(await open.fetchFor(SERVERS.get("added")!, "http://10.0.0.1/"), undefined);
});

Deno.test("buildAddressPolicy() refuses a login that leads into a private network, for the same servers", async () => {
  await using stack = new AsyncDisposableStack();
  const reach = reachOf(stack);
  for (const name of ["added", "gone"]) {
    const { allowUrl, fetch: guarded } = await reach.reach(name);
    assert.notEqual(guarded, undefined);
    for (const url of ["https://10.0.0.5/token", "http://169.254.169.254/", "https://[::1]/"]) {
      await assert.rejects(
        allowUrl!(new URL(url)),
        (error) => error instanceof GatewayError && error.code === "LOGIN_FAILED",
        url,
      );
    }
    await allowUrl!(new URL("https://1.1.1.1/token"));
  }
  for (const name of ["chosen", "filed"]) assert.deepEqual(await reach.reach(name), {}, name);
});

Deno.test("buildAddressPolicy().refusalOf() speaks of addresses that nobody has chosen", async () => {
  await using stack = new AsyncDisposableStack();
  const reach = reachOf(stack);
  const at = (url: string, more = {}) => server("x", STORE, { url, ...more }).spec;
  assert.match(await reach.refusalOf(at("http://127.0.0.1:1/")) ?? "", /this machine/);
  assert.equal(await reach.refusalOf(at("http://127.0.0.1:1/", { allowPrivate: true })), undefined);
  assert.equal(await reach.refusalOf(at("https://1.1.1.1/")), undefined);
  assert.equal(await reachOf(stack, true).refusalOf(at("http://127.0.0.1:1/")), undefined);
});
