import assert from "node:assert/strict";
import { CallEvents, type CallsEvent, EventHub } from "./event_hub.ts";
import { ActivityRepository } from "../storage/activity_repository.ts";
import { Store } from "../storage/store.ts";
import { ActivityLog } from "../telemetry/activity_log.ts";

/** Reads a stream's events until `count` have come. */
async function take(
  response: Response,
  count: number,
): Promise<{ id: string; event: string; data: unknown }[]> {
  const events = [];
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
      const fields = Object.fromEntries(
        text.slice(0, end).split("\n").map((line) => line.split(/: (.*)/s, 2) as [string, string]),
      );
      text = text.slice(end + 2);
      if (fields.event) {
        events.push({ id: fields.id!, event: fields.event, data: JSON.parse(fields.data!) });
      }
      if (events.length === count) return events;
    }
  }
  return events;
}

const none = () => [];

Deno.test("EventHub.stream() sends the first picture, then what is new", async () => {
  const hub = new EventHub();
  const open = new AbortController();
  const response = hub.stream(null, open.signal, () => [["status", { servers: 1 }]]);
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  assert.equal(response.headers.get("x-accel-buffering"), "no");
  queueMicrotask(() => hub.publish("server", { name: "weather" }));
  const events = await take(response, 2);
  assert.deepEqual(events.map(({ event, data }) => [event, data]), [
    ["status", { servers: 1 }],
    ["server", { name: "weather" }],
  ]);
  assert.equal(hub.listenerCount, 0);
});

Deno.test("EventHub.stream() replays what was missed, and resets where it cannot", async () => {
  const hub = new EventHub();
  const open = new AbortController();
  hub.publish("server", 1);
  const first = take(hub.stream(null, open.signal, () => [["status", 0]]), 1);
  const [seen] = await first;
  hub.publish("server", 2, "git");
  hub.publish("server", 3, "files");
  const missed = await take(hub.stream(seen!.id, open.signal, none), 2);
  assert.deepEqual(missed.map(({ data }) => data), [2, 3]);
  for (let count = 0; count < 2_000; count++) hub.publish("server", count, `server-${count}`);
  assert.equal((await take(hub.stream(seen!.id, open.signal, none), 1))[0]?.event, "reset");
  for (const foreign of ["other-1", "x", "-", `${seen!.id.split("-")[0]}-999999`]) {
    assert.equal(
      (await take(hub.stream(foreign, open.signal, none), 1))[0]?.event,
      "reset",
      foreign,
    );
  }
});

Deno.test("EventHub.lastEventId names the moment from which a page hears everything", async () => {
  const hub = new EventHub();
  const open = new AbortController();
  hub.publish("tools", "before");
  const made = hub.lastEventId;
  hub.publish("tools", "after");
  const [heard] = await take(hub.stream(made, open.signal, none), 1);
  assert.equal(heard?.data, "after");
  const quiet = hub.stream(hub.lastEventId, open.signal, none);
  open.abort();
  assert.equal(await quiet.text(), "retry: 1000\n\n");
  const [other] = await take(new EventHub().stream(made, new AbortController().signal, none), 1);
  assert.equal(other?.event, "reset", "an id of another run");
});

Deno.test("EventHub.stream() replays the last event about a subject alone", async () => {
  const hub = new EventHub();
  const open = new AbortController();
  const made = hub.lastEventId;
  // More than are kept, were each kept.
  for (let count = 0; count < 3_000; count++) hub.publish("calls", count);
  hub.publish("server", "last", "git");
  const missed = await take(hub.stream(made, open.signal, none), 2);
  assert.deepEqual(missed.map(({ event, data }) => [event, data]), [
    ["calls", 2_999],
    ["server", "last"],
  ]);
});

Deno.test("EventHub.whenHeard() resolves with a listener, or when nobody waits any more", async () => {
  const hub = new EventHub();
  const open = new AbortController();
  let isHeard = false;
  const heard = hub.whenHeard(open.signal).then(() => isHeard = true);
  await Promise.resolve();
  assert.equal(isHeard, false);
  const stream = hub.stream(null, new AbortController().signal, none);
  await heard;
  await hub.whenHeard(open.signal);
  await stream.body!.cancel();
  const given = hub.whenHeard(open.signal);
  open.abort();
  await given;
});

Deno.test("EventHub.stream() ends on abort and lets go of a client that stops reading", async () => {
  const hub = new EventHub();
  const open = new AbortController();
  const response = hub.stream(null, open.signal, none);
  const stalled = hub.stream(null, new AbortController().signal, none);
  assert.equal(hub.listenerCount, 2);
  for (let count = 0; count < 3_000; count++) hub.publish("server", "x".repeat(500));
  assert.equal(hub.listenerCount, 0);
  await stalled.body!.cancel();
  await response.body!.cancel();
  const ended = hub.stream(null, open.signal, none);
  open.abort();
  assert.equal(await ended.text(), "retry: 1000\n\n");
  assert.equal(hub.listenerCount, 0);
});

Deno.test("EventHub.stream() counts what waits for a client in bytes", async () => {
  const hub = new EventHub();
  const ended = new AbortController();
  const few = hub.stream(null, ended.signal, none);
  for (let count = 0; count < 2_000; count++) hub.publish("server", count);
  assert.equal(hub.listenerCount, 1, "many small ones may wait");
  const stalled = hub.stream(null, new AbortController().signal, none);
  for (let count = 0; count < 100; count++) hub.publish("server", "é".repeat(40_000));
  assert.equal(hub.listenerCount, 0);
  const held = (await stalled.bytes()).length;
  assert.ok(held > 900_000 && held < 1_200_000, `${held} bytes`);
  await few.body!.cancel();
});

Deno.test("EventHub.stream() resets where too much was missed, and goes on", async () => {
  const hub = new EventHub();
  const { signal } = new AbortController();
  const [seen] = await take(hub.stream(null, signal, () => [["status", 0]]), 1);
  for (let count = 0; count < 100; count++) hub.publish("server", "x".repeat(20_000), `${count}`);
  const response = hub.stream(seen!.id, signal, () => [["status", 1]]);
  hub.publish("server", "last");
  const events = await take(response, 3);
  assert.deepEqual(events.map(({ event, data }) => [event, data]), [
    ["reset", {}],
    ["status", 1],
    ["server", "last"],
  ]);
});

const CALL = { endpoint: "mcp?default", session: "s", principal: "everyone", server: "git", ms: 3 };

Deno.test("CallEvents tells calls some at a time, and counts those beyond", async () => {
  await using store = await Store.open({ location: ":memory:" });
  await using log = new ActivityLog({
    repository: new ActivityRepository(store),
    processId: "a",
    onWarning: assert.fail,
  });
  const hub = new EventHub();
  using _events = new CallEvents(hub, log);
  log.record({ ...CALL, tool: "unheard", ok: true });
  const open = new AbortController();
  const heard = hub.stream(null, open.signal, () => []);
  for (let call = 0; call < 203; call++) log.record({ ...CALL, tool: `t${call}`, ok: true });
  let text = "";
  for await (const chunk of heard.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes("event: activity")) break;
  }
  open.abort();
  const data: CallsEvent = JSON.parse(/data: (.*)/.exec(text)![1]!);
  assert.deepEqual([data.calls.length, data.skipped], [200, 3]);
  assert.equal(data.calls[0]!.tool, "t0");
  assert.ok(!text.includes("id:"), "a client that comes back is not told them again");
});
