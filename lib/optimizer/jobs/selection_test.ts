import assert from "node:assert/strict";
import { GatewayError } from "../../core/errors.ts";
import { readJobOptions, selectTools } from "./selection.ts";
import { WeatherSubjects } from "../testing/weather.ts";

const by = "person" as const;

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    return error.code;
  }
  return "none";
}

Deno.test("selectTools() selects named tools once each, a server, or everything", () => {
  const targets = new WeatherSubjects();
  const namesOf = (tools: { tool: string }[]) => tools.map(({ tool }) => tool);
  const named = selectTools(targets, {
    server: "weather",
    tools: ["get_alerts", "get_forecast", "get_alerts"],
    by,
  });
  assert.deepEqual(namesOf(named), ["get_alerts", "get_forecast"]);
  targets.disabled.add("list_stations");
  assert.deepEqual(namesOf(selectTools(targets, { server: "weather", by })), [
    "get_forecast",
    "get_alerts",
  ]);
  assert.equal(selectTools(targets, { all: true, by }).length, 2);
});

Deno.test("selectTools() refuses what cannot be optimized", () => {
  const targets = new WeatherSubjects();
  targets.disabled.add("get_alerts");
  const code = (request: object) => codeOf(() => selectTools(targets, { ...request, by }));
  assert.equal(code({ server: "weather", tools: ["get_alerts"] }), "TOOL_DISABLED");
  assert.equal(code({ server: "weather", tools: ["get_forecasts"] }), "TOOL_NOT_FOUND");
  assert.equal(code({ server: "nowhere" }), "TOOL_NOT_FOUND");
  assert.equal(code({ tools: ["get_forecast"] }), "INVALID_ARGUMENTS");
  assert.equal(code({ server: "weather", tools: [] }), "INVALID_ARGUMENTS");
  assert.equal(code({}), "INVALID_ARGUMENTS");
  assert.equal(code({ all: true, server: "weather" }), "INVALID_ARGUMENTS");
  for (const { tool } of targets.tools()) targets.disabled.add(tool);
  assert.equal(code({ server: "weather" }), "TOOL_DISABLED");
});

Deno.test("selectTools() names the tool that was probably meant", () => {
  try {
    selectTools(new WeatherSubjects(), { server: "weather", tools: ["get_forcast"], by });
    assert.fail();
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    assert.match(error.details.hint ?? "", /get_forecast/);
  }
});

Deno.test("readJobOptions() fills in the defaults and refuses what makes no sense", () => {
  const tools = selectTools(new WeatherSubjects(), { server: "weather", by });
  const options = readJobOptions({ by }, tools);
  assert.equal(options.candidatesPerTool, 4);
  assert.equal(options.thresholds.minOverall, 0.85);
  const code = (given: object) => codeOf(() => readJobOptions({ by, options: given }, tools));
  assert.equal(code({ repeats: 0 }), "INVALID_ARGUMENTS");
  assert.equal(code({ unknown: 1 }), "INVALID_ARGUMENTS");
  assert.equal(code({ candidateIds: ["one"] }), "INVALID_ARGUMENTS");
});
