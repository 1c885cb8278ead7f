import assert from "node:assert/strict";
import { ActivityRepository } from "../storage/activity_repository.ts";
import { Store } from "../storage/store.ts";
import { ActivityLog } from "./activity_log.ts";
import { ActivityReader } from "./activity_reader.ts";
import {
  type AnsweredCall,
  CallDetails,
  CallRecorder,
  failureOf,
  PICK_MS,
  RecentSearches,
} from "./call_recorder.ts";
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
    call: { server: "git", tool, sentAt: 1_002, serverMs: 5.04 },
    request: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    principal: "everyone",
    session: {
      id: "s",
      endpoint: "mcp?default",
      profile: { clientInfo: { name: "cursor", version: "1.2".padEnd(200, ".0") } },
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
  assert.equal(call.requestBytes, new TextEncoder().encode(answered("status").request).length);
  assert.deepEqual([call.ms, call.beforeMs, call.serverMs, call.ok], [8.3, 2, 5, true]);
  const found = await reader.find(call.id);
  assert.deepEqual(found?.view?.request.arguments, { path: "/status/é" });
  assert.deepEqual(found?.view?.response.words, ["said status"]);
});

Deno.test("CallRecorder.record() notes who called, where the session is of another token or project", async () => {
  await using open = await openRecorder();
  const call = answered("status");
  open.recorder.record({ ...call, principal: "oauth:ann#2@web" });
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

const same = (text: string) => text;

Deno.test("failureOf() has the code of our own errors, and the first words of others", () => {
  const text = (value: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, ...value });
  const ours = { isError: true, structuredContent: { errorType: "TIMEOUT" }, content: [] };
  assert.equal(failureOf(text({ result: ours }), same), "TIMEOUT");
  const error = { code: -32602, message: "No", data: { errorType: "TOOL_NOT_FOUND" } };
  assert.equal(failureOf(text({ error }), same), "TOOL_NOT_FOUND");
  assert.equal(failureOf(text({ error: { code: 1, message: "It  broke\n" } }), same), "It broke");
  const content = [{ type: "text", text: `Not found: ${"x".repeat(500)}` }];
  const words = failureOf(text({ result: { isError: true, content } }), same);
  assert.match(words ?? "", /^Not found: x+…$/);
  assert.equal(words?.length, 160);
  assert.equal(failureOf(text({ result: { isError: true } }), same), undefined);
  assert.equal(failureOf("{", same), undefined);
});

Deno.test("failureOf() takes secrets out before it cuts, wherever the cut would be", () => {
  const redact = (text: string) => text.replaceAll("swordfish", "[redacted]");
  for (const before of [150, 155, 1_990, 65_530]) {
    // What is cut off counts as well: spaces become one, and a long secret becomes short.
    const message = `${before < 200 ? "x".repeat(before) : " ".repeat(before)}swordfish${
      " more".repeat(40)
    }`;
    const words = failureOf(JSON.stringify({ error: { message } }), redact) ?? "";
    assert.ok(!words.includes("sw"), `after ${before}: ${words}`);
  }
  const error = { message: "No", data: { errorType: "OPEN_SESAME" } };
  assert.equal(failureOf(JSON.stringify({ error }), () => "[redacted]"), "[redacted]");
});

function call(id: string) {
  const call = {
    at: 0,
    endpoint: "mcp?default",
    session: "s",
    principal: "everyone",
    ms: 1,
    ok: true,
  };
  return { ...call, id, server: "git", tool: "status" };
}

Deno.test("CallDetails keeps the last calls, and of each text no more than its limit", () => {
  const details = new CallDetails({ most: 2, textLength: 5 });
  for (const id of ["a", "b", "c"]) {
    details.add(call(id), { request: "short", response: "too long" });
  }
  assert.equal(details.find("a"), undefined);
  assert.deepEqual(details.find("c"), {
    call: call("c"),
    request: "short",
    response: "too l",
    isRequestCut: false,
    isResponseCut: true,
  });
  assert.equal(details.size, 2);
});

Deno.test("CallDetails lets the oldest go where all together are too long", () => {
  const details = new CallDetails({ totalLength: 10 });
  details.add(call("a"), { request: "123", response: "456" });
  details.add(call("b"), { request: "123", response: "4" });
  assert.equal(details.size, 2);
  details.add(call("c"), { request: "1", response: "" });
  assert.equal(details.find("a"), undefined);
  assert.equal(details.size, 2);
});

Deno.test("CallDetails does not hold on to what its texts were cut from", () => {
  const details = new CallDetails({});
  for (let nth = 0; nth < 100; nth++) {
    const buffer = "x".repeat(2_000_000) + nth;
    details.add(call(String(nth)), { request: buffer.slice(0, 500), response: buffer });
  }
  (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed } = Deno.memoryUsage();
  assert.ok(heapUsed < 120_000_000, `${heapUsed} bytes for 100 calls of 2 MB`);
});

Deno.test("CallDetails.find() looks at no other calls, and finds none that was let go", () => {
  const details = new CallDetails({ most: 100 });
  let looks = 0;
  for (let nth = 0; nth < 150; nth++) {
    const kept = call("");
    const counted = Object.defineProperty(kept, "id", { get: () => (looks++, `c${nth}`) });
    details.add(counted, { request: "", response: `${nth}` });
  }
  looks = 0;
  assert.equal(details.find("c149")?.response, "149");
  assert.equal(details.find("c49"), undefined);
  assert.equal(looks, 0);
});

Deno.test("CallDetails.clear() forgets all, and goes on", () => {
  const details = new CallDetails({ most: 2 });
  for (const id of ["a", "b", "c"]) details.add(call(id), { request: "x", response: "y" });
  details.clear();
  assert.deepEqual([details.size, details.find("c")], [0, undefined]);
  details.add(call("d"), { request: "x", response: "y" });
  assert.equal(details.find("d")?.request, "x");
});

function searched(query: string, ...tools: string[]): AnsweredCall {
  const found = tools.map((tool) => ({ server: "git", tool, relevance: 0.5 }));
  const search = { query, found, isHit: tools.length > 0, tokens: 12 };
  const call = { server: "(gateway)", tool: "tool_discovery", search };
  return { ...answered("tool_discovery"), call };
}

function executed(tool: string): AnsweredCall {
  const made = answered(tool);
  return { ...made, call: { ...made.call, isForwarded: true } };
}

Deno.test("CallRecorder.record() links a call to the search that found its tool", async () => {
  await using open = await openRecorder();
  const { recorder, reader, redactor, log } = open;
  redactor.learn(["swordfish"]);
  recorder.record(searched("old", "log", "status"));
  recorder.record(searched("see swordfish changes", "status", "diff"));
  recorder.record(searched("fly to the moon"));
  recorder.record(executed("status"));
  recorder.record(executed("push"));
  recorder.record(answered("diff"));
  recorder.record({ ...executed("diff"), session: { ...answered("").session, id: "other" } });
  const check = async () => {
    const all = await Array.fromAsync(reader.calls());
    const [elsewhere, listed, push, status, missed, hit, old] = all;
    assert.deepEqual([elsewhere, listed, push].map((call) => call?.searchId), [
      undefined,
      undefined,
      undefined,
    ]);
    assert.equal(status?.searchId, hit?.id);
    const pick = { id: status!.id, server: "git", tool: "status", ok: true };
    assert.deepEqual(hit?.search, {
      query: "see [redacted] changes",
      found: ["status", "diff"].map((tool) => ({ server: "git", tool, relevance: 0.5 })),
      count: 2,
      isHit: true,
      tokens: 12,
      picks: [pick],
    });
    assert.deepEqual([missed?.search?.isHit, missed?.search?.count], [false, 0]);
    assert.equal(old?.search?.picks, undefined);
    assert.deepEqual((await reader.find(hit!.id))?.call.search?.picks, [pick]);
    // Also if the list begins after the call.
    const older = await Array.fromAsync(reader.calls({}, { before: status!.id }));
    assert.deepEqual(older[1]?.search?.picks, [pick]);
  };
  await check();
  await log.flush();
  await check();
  assert.equal((await Array.fromAsync(reader.calls({ kind: "call" }))).length, 4);
  assert.equal((await Array.fromAsync(reader.calls({ kind: "search" }))).length, 3);
  const missed = await Array.fromAsync(reader.calls({ kind: "missed" }));
  assert.deepEqual(missed.map(({ search }) => search?.query), ["fly to the moon"]);
  assert.equal((await Array.fromAsync(reader.calls({ text: "changes" }))).length, 1);
});

Deno.test("RecentSearches forgets old searches, and sessions beyond its limit", () => {
  const searches = new RecentSearches();
  const call = { server: "git", tool: "status" };
  const record = { ...ENTRY, id: "s1", at: 1_000 };
  const hit = { isHit: true, found: [{ ...call, relevance: 1 }] };
  const other = { isHit: true, found: [{ ...call, tool: "log", relevance: 1 }] };
  searches.add("a", record, hit);
  assert.equal(searches.leadingTo("a", call, 1_000 + PICK_MS - 1), "s1");
  assert.equal(searches.leadingTo("a", call, 1_000 + PICK_MS), undefined);
  for (let n = 0; n < 1_000; n++) searches.add(`b${n}`, record, other);
  assert.equal(searches.size, 1_000);
  assert.equal(searches.leadingTo("a", call, 1_000), undefined);
  searches.add("b1", record, hit);
  for (let n = 0; n < 5; n++) searches.add("b1", { ...record, id: `later${n}` }, other);
  assert.equal(searches.leadingTo("b1", call, 1_000), undefined);
});

Deno.test("RecentSearches credits the hit that ranked the tool best, the latest of equals", () => {
  const searches = new RecentSearches();
  const add = (id: string, isHit: boolean, ...found: [string, number][]) =>
    searches.add("a", { ...ENTRY, id, at: 1_000 }, {
      isHit,
      found: found.map(([tool, relevance]) => ({ server: "git", tool, relevance })),
    });
  const leading = (tool: string) => searches.leadingTo("a", { server: "git", tool }, 1_000);
  add("first", true, ["status", 0.4], ["log", 0.1]);
  add("second", true, ["status", 0.3]);
  add("third", true, ["diff", 0.9], ["status", 0.8], ["push", 0.09]);
  add("missed", false, ["log", 0.05], ["stash", 0.2]);
  assert.deepEqual(["status", "log", "push", "stash"].map(leading), [
    "second",
    "first",
    undefined,
    undefined,
  ]);
});

const ENTRY = {
  endpoint: "mcp?default",
  session: "s",
  principal: "everyone",
  server: "(gateway)",
  tool: "tool_discovery",
  ms: 1,
  ok: true,
};

Deno.test("CallDetails.succeeded() gives the arguments of the owner's calls that went well", () => {
  const details = new CallDetails({});
  const add = (principal: string, params: unknown, ok = true) =>
    details.add(
      {
        ...{ at: 0, id: crypto.randomUUID(), endpoint: "mcp?default", session: "s", principal },
        ...{ server: "git", tool: "push", ms: 1, ok },
      },
      {
        request: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
        response: "",
      },
    );
  add("everyone", { name: "git_push", arguments: { n: 1 } });
  add("everyone", { name: "git_push", arguments: { n: 2 } }, false);
  add("token:other", { name: "git_push", arguments: { n: 3 } });
  const execute = { toolKey: "git_push", arguments: { n: 4 } };
  add("everyone", { name: "tool_execute", arguments: execute });
  const call = { backend_id: "git", tool_name: "push", parameters: { n: 5 } };
  add("everyone", { name: "optim.call_tool", arguments: call });
  add("everyone", { name: "git_push" });
  assert.deepEqual([...details.succeeded("everyone", "git", "push")], [{ n: 5 }, { n: 4 }, {
    n: 1,
  }]);
  assert.deepEqual([...details.succeeded("everyone", "git", "pull")], []);
});
