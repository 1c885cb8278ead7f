import assert from "node:assert/strict";
import { SessionsRepository } from "../storage/sessions_repository.ts";
import { Store } from "../storage/store.ts";
import type { Surface } from "../surfaces/surface.ts";
import { SessionManager } from "./session_manager.ts";

const client = { protocolVersion: "2025-11-25", capabilities: { roots: {} } };

function surface(onClose = () => {}): Surface {
  return {
    introduce: () => Promise.resolve({}),
    open: () => ({
      request: () => Promise.resolve(""),
      notify: () => {},
      [Symbol.asyncDispose]: () => Promise.resolve(onClose()),
    }),
  };
}

async function open(store: Store): Promise<SessionManager> {
  await Promise.resolve();
  return new SessionManager({ records: new SessionsRepository(store), onWarning: () => {} });
}

Deno.test("SessionManager.find() knows a session at its own door only", async () => {
  await using store = await Store.open({ location: ":memory:" });
  await using sessions = await open(store);
  const session = sessions.create("servers/a?flat", client, surface());
  assert.equal(await sessions.find(session.id, "servers/a?flat", surface()), session);
  assert.equal(await sessions.find(session.id, "servers/b?flat", surface()), undefined);
  assert.equal(await sessions.find("no-such-session", "servers/a?flat", surface()), undefined);
  assert.equal(await sessions.find(crypto.randomUUID(), "servers/a?flat", surface()), undefined);
  await session.saved;
});

Deno.test("SessionManager.find() takes a session up again after a restart, until it was ended", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const before = await open(store);
  const session = before.create("gateway?", client, surface());
  await session.saved;
  await before[Symbol.asyncDispose]();
  await using after = await open(store);
  const revived = await after.find(session.id, "gateway?", surface());
  assert.deepEqual(revived?.client, client);
  await after.end(revived!);
  assert.equal(await after.find(session.id, "gateway?", surface()), undefined);
});

Deno.test("SessionManager.end() closes what the session had open and aborts what was in flight", async () => {
  await using store = await Store.open({ location: ":memory:" });
  await using sessions = await open(store);
  let closed = 0;
  const session = sessions.create("gateway?", client, surface(() => closed++));
  const controller = new AbortController();
  session.inFlight.set("1", controller);
  const stream = new Response(session.common.attach()).text();
  await sessions.end(session);
  assert.equal(closed, 1);
  assert.equal(controller.signal.aborted, true);
  assert.match(await stream, /^id: 0-0/);
  assert.equal(sessions.size, 0);
});
