import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { OptimizationJob } from "../core/optimization.ts";
import { agreeOnJob } from "./optimize_start.ts";

const time = new Date(0).toISOString();
const JOB = OptimizationJob.parse({
  id: "job_1",
  status: "running",
  phase: "queued",
  options: {},
  tools: [],
  createdAt: time,
  updatedAt: time,
  by: "person",
});
const ESTIMATE = "1 tool, about 8 s, cost not known: a guess\n";

/** Writes down what was asked of a gateway and said to the person, in order. */
function recorder(
  { enabled = true, problem = null, refusal }: {
    enabled?: boolean;
    problem?: string | null;
    refusal?: GatewayError;
  } = {},
) {
  const seen: string[] = [];
  const evaluator = { kind: null, model: null, problem };
  return {
    seen,
    say: (text: string) => void seen.push(text),
    asked: (answer: boolean) => () => (seen.push("asked"), answer),
    optimization: {
      estimate: () =>
        Promise.resolve({ tools: 1, runs: 1, seconds: 8, costUsd: null, basis: "a guess" }),
      overview: () => Promise.resolve({ enabled, evaluator, reports: [] }),
      start() {
        if (refusal) return Promise.reject(refusal);
        seen.push("started");
        return Promise.resolve(JOB);
      },
    },
  };
}

const REQUEST = { all: true, options: {} };

Deno.test("agreeOnJob() says what it would take and asks before it starts", async () => {
  const { seen, asked, ...given } = recorder();
  const start = await agreeOnJob(REQUEST, { ...given, ask: asked(true) });
  assert.equal(await start(), JOB);
  assert.deepEqual(seen, [ESTIMATE, "asked", "started"]);
});

Deno.test("agreeOnJob() starts nothing where the answer is no", async () => {
  const { seen, asked, ...given } = recorder();
  const agreeing = agreeOnJob(REQUEST, { ...given, ask: asked(false) });
  await assert.rejects(agreeing, /Nothing was started/);
  assert.deepEqual(seen, [ESTIMATE, "asked"]);
});

Deno.test("agreeOnJob() says no estimate and asks nothing where it cannot start", async () => {
  for (
    const [input, code] of [
      [{ enabled: false }, "OPTIMIZATION_DISABLED"],
      [{ problem: "Cannot evaluate: no claude" }, "CANNOT_EVALUATE"],
    ] as const
  ) {
    const { seen, asked, ...given } = recorder(input);
    await assert.rejects(agreeOnJob(REQUEST, { ...given, ask: asked(true) }), { code });
    assert.deepEqual(seen, []);
  }
});

Deno.test("agreeOnJob() without a question says the estimate only of what has started", async () => {
  const { seen, asked: _, ...given } = recorder();
  await (await agreeOnJob(REQUEST, given))();
  assert.deepEqual(seen, ["started", ESTIMATE]);
  const refusal = new GatewayError("OPERATION_IN_PROGRESS");
  const { seen: none, asked: __, ...busy } = recorder({ refusal });
  await assert.rejects(await agreeOnJob(REQUEST, busy), refusal);
  assert.deepEqual(none, []);
});
