import assert from "node:assert/strict";
import { runClientConformance, type ScenarioResult } from "./conformance.ts";
import { EXTENSIONS, GatewayAsClient } from "./conformance_client.ts";

/** It takes an https address of the suite's own choice for the gateway's client document. */
const WARNS = "auth/basic-cimd";

/** The scenarios that judge what a server of 2026-07-28 is sent. */
const STATELESS = [
  "auth/authorization-server-migration",
  "auth/scope-retry-limit",
  "auth/scope-step-up",
  "http-custom-headers",
  "http-standard-headers",
  "json-schema-2020-12-preservation",
  "request-metadata",
  "sep-2322-client-request-state",
  "tools_call",
];

const LIMITS = { timeoutMs: 540_000, scenarioLimitMs: 480_000 };

/** The scenarios that a client has to pass, with what did not succeed in them. */
function failures(results: ScenarioResult[], left: string[] = []): Record<string, string> {
  const judged = results.filter(({ scenario, verdict }) =>
    verdict !== "passed" && !EXTENSIONS.test(scenario) && !left.includes(scenario)
  );
  return Object.fromEntries(judged.map(({ scenario, details }) => [
    scenario,
    details.split("\n").filter((line) => !line.startsWith("SUCCESS")).join("\n"),
  ]));
}

Deno.test("the gateway passes the conformance suite's scenarios for clients", async (t) => {
  await using client = await GatewayAsClient.start();
  const allowed = { [WARNS]: "WARNING cimd-client-id-used" };
  await t.step("of 2025-11-25", async () => {
    const results = await runClientConformance(client.command, LIMITS);
    assert.ok(results.length >= 25, `only ${results.length} scenarios were run`);
    assert.deepEqual(failures(results), allowed);
  });
  await t.step("of 2026-07-28", async () => {
    const requirements = "2026-07-28";
    const results = await runClientConformance(client.command, { ...LIMITS, requirements });
    assert.ok(results.length >= 39, `only ${results.length} scenarios were run`);
    assert.deepEqual(failures(results, STATELESS), allowed);
  });
});
