import assert from "node:assert/strict";
import { JobBench } from "../testing/job_bench.ts";
import { ended } from "../testing/job_waits.ts";
import { type Script, ScriptedEvaluator } from "../testing/scripted_evaluator.ts";
import { mostJointRuns } from "./joint.ts";

const request = {
  server: "weather",
  tools: ["get_forecast", "get_alerts"],
  by: "person" as const,
  options: { depth: "thorough" as const, rounds: 1 },
};

/** A tool with a good description gets the prompts about it; two of them may disturb each other. */
function modelOf(isDisturbed: boolean): Script {
  return ({ prompt }, { tools }) => {
    const about = /weather/.test(prompt)
      ? "get_forecast"
      : /get_alerts|given it/.test(prompt)
      ? "get_alerts"
      : "";
    const good = tools.filter(({ text }) => text.includes("GOOD"));
    const found = good.find(({ tool }) => tool === about);
    // Both are called for what neither is meant for.
    if (isDisturbed && good.length > 1) return good.map(({ name }) => name);
    return found ? [found.name] : [];
  };
}

async function jobOf(isDisturbed: boolean) {
  await using bench = await JobBench.open();
  const jobs = bench.gateway("one", {
    evaluator: () => Promise.resolve(new ScriptedEvaluator(modelOf(isDisturbed))),
  });
  const most = await jobs.estimate(request);
  const job = await ended(jobs, await jobs.start(request));
  assert.ok(job.runs <= most.runs, `${job.runs} of ${most.runs}`);
  return job;
}

Deno.test("a job tests the promotions of a server together, over the prompts of all its tools", async () => {
  const job = await jobOf(false);
  const [joint, ...others] = job.joint ?? [];
  assert.deepEqual(others, []);
  assert.deepEqual(joint?.tools, ["get_forecast", "get_alerts"]);
  assert.deepEqual([joint?.after, joint?.isHarmful], [{ correct: 24, total: 24 }, false]);
  assert.equal(joint?.before.correct, 8, "only the negative ones");
  assert.match(
    job.note ?? "",
    /^All 2 promoted descriptions of weather together: 33 % -> 100 % of 24 prompts, \+\d+.*interval/,
  );
});

Deno.test("a job says if promotions do worse together, and what to revert", async () => {
  const job = await jobOf(true);
  assert.equal(job.tools.filter((tool) => tool.promotedCandidateId).length, 2);
  const [joint] = job.joint ?? [];
  // All of their own prompts are right now, and none of the others.
  assert.deepEqual([joint?.before.correct, joint?.after.correct], [8, 16]);
  assert.equal(joint?.isHarmful, true);
  assert.match(job.note ?? "", /Together they do harm.*: revert get_forecast, get_alerts, or test/);
});

Deno.test("mostJointRuns() counts servers with several tools", () => {
  const [one, two] = [{ server: "a" }, { server: "b" }];
  assert.equal(mostJointRuns([one, two]), 0);
  assert.equal(mostJointRuns([one, one, two]), 2 * 2 * 12);
  assert.equal(mostJointRuns(Array.from({ length: 40 }, () => one)), 2 * 120);
});
