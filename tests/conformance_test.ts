import assert from "node:assert/strict";
import { join } from "@std/path";
import { runConformance, type ScenarioResult } from "./conformance.ts";
import { fixtureCommand, startHttpFixture } from "./fixtures/start_fixture.ts";
import { startGateway } from "./gateway.ts";

Deno.test("every conformance scenario that passes directly passes through the endpoint", async (t) => {
  await using fixture = await startHttpFixture("conformance_server");
  const direct = await runConformance(fixture.url);
  assert.ok(direct.length >= 33, `only ${direct.length} scenarios were run`);
  assert.deepEqual(direct.filter(({ passed }) => !passed), []);

  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  await Deno.writeTextFile(
    join(folder, ".mcp.json"),
    JSON.stringify({
      mcpServers: {
        http: { type: "http", url: fixture.url },
        stdio: fixtureCommand("conformance_server", ["--stdio"]),
      },
    }),
  );
  await using gateway = await startGateway([], { cwd: folder });
  for (const server of ["http", "stdio"]) {
    await t.step(`over ${server}`, async () => {
      const through = await runConformance(`${gateway.url}/servers/${server}/mcp?names=original`);
      assert.deepEqual(judged(through), judged(direct));
    });
  }
  await gateway.stop();
  await Deno.remove(folder, { recursive: true });
});

/** All checks of each scenario; where a server may choose between JSON and a stream, the verdict. */
function judged(results: ScenarioResult[]): unknown[] {
  return results.toSorted((a, b) => a.scenario < b.scenario ? -1 : 1).map((
    { scenario, passed, details },
  ) => scenario.startsWith("server-sse-") ? { scenario, passed } : { scenario, passed, details });
}
