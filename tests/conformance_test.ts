import assert from "node:assert/strict";
import { at, Endpoints } from "./combined_endpoints.ts";
import { runConformance, type ScenarioResult } from "./conformance.ts";
import { fixtureCommand, startHttpFixture } from "./fixtures/start_fixture.ts";

/** What the suite asks of each revision. */
const REVISIONS = [
  {
    requirements: "2025-11-25",
    fixture: "conformance_server",
    scenarios: 33,
    skipped: [],
  },
  {
    requirements: "2026-07-28",
    fixture: "conformance_stateless",
    scenarios: 50,
    // By the suite itself, whatever the server.
    skipped: ["tasks-status-notifications"],
  },
] as const;

/** Tools that the suite has the server of 2026-07-28 add, one after another. */
const ADDED = Array.from({ length: 20 }, (_, index) => `test.tool_${index + 1}`);

for (const { requirements, fixture, scenarios, skipped } of REVISIONS) {
  Deno.test(`${requirements}: every conformance scenario passes directly and through`, async (t) => {
    await using server = await startHttpFixture(fixture);
    const direct = await runConformance(server.url, { requirements });
    await t.step("directly", () => {
      assert.ok(direct.length >= scenarios, `only ${direct.length} scenarios were run`);
      const others = direct.filter(({ verdict }) => verdict !== "passed");
      assert.deepEqual(others.filter(({ verdict }) => verdict === "failed"), []);
      assert.deepEqual(others.map(({ scenario }) => scenario), skipped);
    });
    const program = (...flags: string[]) => ({ ...fixtureCommand(fixture, ["--stdio", ...flags]) });
    await using own = await Endpoints.open({ http: at(server), stdio: program() });
    // Aggregated endpoints put the server's name before a tool's: of the suite's names, nearly all
    // begin with `test_`, and one with `json_`.
    await using test = await startHttpFixture(fixture, ["--http", "--for=test"]);
    await using json = await startHttpFixture(fixture, ["--http", "--for=json"]);
    await using http = await Endpoints.open({ test: at(test), json: at(json) });
    const programs = { test: program("--for=test"), json: program("--for=json") };
    await using stdio = await Endpoints.open(programs);
    for (const gateway of [http, stdio]) {
      await gateway.build("test", ["test.*", ...ADDED, "json.schema_2020_12_tool"]);
    }
    const rounds: [name: string, url: string][][] = [
      [
        ["its own endpoint, over HTTP", `${own.url}/servers/http/mcp?names=original`],
        ["its own endpoint, over stdio", `${own.url}/servers/stdio/mcp?names=original`],
      ],
      [
        ["/mcp, over HTTP", `${http.url}/mcp?expose=all`],
        ["a toolset endpoint, over stdio", `${stdio.url}/toolsets/test/mcp`],
      ],
      [
        ["/mcp, over stdio", `${stdio.url}/mcp?expose=all`],
        ["a toolset endpoint, over HTTP", `${http.url}/toolsets/test/mcp`],
      ],
    ];
    // Two at a time, because the suite gives some answers no more than 600 ms, and not two of one
    // server, because it has changes made to lists, and would see the other's.
    for (const round of rounds) {
      const runs = await Promise.all(round.map(async ([name, url]) => {
        return { name, through: await runConformance(url, { requirements }) };
      }));
      for (const { name, through } of runs) {
        await t.step(`through ${name}`, () => assert.deepEqual(judged(through), judged(direct)));
      }
    }
  });
}

/** All checks of each scenario; where a server may choose between JSON and a stream, the verdict. */
function judged(results: ScenarioResult[]): unknown[] {
  return results.map(({ scenario, verdict, details }) =>
    scenario.startsWith("server-sse-") ? { scenario, verdict } : { scenario, verdict, details }
  );
}
