import assert from "node:assert/strict";
import { ActivityRepository } from "../storage/activity_repository.ts";
import { Store } from "../storage/store.ts";
import { ActivityLog } from "./activity_log.ts";
import { ActivityReader } from "./activity_reader.ts";
import { CallDetails } from "./call_details.ts";
import { type AnsweredCall, CallRecorder } from "./call_recorder.ts";
import { Redactor } from "./redact.ts";

async function openRecorder() {
  const store = await Store.open({ location: ":memory:" });
  const repository = new ActivityRepository(store);
  const log = new ActivityLog({ repository, processId: "a", onWarning: assert.fail });
  const details = new CallDetails({ most: 2 });
  const redactor = new Redactor();
  const reader = new ActivityReader({ repository, log, details, redactor });
  const recorder = new CallRecorder({ log, details, redactor });
  return {
    log,
    redactor,
    reader,
    recorder,
    async [Symbol.asyncDispose]() {
      await log[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

function answered(tool: string, change: Partial<AnsweredCall["answer"]> = {}): AnsweredCall {
  const params = { name: tool, arguments: { path: `/${tool}/é` } };
  const content = [{ type: "text", text: `said ${tool}` }];
  return {
    scope: {
      text: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
      atServer: { start: 1_002, ms: 5.04 },
    },
    target: { server: "git", name: tool },
    session: {
      door: "mcp?default",
      id: "s",
      principal: "everyone",
      client: { clientInfo: { name: "cursor", version: "1.2".padEnd(200, ".0") } },
    },
    answer: {
      text: JSON.stringify({ jsonrpc: "2.0", id: 1, result: { content } }),
      isError: false,
      started: 1_000,
      ms: 8.26,
      ...change,
    },
  };
}

const tools = async (calls: AsyncIterable<{ tool: string }>) =>
  await Array.fromAsync(calls, ({ tool }) => tool);

Deno.test("CallRecorder.record() notes client, sizes, times and what was said", async () => {
  await using open = await openRecorder();
  const { recorder, reader } = open;
  recorder.record(answered("status"));
  const [call] = await Array.fromAsync(reader.calls());
  assert.ok(call);
  assert.match(call.client ?? "", /^cursor 1\.2[.0]+…$/);
  assert.equal(call.client?.length, 80);
  assert.equal(call.requestBytes, new TextEncoder().encode(answered("status").scope.text).length);
  assert.deepEqual([call.ms, call.beforeMs, call.serverMs, call.ok], [8.3, 2, 5, true]);
  const found = await reader.find(call.id);
  assert.deepEqual(found?.view?.request.arguments, { path: "/status/é" });
  assert.deepEqual(found?.view?.response.words, ["said status"]);
});

Deno.test("CallRecorder.record() notes who called, where the session is of another token or project", async () => {
  await using open = await openRecorder();
  const call = answered("status");
  open.recorder.record({ ...call, scope: { ...call.scope, principal: "oauth:ann#2@web" } });
  open.recorder.record(call);
  const principals = await Array.fromAsync(open.reader.calls(), ({ principal }) => principal);
  assert.deepEqual(principals, ["everyone", "oauth:ann#2@web"]);
});

Deno.test("CallRecorder.record() keeps why a call failed, without secrets", async () => {
  await using open = await openRecorder();
  open.redactor.learn(["swordfish"]);
  const content = [{ type: "text", text: "Wrong key: swordfish" }];
  const text = JSON.stringify({ jsonrpc: "2.0", id: 1, result: { isError: true, content } });
  open.recorder.record(answered("push", { isError: true, text }));
  const [call] = await Array.fromAsync(open.reader.calls());
  assert.deepEqual([call?.ok, call?.error], [false, "Wrong key: [redacted]"]);
});

Deno.test("ActivityReader.calls() has each call once, whether it is written or not", async () => {
  await using open = await openRecorder();
  const { recorder, reader, log } = open;
  for (const tool of ["a", "b"]) recorder.record(answered(tool));
  await log.flush();
  for (const tool of ["c", "d"]) recorder.record(answered(tool));
  assert.deepEqual(await tools(reader.calls()), ["d", "c", "b", "a"]);
  const writing = log.flush();
  assert.deepEqual(await tools(reader.calls()), ["d", "c", "b", "a"]);
  await writing;
  const ids = await Array.fromAsync(reader.calls(), ({ id }) => id);
  assert.equal(new Set(ids).size, 4);
  assert.deepEqual(await tools(reader.calls({}, { before: ids[1] })), ["b", "a"]);
  assert.deepEqual(await tools(reader.calls({}, { after: ids[2] })), ["d", "c"]);
  assert.equal((await reader.find(ids[3]!))?.view, undefined, "only the last texts are kept");
  assert.equal((await reader.find(ids[3]!))?.call.tool, "a");
  assert.equal(await reader.find("nonsense"), undefined);
});

Deno.test("ActivityReader.calls() filters, and finds words of what is shown only", async () => {
  await using open = await openRecorder();
  const { recorder, reader, redactor } = open;
  redactor.learn(["/commit/é"]);
  for (const tool of ["status", "commit"]) recorder.record(answered(tool));
  assert.deepEqual(await tools(reader.calls({ tool: "status", server: "git" })), ["status"]);
  assert.deepEqual(await tools(reader.calls({ status: "error" })), []);
  assert.deepEqual(await tools(reader.calls({ client: "other" })), []);
  assert.deepEqual(await tools(reader.calls({ text: "SAID git.st" })), ["status"]);
  assert.deepEqual(await tools(reader.calls({ text: "/status/é" })), ["status"]);
  assert.deepEqual(await tools(reader.calls({ text: "/commit/é" })), []);
});

Deno.test("CallRecorder.record() keeps no part of a secret that is where the error is cut", async () => {
  await using open = await openRecorder();
  open.redactor.learn(["correct-horse-battery"]);
  const content = [{ type: "text", text: `${"x ".repeat(75)}correct-horse-battery is wrong` }];
  const text = JSON.stringify({ jsonrpc: "2.0", id: 1, result: { isError: true, content } });
  open.recorder.record(answered("push", { isError: true, text }));
  const [call] = await Array.fromAsync(open.reader.calls());
  assert.match(call?.error ?? "", /^(x )+\[/);
});

Deno.test("CallRecorder.record() marks a session, and does not say its id", async () => {
  await using open = await openRecorder();
  const [one, other] = [crypto.randomUUID(), crypto.randomUUID()];
  for (const id of [one, other, one]) {
    const call = answered("status");
    open.recorder.record({ ...call, session: { ...call.session, id } });
  }
  const marks = await Array.fromAsync(open.reader.calls(), ({ session }) => session);
  for (const mark of marks) assert.match(mark, /^[0-9a-f]{8}$/);
  assert.equal(marks[0], marks[2]);
  assert.notEqual(marks[0], marks[1]);
  assert.ok(marks.every((mark) => !one.includes(mark) && !other.includes(mark)));
});

Deno.test("ActivityReader.calls() lets others go on while few calls take long to search", async () => {
  await using open = await openRecorder();
  const { recorder, reader, redactor } = open;
  for (const tool of ["a", "b"]) recorder.record(answered(tool));
  const plain = redactor.json.bind(redactor);
  redactor.json = (text) => {
    const end = performance.now() + 25;
    while (performance.now() < end);
    return plain(text);
  };
  let isHeard = false;
  const timer = setTimeout(() => isHeard = true);
  // The calls wait in memory: nothing but the search itself could let the timer run.
  const iterator = reader.calls({ text: "said" });
  await iterator.next();
  await iterator.next();
  await iterator.return(undefined);
  clearTimeout(timer);
  assert.ok(isHeard);
});
