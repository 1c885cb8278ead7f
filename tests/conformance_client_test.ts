import assert from "node:assert/strict";
import { listClientExtensions, runClientConformance } from "./conformance.ts";
import { EXTENSIONS, GatewayAsClient } from "./conformance_client.ts";

/** The suite wants a client document at an https address of its own choice. */
const ALLOWED = { "auth/basic-cimd": "WARNING cimd-client-id-used" };

/** These are passed by refusing the server, in words. */
const REFUSED: Record<string, RegExp> = {
  "auth/iss-normalized": /comes from a different authorization server/,
  "auth/iss-supported-missing": /does not name its issuer/,
  "auth/iss-unexpected": /comes from a different authorization server/,
  "auth/iss-wrong-issuer": /comes from a different authorization server/,
  "auth/metadata-issuer-mismatch": /identifies itself as another one/,
  "auth/resource-mismatch": /identifies itself as another server/,
  // The suite ends its server once the gateway has given up, maybe before the gateway says so.
  "auth/scope-retry-limit": /The logins do not help|Test is over/,
  // It lists a tool, and has none.
  "json-schema-ref-no-deref": /Method not found/,
};

/** How many scenarios were run, what did not succeed in them, and what the gateway did not do. */
async function run(requirements: "2025-11-25" | "2026-07-28") {
  await using client = await GatewayAsClient.start();
  const limits = { timeoutMs: 540_000, scenarioLimitMs: 480_000 };
  const results = await runClientConformance(client.command, { requirements, ...limits });
  const judged = results.filter(({ scenario }) => !EXTENSIONS.includes(scenario));
  const failed = judged.filter(({ verdict }) => verdict !== "passed").map((one) => [
    one.scenario,
    one.details.split("\n").filter((line) => !line.startsWith("SUCCESS")).join("\n"),
  ]);
  const { problems } = client;
  const surprises = [...problems].filter(([scenario, problem]) =>
    !REFUSED[scenario]?.test(problem)
  );
  return { count: judged.length, failed: Object.fromEntries(failed), surprises, problems };
}

Deno.test("only extensions that the suite does not score are left out", async () => {
  for (const requirements of ["2025-11-25", "2026-07-28"]) {
    assert.deepEqual(await listClientExtensions(requirements), EXTENSIONS);
  }
});

Deno.test("the gateway passes the conformance suite's scenarios for clients of 2025-11-25", async () => {
  const { count, failed, surprises } = await run("2025-11-25");
  assert.deepEqual(failed, ALLOWED);
  assert.deepEqual(surprises, []);
  assert.ok(count >= 19, `only ${count} scenarios were run`);
});

Deno.test("the gateway passes the conformance suite's scenarios for clients of 2026-07-28", async () => {
  const { count, failed, surprises, problems } = await run("2026-07-28");
  assert.deepEqual(failed, ALLOWED);
  assert.deepEqual(surprises, []);
  assert.deepEqual([...problems.keys()].sort(), Object.keys(REFUSED));
  assert.ok(count >= 33, `only ${count} scenarios were run`);
});
