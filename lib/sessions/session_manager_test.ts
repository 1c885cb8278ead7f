import assert from "node:assert/strict";
import { SessionsRepository } from "../storage/sessions_repository.ts";
import { Store } from "../storage/store.ts";
import type { Surface } from "../surfaces/surface.ts";
import { type EventId, type EventStream, parseEventId } from "./event_stream.ts";
import { type OwnedSession, SessionManager } from "./session_manager.ts";
import { StdioSession } from "./stdio_session.ts";

const principal = "somebody";
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
  const door = "servers/a?flat";
  const session = sessions.create({ door, principal, client }, surface());
  const { id } = session;
  const find = (owned: Partial<OwnedSession>) =>
    sessions.find({ id, door, principal, ...owned }, surface());
  assert.equal(await find({}), session);
  assert.equal(await find({ door: "servers/b?flat" }), undefined);
  assert.equal(await find({ id: "no-such-session" }), undefined);
  assert.equal(await find({ id: crypto.randomUUID() }), undefined);
  await session.saved;
});

Deno.test("SessionManager.find() knows a person's session by each of their tokens, in its own project", async () => {
  await using store = await Store.open({ location: ":memory:" });
  await using sessions = await open(store);
  const door = "mcp?";
  const made = { door, principal: "oauth:ann#1@web", client };
  const session = sessions.create(made, surface());
  const find = (principal: string) => sessions.peek({ id: session.id, door, principal });
  assert.equal(find("oauth:ann#1@web"), session);
  assert.equal(find("oauth:ann#2@web"), session);
  for (const other of ["oauth:ann#1", "oauth:ann#1@data", "oauth:bob#1@web", "token:ann@web"]) {
    assert.equal(find(other), undefined, other);
  }
  await session.saved;
});

Deno.test("SessionManager.find() takes a session up again after a restart, until it was ended", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const before = await open(store);
  const made = { door: "gateway?", principal, client, from: "192.0.2.7" };
  const session = before.create(made, surface());
  await session.saved;
  await before[Symbol.asyncDispose]();
  await using after = await open(store);
  const revived = await after.find({ id: session.id, door: "gateway?", principal }, surface());
  assert.deepEqual(revived?.client, client);
  assert.equal(revived?.from, "192.0.2.7");
  await after.end(revived!);
  assert.equal(
    await after.find({ id: session.id, door: "gateway?", principal }, surface()),
    undefined,
  );
});

Deno.test("SessionManager.end() closes what the session had open and aborts what was in flight", async () => {
  await using store = await Store.open({ location: ":memory:" });
  await using sessions = await open(store);
  let closed = 0;
  const session = sessions.create({ door: "gateway?", principal, client }, surface(() => closed++));
  const controller = new AbortController();
  session.inFlight.set("1", controller);
  const stream = new Response(session.common.attach()).text();
  await sessions.end(session);
  assert.equal(closed, 1);
  assert.equal(controller.signal.aborted, true);
  assert.match(await stream, /^id: [0-9a-f]{8}-0-0\n/);
  assert.equal(sessions.size, 0);
});

Deno.test("SessionManager.find() gives nobody the session of somebody else, in memory or from before a restart", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const before = await open(store);
  const { id, door, saved } = before.create({ door: "gateway?", principal, client }, surface());
  const other = { id, door, principal: "another" };
  assert.equal(before.peek(other), undefined);
  assert.equal(await before.find(other, surface()), undefined);
  await saved;
  await before[Symbol.asyncDispose]();
  await using after = await open(store);
  assert.equal(await after.find(other, surface()), undefined);
  assert.equal((await after.find({ id, door, principal }, surface()))?.principal, principal);
});

Deno.test("SessionManager.find() revives a session whose client listens on, and takes no stream for another", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const before = await open(store);
  const session = before.create({ door: "gateway?", principal, client }, surface());
  for (let count = 0; count < 5; count++) session.push(`"old ${count}"`);
  session.openStream().send('"answer to another"');
  const { life } = await lastEvent(session.common);
  await session.saved;
  await before[Symbol.asyncDispose]();
  await using after = await open(store);
  const revived = await after.find(session, surface());
  assert.ok(revived);
  revived.openStream().send('"answer"');
  assert.equal(revived.resume({ life, stream: 1, event: 0 }), undefined);
  const rest = revived.resume({ life, stream: 0, event: 5 });
  assert.ok(rest);
  revived.push('"new"');
  await after.end(revived);
  const text = await new Response(rest).text();
  assert.match(text, /notifications\/tools\/list_changed.*"new"/s);
  assert.doesNotMatch(text, new RegExp(life));
});

Deno.test("SessionManager.end() looks for no record of a session that has none", async () => {
  const asked: string[] = [];
  await using sessions = new SessionManager({
    records: {
      save: ({ id }) => Promise.resolve(void asked.push(id)),
      find: () => Promise.resolve(undefined),
      delete: (id) => Promise.resolve(void asked.push(id)),
    },
    onWarning: () => {},
  });
  const session = new StdioSession({ door: "gateway?", principal, client }, surface(), () => {});
  sessions.adopt(session);
  assert.ok(sessions.has(session));
  await sessions.end(session);
  assert.ok(!sessions.has(session));
  assert.deepEqual(asked, []);
});

/** The event that a reader of the stream has seen last. */
async function lastEvent(stream: EventStream): Promise<EventId> {
  const body = stream.attach();
  stream.finish();
  const ids = (await new Response(body).text()).matchAll(/^id: (.*)$/gm);
  return parseEventId([...ids].at(-1)?.[1] ?? "")!;
}

const MINUTE = 60_000;

/** A manager at a time that passes as it is told to, and that sweeps when it is told to. */
function openSwept(store: Store, options: { idleMs?: number }) {
  const { now } = Date;
  const { setInterval } = globalThis;
  let time = now();
  let sweep = () => {};
  Date.now = () => time;
  globalThis.setInterval = ((callback: () => void, ms: number) => {
    sweep = callback;
    return setInterval(callback, ms);
  }) as typeof setInterval;
  const records = new SessionsRepository(store);
  const sessions = new SessionManager({ records, onWarning: assert.fail, ...options });
  globalThis.setInterval = setInterval;
  return {
    sessions,
    sweepAfter(ms: number): void {
      time += ms;
      sweep();
    },
    async [Symbol.asyncDispose]() {
      Date.now = now;
      await sessions[Symbol.asyncDispose]();
    },
  };
}

for (
  const [words, limit, options] of [
    ["half an hour", 30 * MINUTE, {}],
    ["as long as it was told to", 2 * MINUTE, { idleMs: 2 * MINUTE }],
  ] as const
) {
  Deno.test(`SessionManager lets go of sessions that are idle for ${words}, and of no others`, async () => {
    await using store = await Store.open({ location: ":memory:" });
    await using swept = openSwept(store, options);
    const { sessions, sweepAfter } = swept;
    const closed: string[] = [];
    const open = (door: string) =>
      sessions.create({ door, principal, client }, surface(() => closed.push(door)));
    const [idle, asking, calling, listening, reading] = [
      "idle",
      "asking",
      "calling",
      "listening",
      "reading",
    ].map(open);
    const piped = new StdioSession({ door: "piped", principal, client }, surface(), () => {});
    sessions.adopt(piped);
    assert.ok(idle && asking && calling && listening && reading);
    await Promise.all(sessions.list().map(({ saved }) => saved));
    const call = new AbortController();
    calling.inFlight.set(1, call);
    const heard = listening.common.attach();
    const answer = reading.openStream().attach();

    sweepAfter(limit);
    assert.deepEqual([sessions.size, closed], [6, []]);
    asking.touch();
    sweepAfter(1);
    assert.deepEqual(closed, ["idle"]);
    assert.equal(sessions.peek(idle), undefined);
    assert.deepEqual(sessions.list(), [asking, calling, listening, reading, piped]);
    assert.equal(call.signal.aborted, false);

    const revived = await sessions.find(idle, surface());
    assert.ok(revived && revived !== idle, "a client that comes back goes on");
    await sessions.end(revived);

    // What they did counts until its end, however long it took.
    calling.inFlight.clear();
    calling.touch();
    await Promise.all([heard.cancel(), answer.cancel()]);
    sweepAfter(limit);
    assert.deepEqual(closed, ["idle", "asking"]);
    sweepAfter(MINUTE);
    assert.deepEqual(closed, ["idle", "asking", "calling", "listening", "reading"]);
    assert.deepEqual(sessions.list(), [piped]);
  });
}

Deno.test("SessionManager tells when a session comes and goes", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const sizes: number[] = [];
  await using sessions: SessionManager = new SessionManager({
    records: new SessionsRepository(store),
    onWarning: () => {},
    onChange: () => sizes.push(sessions.size),
  });
  const session = sessions.create({ door: "gateway?", principal, client }, surface());
  await sessions.end(session);
  assert.deepEqual(sizes, [1, 0]);
});
