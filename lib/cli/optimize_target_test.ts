import assert from "node:assert/strict";
import { NamedTools } from "./find_tool.ts";
import { targetOf } from "./optimize_target.ts";

const tool = (server: string, name: string) => ({
  server,
  name,
  enabled: true,
  definition: { name, inputSchema: { type: "object" as const } },
});

const KNOWN = {
  servers: ["weather", "git", "away"],
  tools: new NamedTools({
    tools: [
      tool("weather", "get_forecast"),
      tool("weather", "get_alerts"),
      tool("git", "status.all"),
      tool("git", "log"),
    ],
    maxNameLength: 60,
  }),
};

const target = (...words: string[]) => targetOf(words, false, KNOWN);

Deno.test("targetOf() takes everything, a server, or tools by any of their names", () => {
  assert.deepEqual(targetOf([], true, KNOWN), { all: true });
  assert.deepEqual(target("weather"), { server: "weather" });
  assert.deepEqual(target("away"), { server: "away" });
  assert.deepEqual(target("weather.get_forecast", "weather_get_alerts", "get_forecast"), {
    server: "weather",
    tools: ["get_forecast", "get_alerts"],
  });
  assert.deepEqual(target("git:log"), { server: "git", tools: ["log"] });
  assert.deepEqual(target("git.status.all"), { server: "git", tools: ["status.all"] });
});

Deno.test("targetOf() says what it does not understand", () => {
  assert.throws(() => target(), /optimize run needs to know what to optimize/);
  assert.throws(() => targetOf(["git"], true, KNOWN), /not --all and "git"/);
  assert.throws(() => target("git.log", "weather"), /not "weather" among others/);
  assert.throws(() => target("weather.get_alerts", "log"), /one server at a time.*weather and git/);
  assert.throws(() => target("weather.get_forcast"), { code: "TOOL_NOT_FOUND" });
  assert.throws(() => target("nonsense"), { code: "TOOL_NOT_FOUND" });
});
