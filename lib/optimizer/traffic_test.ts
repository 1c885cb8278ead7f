import assert from "node:assert/strict";
import type { ActivityRecord } from "../storage/activity_repository.ts";
import type { CallMark } from "../storage/traffic_repository.ts";
import { failuresAround, proposalsFrom } from "./traffic.ts";

let at = 1_000;
const base = { endpoint: "/mcp", session: "s", principal: "p", ms: 1 };
const search = (id: string, query: string, found: string[] = ["forecast"], isHit = true) => ({
  ...base,
  id,
  at: at++,
  server: "quartermaster",
  tool: "tool_discovery",
  ok: true,
  search: {
    query,
    found: found.map((tool) => ({ server: "weather", tool, relevance: 0.5 })),
    count: found.length,
    isHit,
  },
});
const call = (
  id: string,
  tool: string,
  more: Partial<ActivityRecord> = {},
): ActivityRecord => ({ ...base, id, at: at++, server: "weather", tool, ok: true, ...more });

const NONE = new Map<string, CallMark>();
const brief = (records: ActivityRecord[], marks = NONE) =>
  proposalsFrom(records, marks).map(({ tool, category, prompt, expectedTool, source }) =>
    [tool, category, prompt, expectedTool ?? "", source].join("|")
  );

Deno.test("proposalsFrom() takes the query of a search that led to a call, once", () => {
  const records = [
    search("s1", "will it rain tomorrow"),
    call("c1", "forecast", { searchId: "s1" }),
    search("s2", "Will it  rain tomorrow"),
    call("c2", "forecast", { searchId: "s2" }),
    search("s3", "the forecast of Oslo"),
    call("c3", "forecast", { searchId: "s3" }),
    search("s4", "short"),
    call("c4", "forecast", { searchId: "s4" }),
    call("c5", "alerts"),
  ];
  const proposals = proposalsFrom(records, NONE);
  assert.deepEqual(brief(records), [
    "forecast|direct|the forecast of Oslo||search",
    "forecast|indirect|Will it  rain tomorrow||search",
  ]);
  assert.deepEqual(proposals.map(({ count, callId }) => [count, callId]), [[1, "c3"], [2, "c2"]]);
});

Deno.test("proposalsFrom() labels what failed first, what was refused and what was not found", () => {
  const records = [
    search("s1", "is there a storm warning"),
    call("c1", "forecast", { searchId: "s1", ok: false, error: "TIMEOUT" }),
    call("c2", "alerts", { searchId: "s1" }),
    search("s2", "how cold does it get"),
    call("c3", "forecast", { searchId: "s2", ok: false, error: "INVALID_ARGUMENTS" }),
    search("s3", "book me a flight home", ["alerts"], false),
    search("s4", "found but never called", ["alerts"], true),
  ];
  assert.deepEqual(brief(records).sort(), [
    "alerts|indirect|book me a flight home||missed",
    "alerts|indirect|is there a storm warning||retry",
    "forecast|indirect|how cold does it get||refused",
    "forecast|negative|is there a storm warning|alerts|retry",
  ]);
});

Deno.test("proposalsFrom() believes a mark more than a call that succeeded", () => {
  const records = [
    search("s1", "is there a storm warning"),
    call("c1", "forecast", { searchId: "s1" }),
    call("c2", "forecast"),
  ];
  const marked = { at, server: "weather", tool: "forecast", by: "person" as const };
  const marks = new Map([
    ["c1", { ...marked, callId: "c1", rightTool: "weather.alerts" }],
    ["c2", { ...marked, callId: "c2" }],
  ]);
  assert.deepEqual(brief(records, marks).sort(), [
    "alerts|indirect|is there a storm warning||mark",
    "forecast|negative|is there a storm warning|alerts|mark",
    "forecast|negative|||mark",
  ]);
});

Deno.test("failuresAround() counts by day, and on both sides of a promotion", () => {
  const day = 86_400_000;
  const records = [
    call("c1", "forecast", { at: day, ok: false }),
    call("c2", "forecast", { at: day + 5 }),
    call("c3", "forecast", { at: 2 * day }),
  ];
  assert.deepEqual(failuresAround(records, day + 5), {
    days: [{ day: "1970-01-03", calls: 1, errors: 0 }, { day: "1970-01-02", calls: 2, errors: 1 }],
    before: { calls: 1, errors: 1 },
    after: { calls: 2, errors: 0 },
  });
});
