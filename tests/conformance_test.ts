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

/** The endpoints, and the scenarios that cannot be tried there. */
const PLACES = [
  { gateway: "servers", path: "/servers/http/mcp?names=original", except: /^$/ },
  { gateway: "servers", path: "/servers/stdio/mcp?names=original", except: /^$/ },
  // Aggregated endpoints put the server's name before a tool's. The fixture `test` leaves out its
  // `test_`, so that its tools have the suite's names there, but for the one without a `test_`.
  { gateway: "mcp", path: "/mcp?expose=all", except: /^json-schema-2020-12$/ },
  // A toolset does not take in the tool that the server adds meanwhile.
  {
    gateway: "toolsets",
    path: "/toolsets/test/mcp",
    except: /^(json-schema-2020-12|server-stateless)$/,
  },
] as const;

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
    const stdio = { ...fixtureCommand(fixture, ["--stdio"]) };
    await using servers = await Endpoints.open({ http: at(server), stdio });
    // The suite has changes made to lists: two runs at once would see each other's.
    const short = ["--http", "--short-names"];
    await using forAll = await startHttpFixture(fixture, short);
    await using forToolset = await startHttpFixture(fixture, short);
    await using all = await Endpoints.open({ test: at(forAll) });
    await using toolset = await Endpoints.open({ test: at(forToolset) });
    await toolset.build("test", ["test.*"]);
    const gateways = { servers, mcp: all, toolsets: toolset };
    // Two at a time: the suite gives some answers no more than 600 ms.
    for (const places of [PLACES.slice(0, 2), PLACES.slice(2)]) {
      const runs = await Promise.all(places.map(async ({ gateway, path, except }) => {
        const url = `${gateways[gateway].url}${path}`;
        return { path, except, through: await runConformance(url, { requirements }) };
      }));
      for (const { path, except, through } of runs) {
        await t.step(`through ${path}`, () => {
          const isTried = ({ scenario }: ScenarioResult) => !except.test(scenario);
          assert.deepEqual(judged(through.filter(isTried)), judged(direct.filter(isTried)));
        });
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
