import assert from "node:assert/strict";
import type { Gateway } from "../../../../lib/gateway.ts";
import { stubGateway } from "../../../../lib/console/testing/stub_gateway.ts";
import { ActivityRepository } from "../../../../lib/storage/activity_repository.ts";
import { Store } from "../../../../lib/storage/store.ts";
import { ActivityLog } from "../../../../lib/telemetry/activity_log.ts";
import { ActivityReader } from "../../../../lib/telemetry/activity_reader.ts";
import { CallDetails } from "../../../../lib/telemetry/call_recorder.ts";
import { Redactor } from "../../../../lib/telemetry/redact.ts";
import { activityPage, callPage, promptOf, timelineOf } from "./model.ts";

const CALL = {
  endpoint: "mcp?default",
  session: "s",
  principal: "everyone",
  ms: 3,
  client: "cursor 1",
};

async function openActivity() {
  const store = await Store.open({ location: ":memory:" });
  const repository = new ActivityRepository(store);
  const log = new ActivityLog({ repository, processId: "a", onWarning: assert.fail });
  const details = new CallDetails({});
  const calls = new ActivityReader({ repository, log, details, redactor: new Redactor() });
  const tools = [{ name: "a/b" }, { name: "status" }, { name: "log" }, { name: "x", isOff: true }];
  const { options, toolDirectory, callStats } = stubGateway({
    servers: [{ name: "git", tools }, { name: "air", tools: [{ name: "quality" }] }],
  });
  const gateway: Pick<Gateway, "calls" | "options" | "toolDirectory" | "callStats"> = {
    calls,
    options,
    toolDirectory,
    callStats,
  };
  return {
    log,
    details,
    gateway,
    async [Symbol.asyncDispose]() {
      await log[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

Deno.test("activityPage() has a page of the newest, and filters with what calls had", async () => {
  await using open = await openActivity();
  const { log, gateway } = open;
  for (let nth = 0; nth < 150; nth++) {
    log.record({ ...CALL, server: nth % 2 ? "git" : "air", tool: `t${nth % 3}`, ok: nth !== 149 });
  }
  const page = await activityPage(gateway, new URLSearchParams());
  assert.deepEqual([page.rows.length, page.hasOlder, page.rows[0]?.ok], [100, true, false]);
  assert.deepEqual(page.choices.server, [{ value: "air", count: 75 }, { value: "git", count: 75 }]);
  const before = page.rows.at(-1)!.id;
  const older = await activityPage(gateway, new URLSearchParams({ before }));
  assert.deepEqual([older.rows.length, older.hasOlder, older.isOlder], [50, false, true]);
  const query = new URLSearchParams("server=git&status=error&q=+t2&client=&endpoint=nowhere");
  const filtered = await activityPage(gateway, query);
  assert.deepEqual(filtered.query, {
    server: "git",
    endpoint: "nowhere",
    status: "error",
    q: "t2",
  });
  assert.deepEqual([filtered.rows, filtered.hasCalls], [[], true]);
  assert.deepEqual(filtered.choices.endpoint.map(({ value }) => value), ["mcp?default", "nowhere"]);
});

Deno.test("callPage() says what is remembered, and leads to a prompt from the arguments", async () => {
  await using open = await openActivity();
  const { log, details, gateway } = open;
  const call = log.record({ ...CALL, server: "git", tool: "a/b", ok: true });
  const forgotten = await callPage(gateway, call.id);
  assert.equal(forgotten?.view, undefined);
  assert.deepEqual(forgotten?.judge?.wrongTool, {
    action: "/optimization/git/a%2Fb",
    fields: { tab: "prompts", category: "negative" },
    others: ["log", "status"],
  });
  const params = { name: "a/b", arguments: { path: "READ\nME", limit: 5 } };
  details.add(call, { request: JSON.stringify({ params }), response: "{}" });
  const page = await callPage(gateway, call.id);
  const query = new URL(page!.judge!.rightTool, "http://x").searchParams;
  assert.deepEqual([...query], [
    ["tab", "prompts"],
    ["prompt", "path: READ ME, limit: 5"],
    ["category", "direct"],
  ]);
  assert.equal(await callPage(gateway, "none"), undefined);
});

Deno.test("promptOf() is short whatever the arguments are", () => {
  const long = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`n${n}`, "x".repeat(900)]));
  assert.equal(promptOf(long).length, 600);
  assert.equal(promptOf({}), "");
});

Deno.test("timelineOf() draws the server's time where it was", () => {
  const call = { ...CALL, id: "a", at: 0, server: "git", tool: "t", ok: true, ms: 10 };
  const [client, gateway, server] = timelineOf({ ...call, beforeMs: 2, serverMs: 6 });
  assert.deepEqual([client?.stretches, client?.text], [[{ start: 0, share: 1 }], "waited 10 ms"]);
  assert.deepEqual(server?.stretches, [{ start: 0.2, share: 0.6 }]);
  assert.equal(gateway?.text, "2.0 ms before the server, 2.0 ms after");
  assert.equal(timelineOf(call).length, 2);
  for (const { stretches } of timelineOf({ ...call, beforeMs: 90, serverMs: 60 })) {
    for (const { start, share } of stretches) {
      assert.ok(start >= 0 && share >= 0 && start + share <= 1, `${start} ${share}`);
    }
  }
});
