import assert from "node:assert/strict";
import { Logs } from "../telemetry/logs.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { callCounter, CallLog } from "./call_log.ts";

async function open(level: "info" | "debug" = "info") {
  const lines: Record<string, unknown>[] = [];
  const logs = await Logs.open({
    level,
    development: false,
    keepFiles: 1,
    console: (line) => lines.push(JSON.parse(line)),
  });
  let now = 0;
  const log = new CallLog(logs.module("http"), () => now);
  const write = (method: string, text = '{"result":{}}') =>
    log.write({
      endpoint: { key: "mcp?default" },
      message: { method, params: { name: "tool_execute" } },
      session: { id: "s", profile: { protocolVersion: "2025-11-25", capabilities: {} } },
      call: { server: "git", tool: "push" },
      answer: { text, started: 0, ms: 1.234 },
      correlationId: () => "c",
    });
  return { logs, lines, write, pass: (ms: number) => now += ms };
}

Deno.test("CallLog logs a call's server, tool, duration and outcome at info, at every endpoint", async () => {
  const { logs, lines, write } = await open();
  write("tools/call");
  write("tools/call", '{"result":{"isError":true}}');
  write("tools/list");
  assert.deepEqual(
    lines.map(({ level, server, tool, duration, outcome, endpoint }) => [
      ...[level, server, tool],
      ...[duration, outcome, endpoint],
    ]),
    [
      ["info", "git", "push", 1.23, "ok", "mcp?default"],
      ["info", "git", "push", 1.23, "error", "mcp?default"],
    ],
  );
  assert.deepEqual(logs.about.of("git"), [], "calls do not fill a server's own log");
});

Deno.test("CallLog writes some of many calls, and says how many it left out", async () => {
  const { lines, write, pass } = await open();
  for (let n = 0; n < 50; n++) write("tools/call");
  assert.equal(lines.length, 20);
  pass(1_000);
  write("tools/call");
  assert.equal(lines.at(-1)?.skipped, 30);
  const all = await open("debug");
  for (let n = 0; n < 50; n++) all.write("tools/call");
  assert.equal(all.lines.length, 50);
});

Deno.test("callCounter() counts calls by server, tool and outcome, and searches", async () => {
  const metrics = new Metrics();
  const count = callCounter(metrics);
  count({ server: "git", tool: "push" }, false, 10);
  count({ server: "git", tool: "push" }, true, 10);
  const search = { query: "x", found: [], isHit: false };
  count({ server: "(gateway)", tool: "tool_discovery", search }, false, 1);
  const text = await metrics.render();
  for (
    const line of [
      'quartermaster_tool_calls_total{server="git",tool="push",outcome="ok"} 1',
      'quartermaster_tool_calls_total{server="git",tool="push",outcome="error"} 1',
      'quartermaster_searches_total{tool="tool_discovery",outcome="nothing"} 1',
      'quartermaster_tool_call_seconds_count{server="git"} 2',
    ]
  ) assert.ok(text.includes(line), line);
});
