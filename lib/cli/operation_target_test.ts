import assert from "node:assert/strict";
import { hostname } from "node:os";
import { readOwnerTicket } from "../auth/credentials.ts";
import { LeasesRepository } from "../storage/leases_repository.ts";
import { parseLocation } from "../storage/kv_client.ts";
import { signingSecret } from "../storage/secrets_repository.ts";
import { Store } from "../storage/store.ts";
import { findGateways } from "./operation_target.ts";

/** What answers like a gateway with this identity. */
function serveAs(identity: { pid: number; startedAt: number }) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/healthz") return Response.json({ status: "ok" });
    if (pathname !== "/api/status.show") return new Response(null, { status: 404 });
    return Response.json({ version: "1.2.3", address: "http://here", servers: {}, ...identity });
  });
  return {
    address: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const LEASE = { pid: 7, host: "here", startedAt: 1_000 };

Deno.test("findGateways() finds those that hold a lease and answer, the oldest first", async () => {
  await using younger = serveAs({ pid: 8, startedAt: 2_000 });
  await using older = serveAs({ pid: 7, startedAt: 1_000 });
  await using store = await Store.open({ location: ":memory:" });
  const leases = new LeasesRepository(store);
  await leases.acquire({ ...LEASE, id: "a", pid: 8, startedAt: 2_000, address: younger.address });
  await leases.acquire({ ...LEASE, id: "b", address: older.address });
  const found = await findGateways(store);
  assert.deepEqual(found.map(({ status }) => status.pid), [7, 8]);
});

Deno.test("findGateways() passes over what is gone, and over another gateway on the port", async () => {
  await using other = serveAs({ pid: 99, startedAt: 1_000 });
  await using later = serveAs({ pid: 7, startedAt: 3_000 });
  const gone = serveAs(LEASE);
  await gone[Symbol.asyncDispose]();
  await using store = await Store.open({ location: ":memory:" });
  const leases = new LeasesRepository(store);
  for (const [index, address] of [other.address, later.address, gone.address, ""].entries()) {
    await leases.acquire({ ...LEASE, id: String(index), address });
  }
  await leases.acquire({ ...LEASE, id: "without an address" });
  assert.deepEqual(await findGateways(store), []);
});

Deno.test("findGateways() does not trust a lease that has lapsed", async () => {
  await using server = serveAs(LEASE);
  await using store = await Store.open({ location: ":memory:" });
  const past = new LeasesRepository(store, { now: () => Date.now() - 60_000 });
  await past.acquire({ ...LEASE, id: "a", address: server.address });
  assert.deepEqual(await findGateways(store), []);
});

Deno.test("findGateways() shows who answers in a gateway's place no proof that is good elsewhere", async () => {
  const shown: string[] = [];
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    if (new URL(request.url).pathname === "/healthz") return Response.json({ status: "ok" });
    const header = request.headers.get("authorization");
    if (header !== null) shown.push(header.slice("Bearer ".length));
    return new Response(null, { status: 401 });
  });
  await using store = await Store.open({ location: ":memory:" });
  const leases = new LeasesRepository(store);
  const address = `http://127.0.0.1:${server.addr.port}`;
  await leases.acquire({ ...LEASE, id: "killed", address });
  assert.deepEqual(await findGateways(store), []);
  const secret = await signingSecret(store);
  const [ticket = ""] = shown;
  assert.ok(readOwnerTicket(ticket, secret, LEASE));
  assert.equal(readOwnerTicket(ticket, secret, { pid: 8, startedAt: 2_000 }), undefined);
});

Deno.test("findGateways() proves nothing at this machine's address for a gateway on another", async () => {
  const shown: (string | null)[] = [];
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    if (new URL(request.url).pathname === "/healthz") return Response.json({ status: "ok" });
    shown.push(request.headers.get("authorization"));
    return new Response(null, { status: 401 });
  });
  await using store = await Store.open({ location: ":memory:" });
  Object.defineProperty(store, "location", { value: parseLocation("http://127.0.0.1:4512") });
  const leases = new LeasesRepository(store);
  const address = `http://127.0.0.1:${server.addr.port}`;
  await leases.acquire({ ...LEASE, host: `not ${hostname()}`, id: "elsewhere", address });
  assert.deepEqual(await findGateways(store), []);
  assert.deepEqual(shown, [null]);
});
