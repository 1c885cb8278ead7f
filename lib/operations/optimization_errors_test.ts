import assert from "node:assert/strict";
import { CANONICAL } from "../core/optimization.ts";
import { GatewayError } from "../core/errors.ts";
import { BUILTIN_NAMES } from "../mcp/builtin_names.ts";
import {
  draft,
  GOOD,
  openOptimization,
  PROMPTS,
  report,
} from "../mcp/testing/open_optimization.ts";

const FORECAST = { server: "weather", tool: "forecast" };

Deno.test("errors of optimization name no MCP tool: each entrance renders their next steps", async () => {
  await using opened = await openOptimization();
  const { admin, jobs } = opened;
  const { candidateId, promptIds: [promptId = ""] } = await draft(opened);
  const { signal } = new AbortController();
  const none = { directCount: 0, indirectCount: 0, negativeCount: 0 };
  const job = (options: Record<string, unknown>) =>
    jobs.start({ server: "weather", tools: ["forecast"], options, by: "person" });
  const attempts: (() => Promise<unknown>)[] = [
    () => admin.promote({ ...FORECAST, candidateId }, "caller"),
    () => admin.promote({ ...FORECAST, candidateId }, "person"),
    () => admin.promote({ ...FORECAST, candidateId: CANONICAL }, "caller"),
    () => admin.promote({ ...FORECAST, candidateId: "cand_none" }, "caller"),
    () => admin.promote({ server: "weather", tool: "alerts", candidateId }, "caller"),
    () => admin.propose({ ...FORECAST, description: GOOD }, "caller"),
    () => admin.propose({ ...FORECAST, description: "" }, "caller"),
    () => admin.propose({ server: "weather", tool: "none", description: GOOD }, "caller"),
    () => Promise.try(() => admin.canonicalTools("empty")),
    () => admin.results.list({ server: "weather", candidateId }),
    () => admin.results.list({ server: "weather", candidateId: "cand_none" }),
    () => admin.prompts.save({ ...FORECAST, prompts: [PROMPTS[0], PROMPTS[0]] }, "caller"),
    () => admin.prompts.edit({ ...FORECAST, id: "prompt_none" }),
    () => report(opened, "cand_none", promptId, true),
    () => report(opened, CANONICAL, "prompt_none", true),
    () => admin.revert(FORECAST, "caller"),
    () => admin.revert({ ...FORECAST, to: "promotion_none" }, "caller"),
    () => admin.keep({ server: "weather", tool: "forecast" }),
    () => admin.generatePrompts({ ...FORECAST, ...none }, undefined, signal),
    () => jobs.get("job_none"),
    () => job({ candidateIds: ["cand_none"] }),
    () => job({ depth: "deep" }),
  ];
  const names = new RegExp(`\\b(${BUILTIN_NAMES.join("|")}|maxRuns)\\b`);
  for (const [index, attempt] of attempts.entries()) {
    const error = await attempt().then(() => undefined, (error) => error);
    assert.ok(error instanceof GatewayError, `attempt ${index} was not refused: ${error}`);
    const { message, recoveryAction, recoverySteps, hint = "" } = error.toBody();
    for (const words of [message, recoveryAction, ...recoverySteps, hint]) {
      assert.doesNotMatch(words, names, error.message);
    }
  }
});
