import assert from "node:assert/strict";
import * as z from "zod";
import { at, tool } from "../combined_endpoints.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { until } from "../gateway.ts";
import { Guarded, Visitor } from "./guarded.ts";

const Waiting = z.object({
  calls: z.array(z.looseObject({ id: z.string(), tool: z.string(), arguments: z.string() })),
});

let notes: ScriptedServer;
let guarded: Guarded;

Deno.test.beforeAll(async () => {
  notes = new ScriptedServer([
    tool("list", { annotations: { readOnlyHint: true } }),
    tool("append", { annotations: { destructiveHint: false } }),
    tool("write"),
  ]);
  guarded = await Guarded.open({ notes: { ...at(notes), mode: "confirm" } });
});

Deno.test.beforeEach(() => {
  notes.calls.length = 0;
});

Deno.test.afterAll(async () => {
  await guarded[Symbol.asyncDispose]();
  await notes[Symbol.asyncDispose]();
});

async function waiting() {
  const { value } = await guarded.api("GET", "/api/approvals");
  return Waiting.parse(value).calls;
}

/** Waits until this many calls wait. */
function waits(count: number) {
  return until(async () => {
    const calls = await waiting();
    return calls.length === count ? calls : undefined;
  });
}

function decide(id: string, decision: string, token = guarded.owner) {
  return guarded.api("POST", `/api/approvals/${id}`, { decision }, token);
}

const open = (path = "/servers/notes/mcp?names=original") =>
  Visitor.open(guarded.url, path, guarded.owner);

Deno.test("a destructive call waits for a yes, others do not", async () => {
  const visitor = await open();
  assert.match(await visitor.call("list"), /called list/);
  assert.match(await visitor.call("append"), /called append/);
  const answer = visitor.call("write", { text: "x", password: "hunter2hunter2" });
  const [call] = await waits(1);
  assert.equal(call?.tool, "write");
  assert.ok(call?.arguments.includes('"text":"x"'));
  assert.ok(!call?.arguments.includes("hunter2"), "secrets are masked");
  assert.equal(notes.calls.length, 2, "nothing runs before somebody agrees");
  assert.equal((await decide(call!.id, "approve")).status, 200);
  assert.match(await answer, /called write/);
  assert.match(notes.calls.at(-1) ?? "", /hunter2hunter2/, "the call is what was asked for");
});

Deno.test("a call that was denied is not made, nor is one within a call", async () => {
  const visitor = await open("/mcp");
  const answer = visitor.call("tool_execute", { toolKey: "notes.write", arguments: { a: 1 } });
  const [call] = await waits(1);
  await decide(call!.id, "deny");
  assert.match(await answer, /ACCESS_DENIED.*denied this call/);
  assert.deepEqual(notes.calls, []);
  assert.equal((await decide(call!.id, "approve")).status, 404);
});

Deno.test("whoever may only call cannot approve a call, their own included", async () => {
  const { text: token } = await guarded.token();
  const visitor = await Visitor.open(guarded.url, "/servers/notes/mcp?names=original", token);
  const answer = visitor.call("write");
  const [call] = await waits(1);
  assert.equal((await decide(call!.id, "approve", token)).status, 403);
  await decide(call!.id, "deny");
  assert.match(await answer, /ACCESS_DENIED/);
  assert.deepEqual(notes.calls, []);
});

Deno.test("a call whose client went away is never made, whatever is said afterwards", async () => {
  const visitor = await open();
  const leave = new AbortController();
  const response = await fetch(visitor.url, {
    method: "POST",
    headers: visitor.headers,
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 77,
      method: "tools/call",
      params: { name: "write" },
    }),
    signal: leave.signal,
  });
  const [call] = await waits(1);
  leave.abort();
  await response.body?.cancel().catch(() => {});
  await waits(0);
  assert.equal((await decide(call!.id, "approve")).status, 404);
  // A call after it would be behind it on the way to the server.
  assert.match(await visitor.call("list"), /called list/);
  assert.deepEqual(notes.calls.map((text) => JSON.parse(text).name), ["list"]);
});

Deno.test("a call that its client cancels, or whose session ends, is never made", async () => {
  for (
    const end of [
      (visitor: Visitor) =>
        fetch(visitor.url, {
          method: "POST",
          headers: visitor.headers,
          body: JSON.stringify({
            jsonrpc: "2.0",
            method: "notifications/cancelled",
            params: { requestId: 2 },
          }),
        }),
      (visitor: Visitor) => fetch(visitor.url, { method: "DELETE", headers: visitor.headers }),
    ]
  ) {
    const visitor = await open();
    const answer = visitor.call("write").catch(() => "ended");
    const [call] = await waits(1);
    await (await end(visitor)).body?.cancel();
    await waits(0);
    assert.equal((await decide(call!.id, "approve")).status, 404);
    await answer;
  }
  assert.deepEqual(notes.calls, []);
});

Deno.test("a yes for always is for that tool in that session alone", async () => {
  const [one, other] = [await open(), await open()];
  const first = one.call("write");
  await decide((await waits(1))[0]!.id, "always");
  assert.match(await first, /called write/);
  assert.match(await one.call("write", { again: true }), /called write/);
  const second = other.call("write");
  await decide((await waits(1))[0]!.id, "deny");
  assert.match(await second, /ACCESS_DENIED/);
  assert.equal(notes.calls.length, 2);
});

Deno.test("a client that can ask its user is asked, and nobody else has to agree", async () => {
  const visitor = await open();
  const initialized = await visitor.request("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: { elicitation: {} },
    clientInfo: { name: "asking", version: "1" },
  });
  assert.equal(initialized.status, 200);
  for (const [agree, expected] of [[false, /ACCESS_DENIED/], [true, /called write/]] as const) {
    const response = await visitor.post("tools/call", { name: "write", arguments: {} });
    const body = response.body!.pipeThrough(new TextDecoderStream());
    let text = "";
    let isAnswered = false;
    for await (const chunk of body) {
      text += chunk;
      const question = /data: (\{.*"elicitation\/create".*\})/.exec(text)?.[1];
      if (question === undefined || isAnswered) continue;
      isAnswered = true;
      assert.deepEqual(await waiting(), []);
      const { id } = JSON.parse(question);
      const result = { action: "accept", content: { agree } };
      const answered = await fetch(visitor.url, {
        method: "POST",
        headers: visitor.headers,
        body: JSON.stringify({ jsonrpc: "2.0", id, result }),
      });
      await answered.body?.cancel();
    }
    assert.ok(isAnswered, "nothing was asked");
    assert.match(text, expected);
  }
  assert.equal(notes.calls.length, 1);
});
