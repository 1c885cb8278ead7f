import assert from "node:assert/strict";
import { GoldenPrompt } from "../../core/optimization.ts";
import { holds, scoreRun } from "./scoring.ts";

const tools = ["get_forecast", "get_alerts"].map((tool) => ({
  name: `weather_${tool}`,
  server: "weather",
  tool,
  text: JSON.stringify({
    name: `weather_${tool}`,
    inputSchema: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer" } },
      required: ["city"],
    },
  }),
}));

function score(
  expected: { call?: Record<string, unknown>; sibling?: string },
  calls: Record<string, unknown>,
  isStrict = false,
) {
  const { call, sibling } = expected;
  const prompt = GoldenPrompt.parse({
    id: "p1",
    version: 1,
    server: "weather",
    toolName: "get_forecast",
    category: call ? "direct" : "negative",
    prompt: "Will it rain in Rome?",
    expectedBehavior: {
      shouldCallTool: call !== undefined,
      ...(call && Object.keys(call).length > 0 ? { expectedArguments: call } : {}),
      ...(sibling === undefined ? {} : { expectedTool: sibling }),
    },
    createdAt: "2026-01-01T00:00:00.000Z",
    origin: "person",
  });
  const made = Object.entries(calls).map(([name, given]) => ({
    name: `weather_${name}`,
    arguments: given,
  }));
  const { correct, arguments: fit } = scoreRun(prompt, {
    ...{ calls: made, target: "weather_get_forecast", server: "weather", tools, isStrict },
  });
  return [correct, fit];
}

Deno.test("scoreRun() counts arguments where a prompt states them", () => {
  const call = { city: "Rome" };
  assert.deepEqual(score({ call }, { get_forecast: { city: " rome ", days: 2 } }), [true, "valid"]);
  assert.deepEqual(score({ call }, { get_forecast: { city: "Oslo" } }), [false, "unexpected"]);
  assert.deepEqual(score({ call }, { get_alerts: call }), [false, undefined]);
});

Deno.test("scoreRun() records arguments that do not fit the schema, and counts them if strict", () => {
  const wrong = { get_forecast: { town: "Rome" } };
  assert.deepEqual(score({ call: {} }, wrong), [true, "invalid"]);
  assert.deepEqual(score({ call: {} }, wrong, true), [false, "invalid"]);
  assert.deepEqual(score({ call: {} }, { get_forecast: { city: "Rome" } }, true), [true, "valid"]);
});

Deno.test("scoreRun() wants the named sibling to be called only if strict", () => {
  const sibling = "get_alerts";
  assert.deepEqual(score({ sibling }, {}), [true, undefined]);
  assert.deepEqual(score({ sibling }, {}, true), [false, undefined]);
  assert.deepEqual(score({ sibling }, { get_alerts: {} }, true), [true, undefined]);
  assert.deepEqual(score({ sibling }, { get_alerts: {}, get_forecast: {} }, true), [
    false,
    undefined,
  ]);
  // One that the model was not shown cannot be called.
  assert.deepEqual(score({ sibling: "shop.get_alerts" }, {}, true), [true, undefined]);
});

Deno.test("scoreRun() counts calls of other tools beside the right one as a failure only if strict", () => {
  const both = { get_forecast: { city: "Rome" }, get_alerts: {} };
  assert.deepEqual(score({ call: {} }, both), [true, "valid"]);
  assert.deepEqual(score({ call: {} }, both, true), [false, "valid"]);
  const others = { get_alerts: {}, list_stations: {} };
  assert.deepEqual(score({ sibling: "get_alerts" }, others), [true, undefined]);
  assert.deepEqual(score({ sibling: "get_alerts" }, others, true), [false, undefined]);
  assert.deepEqual(
    score({}, others, true),
    [true, undefined],
    "any other tool may be the right one",
  );
});

Deno.test("holds() takes objects as subsets, lists as they are, and texts but for case and space", () => {
  assert.ok(holds({ a: { b: "X  y" } }, { a: { b: "x Y", c: 1 }, d: 2 }));
  assert.ok(holds([1, { a: 1 }], [1, { a: 1, b: 2 }]));
  assert.ok(!holds([1], [1, 2]));
  assert.ok(!holds({ a: 1 }, { a: "1" }));
  assert.ok(!holds({ a: null }, {}));
});
