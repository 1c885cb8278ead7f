import assert from "node:assert/strict";
import { SessionsRepository } from "../storage/access_repositories.ts";
import { Store } from "../storage/store.ts";
import { type EventId, type EventStream, parseEventId } from "./event_stream.ts";
import { type OwnedSession, Sessions } from "./session.ts";
import { StdioSession } from "./stdio.ts";
import type { View } from "./view.ts";

const principal = "somebody";
const profile = { protocolVersion: "2025-11-25", capabilities: { roots: {} } };

function view(onClose = () => {}): View {
  return {
    introduce: () => Promise.resolve({}),
    open: () => ({
      request: () => Promise.resolve({ text: "" }),
      notify: () => {},
      [Symbol.asyncDispose]: () => Promise.resolve(onClose()),
    }),
  };
}

async function open(store: Store): Promise<Sessions> {
  await Promise.resolve();
  return new Sessions({ records: new SessionsRepository(store), onWarning: () => {} });
}

Deno.test("Sessions.find() knows a session at its own endpoint only", async () => {
  await using store = await Store.open({ location: ":memory:" });
  await using sessions = await open(store);
  const endpoint = "servers/a?flat";
  const session = sessions.create({ endpoint, principal, profile }, view());
  const { id } = session;
  const find = (owned: Partial<OwnedSession>) =>
    sessions.find({ id, endpoint, principal, ...owned }, view());
  assert.equal(await find({}), session);
  assert.equal(await find({ endpoint: "servers/b?flat" }), undefined);
  assert.equal(await find({ id: "no-such-session" }), undefined);
  assert.equal(await find({ id: crypto.randomUUID() }), undefined);
  await session.saved;
});

Deno.test("Sessions.find() knows a person's session by each of their tokens, in its own project", async () => {
  await using store = await Store.open({ location: ":memory:" });
  await using sessions = await open(store);
  const endpoint = "mcp?";
  const made = { endpoint, principal: "oauth:ann#1@web", profile };
  const session = sessions.create(made, view());
  const find = (principal: string) => sessions.peek({ id: session.id, endpoint, principal });
  assert.equal(find("oauth:ann#1@web"), session);
  assert.equal(find("oauth:ann#2@web"), session);
  for (const other of ["oauth:ann#1", "oauth:ann#1@data", "oauth:bob#1@web", "token:ann@web"]) {
    assert.equal(find(other), undefined, other);
  }
  await session.saved;
});

Deno.test("Sessions.find() takes a session up again after a restart, until it was ended", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const before = await open(store);
  const made = { endpoint: "gateway?", principal, profile, from: "192.0.2.7" };
  const session = before.create(made, view());
  await session.saved;
  await before[Symbol.asyncDispose]();
  await using after = await open(store);
  const revived = await after.find({ id: session.id, endpoint: "gateway?", principal }, view());
  assert.deepEqual(revived?.profile, profile);
  assert.equal(revived?.from, "192.0.2.7");
  await after.end(revived!);
  assert.equal(
    await after.find({ id: session.id, endpoint: "gateway?", principal }, view()),
    undefined,
  );
});

Deno.test("Sessions.end() closes what the session had open and aborts what was in flight", async () => {
  await using store = await Store.open({ location: ":memory:" });
  await using sessions = await open(store);
  let closed = 0;
  const session = sessions.create(
    { endpoint: "gateway?", principal, profile },
    view(() => closed++),
  );
  const controller = new AbortController();
  session.inFlight.set("1", controller);
  const stream = new Response(session.common.attach()).text();
  await sessions.end(session);
  assert.equal(closed, 1);
  assert.equal(controller.signal.aborted, true);
  assert.match(await stream, /^id: [0-9a-f]{8}-0-0\n/);
  assert.equal(sessions.size, 0);
});

Deno.test("Sessions.find() gives nobody the session of somebody else, in memory or from before a restart", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const before = await open(store);
  const { id, endpoint, saved } = before.create(
    { endpoint: "gateway?", principal, profile },
    view(),
  );
  const other = { id, endpoint, principal: "another" };
  assert.equal(before.peek(other), undefined);
  assert.equal(await before.find(other, view()), undefined);
  await saved;
  await before[Symbol.asyncDispose]();
  await using after = await open(store);
  assert.equal(await after.find(other, view()), undefined);
  assert.equal((await after.find({ id, endpoint, principal }, view()))?.principal, principal);
});

Deno.test("Sessions.find() revives a session whose client listens on, and takes no stream for another", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const before = await open(store);
  const session = before.create({ endpoint: "gateway?", principal, profile }, view());
  for (let count = 0; count < 5; count++) session.push(`"old ${count}"`);
  session.openStream().send('"answer to another"');
  const { life } = await lastEvent(session.common);
  await session.saved;
  await before[Symbol.asyncDispose]();
  await using after = await open(store);
  const revived = await after.find(session, view());
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

Deno.test("Sessions.end() looks for no record of a session that has none", async () => {
  const asked: string[] = [];
  await using sessions = new Sessions({
    records: {
      save: ({ id }) => Promise.resolve(void asked.push(id)),
      find: () => Promise.resolve(undefined),
      delete: (id) => Promise.resolve(void asked.push(id)),
    },
    onWarning: () => {},
  });
  const session = new StdioSession({ endpoint: "gateway?", principal, profile }, view(), () => {});
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
  const sessions = new Sessions({ records, onWarning: assert.fail, ...options });
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
    const open = (endpoint: string) =>
      sessions.create({ endpoint, principal, profile }, view(() => closed.push(endpoint)));
    const [idle, asking, calling, listening, reading] = [
      "idle",
      "asking",
      "calling",
      "listening",
      "reading",
    ].map(open);
    const piped = new StdioSession({ endpoint: "piped", principal, profile }, view(), () => {});
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

    const revived = await sessions.find(idle, view());
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
  await using sessions: Sessions = new Sessions({
    records: new SessionsRepository(store),
    onWarning: () => {},
    onChange: () => sizes.push(sessions.size),
  });
  const session = sessions.create({ endpoint: "gateway?", principal, profile }, view());
  await sessions.end(session);
  assert.deepEqual(sizes, [1, 0]);
});
