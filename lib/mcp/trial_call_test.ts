import assert from "node:assert/strict";
import { Catalog } from "../catalog/catalog.ts";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import { NameTables } from "../catalog/name_table.ts";
import { GatewayError } from "../core/errors.ts";
import { resultText } from "../core/rpc.ts";
import type { Call } from "../servers/connection.ts";
import type { ServerPool } from "../servers/pool.ts";
import type { AnsweredCall } from "../telemetry/call_recorder.ts";
import { riskOf, TrialCalls, type TrialPolicy } from "./trial_call.ts";

function tool(name: string, more: Partial<CatalogTool["definition"]> = {}) {
  return { name, inputSchema: { type: "object" }, ...more };
}

const TOOLS = [
  tool("plain", {
    inputSchema: { type: "object", properties: { n: { type: "integer" } } },
    annotations: { readOnlyHint: true },
  }),
  tool("silent"),
  tool("erase", { annotations: { destructiveHint: true } }),
  tool("off"),
];

const ALLOWING: TrialPolicy = {
  enterTrial: () => Promise.resolve(false),
  mustConfirm: () => false,
  refused: () => {},
  ended: () => {},
};

function calls(
  answer: (call: Call) => Promise<{ id: number; text: string }>,
  policy = ALLOWING,
) {
  const recorded: AnsweredCall[] = [];
  const catalog = new Catalog();
  catalog.setListed("s", TOOLS.map((tool) => JSON.stringify(tool)));
  catalog.setEnabled("s", ["plain", "silent", "erase"]);
  const toolCalls = new TrialCalls({
    catalog,
    names: new NameTables([], 60),
    pool: {
      resolve: () => ({ timeoutMs: 1_000, call: answer, status: { state: "ready" } }),
    } as unknown as ServerPool,
    policy,
    onCall: (call) => recorded.push(call),
  });
  const call = (name: string, args: Record<string, unknown> = {}, isConfirmed = false) =>
    toolCalls.call({
      server: "s",
      tool: name,
      args,
      principal: "token:ada",
      isConfirmed,
      signal: new AbortController().signal,
    });
  return { call, recorded };
}

Deno.test("TrialCalls.call() makes the call, and records it as the console's", async () => {
  const seen: Call[] = [];
  const { call, recorded } = calls((made) => {
    seen.push(made);
    return Promise.resolve({ id: 7, text: resultText(7, '{"content":[],"isError":true}') });
  });
  const answer = await call("plain", { n: 1 });
  assert.equal(seen[0]?.params, '{"name":"plain","arguments":{"n":1}}');
  assert.match(answer.request, /"id":7,"method":"tools\/call"/);
  assert.equal(recorded.length, 1);
  assert.equal(recorded[0]?.session.endpoint, "console");
  assert.equal(recorded[0]?.principal, "token:ada");
  assert.deepEqual([recorded[0]?.call.server, recorded[0]?.call.tool], ["s", "plain"]);
  assert.equal(recorded[0]?.answer.isError, true);
});

Deno.test("TrialCalls.call() calls nothing that is off, unknown, unfit or not confirmed", async () => {
  const { call, recorded } = calls(() => Promise.reject(new Error("was called")));
  const refusals: [Promise<unknown>, string][] = [
    [call("off"), "TOOL_DISABLED"],
    [call("plane"), "TOOL_NOT_FOUND"],
    [call("plain", { n: "x" }), "INVALID_ARGUMENTS"],
    [call("erase"), "INVALID_ARGUMENTS"],
    [call("silent"), "INVALID_ARGUMENTS"],
  ];
  for (const [refused, code] of refusals) {
    await assert.rejects(refused, (error) => error instanceof GatewayError && error.code === code);
  }
  assert.equal(recorded.length, 0);
});

Deno.test("TrialCalls.call() keeps to what the caller's token allows, confirmed or not", async () => {
  const under = new Set<object>();
  const refused: string[] = [];
  let made = 0;
  const { call, recorded } = calls(
    () => {
      assert.equal(under.size, 1, "it counts while it is under way");
      return Promise.resolve({ id: ++made, text: resultText(made, "{}") });
    },
    {
      enterTrial({ tool, client, request }) {
        assert.equal(client.principal, "token:ada");
        if (tool.name === "erase") return Promise.reject(new GatewayError("ACCESS_DENIED"));
        under.add(request);
        return Promise.resolve(tool.name === "plain");
      },
      mustConfirm: () => false,
      refused: ({ subject, principal }) => void refused.push(`${subject} ${principal}`),
      ended: (request) => void under.delete(request),
    },
  );
  await assert.rejects(call("erase", {}, true), { code: "ACCESS_DENIED" });
  await assert.rejects(call("plain"), /may change data, and the call is not confirmed/);
  assert.deepEqual(refused, ["s.plain token:ada"], "a mode asked, and nobody agreed");
  await assert.rejects(call("silent"), /may change data, and the call is not confirmed/);
  assert.equal(refused.length, 1, "the form's own question is no refusal");
  assert.equal(recorded.length, 0);
  await call("plain", {}, true);
  assert.deepEqual([made, under.size], [1, 0]);
});

Deno.test("TrialCalls.call() records a call that the server did not answer, and says why", async () => {
  const { call, recorded } = calls(() =>
    Promise.reject(new DOMException("The signal has been aborted", "AbortError"))
  );
  await assert.rejects(call("erase", {}, true), /canceled before the server answered/);
  assert.equal(recorded[0]?.answer.isError, true);
  assert.match(recorded[0]?.answer.text ?? "", /canceled/);
});

Deno.test("riskOf() takes a tool for harmless only where it says so", () => {
  const risk = (annotations?: Record<string, unknown>) =>
    riskOf({
      definition: {
        name: "t",
        inputSchema: { type: "object" },
        ...(annotations === undefined ? {} : { annotations }),
      },
    });
  assert.equal(risk({ readOnlyHint: true }), undefined);
  assert.equal(risk({ readOnlyHint: true, destructiveHint: true }), undefined);
  assert.equal(risk({ destructiveHint: false }), undefined);
  assert.equal(risk({ destructiveHint: true }), "destroys");
  assert.equal(risk({ readOnlyHint: false }), "changes");
  assert.equal(risk({}), "changes");
  assert.equal(risk(), "changes");
});

Deno.test("TrialCalls.call() keeps few messages of the server, and of each no more than can be shown", async () => {
  const message = { kind: "notification" as const, method: "notifications/message", params: {} };
  const { call } = calls(({ onMessage }) => {
    for (let nth = 0; nth < 100; nth++) onMessage?.(`${nth} ${"x".repeat(90_000)}`, message);
    return Promise.resolve({ id: 7, text: resultText(7, "{}") });
  });
  const { messages } = await call("plain");
  assert.equal(messages.length, 20);
  assert.match(messages[19]!, /^19 x+…$/);
  for (const text of messages) assert.equal(text.length, 50_000);
});
