import assert from "node:assert/strict";
import { join } from "@std/path";
import { runConformance, type ScenarioResult } from "./conformance.ts";
import { fixtureCommand, startHttpFixture } from "./fixtures/start_fixture.ts";
import { startGateway } from "./gateway.ts";

/** What the suite asks of each revision, and the scenarios that it does not try itself. */
const REVISIONS = [
  {
    requirements: "2025-11-25",
    fixture: "conformance_server",
    scenarios: 33,
    skipped: [],
    through: ["http", "stdio"],
  },
  {
    requirements: "2026-07-28",
    fixture: "conformance_stateless",
    scenarios: 50,
    skipped: ["tasks-status-notifications"],
    through: [],
  },
] as const;

for (const { requirements, fixture, scenarios, skipped, through } of REVISIONS) {
  Deno.test(`${requirements}: every conformance scenario passes directly and through the endpoint`, async (t) => {
    await using server = await startHttpFixture(fixture);
    const direct = await runConformance(server.url, { requirements });
    await t.step("directly", () => {
      assert.ok(direct.length >= scenarios, `only ${direct.length} scenarios were run`);
      const others = direct.filter(({ verdict }) => verdict !== "passed");
      assert.deepEqual(others.filter(({ verdict }) => verdict === "failed"), []);
      assert.deepEqual(others.map(({ scenario }) => scenario), skipped);
    });

    const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
    await Deno.writeTextFile(
      join(folder, ".mcp.json"),
      JSON.stringify({
        mcpServers: {
          http: { type: "http", url: server.url },
          stdio: fixtureCommand(fixture, ["--stdio"]),
        },
      }),
    );
    await using gateway = await startGateway([], { cwd: folder });
    const runs = await Promise.all(through.map(async (name) => {
      const url = `${gateway.url}/servers/${name}/mcp?names=original`;
      return { name, results: await runConformance(url, { requirements }) };
    }));
    for (const { name, results } of runs) {
      await t.step(`through /servers/${name}/mcp`, () => {
        assert.deepEqual(judged(results), judged(direct));
      });
    }
    await gateway.stop();
    await Deno.remove(folder, { recursive: true });
  });
}

/** All checks of each scenario; where a server may choose between JSON and a stream, the verdict. */
function judged(results: ScenarioResult[]): unknown[] {
  return results.map(({ scenario, verdict, details }) =>
    scenario.startsWith("server-sse-") ? { scenario, verdict } : { scenario, verdict, details }
  );
}
