import assert from "node:assert/strict";
import type { AuditedChange } from "../../core/access.ts";
import { JobBench } from "../testing/job_bench.ts";
import { hang, ScriptedEvaluator } from "../testing/scripted_evaluator.ts";

Deno.test("OptimizationJobs tells the audit log what somebody decides about a job, each once", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts();
  await bench.saveCandidate("good");
  const audited: AuditedChange[] = [];
  const evaluator = new ScriptedEvaluator((_asked, run) => hang(run));
  const jobs = bench.gateway("one", {
    evaluator: () => Promise.resolve(evaluator),
    onAudit: (change) => void audited.push(change),
  });
  const { id } = await jobs.start({
    server: "weather",
    tools: ["get_forecast"],
    options: { candidateIds: ["good"], autoPromote: false },
    by: "person",
  });
  await jobs.pause(id);
  await jobs.pause(id);
  await jobs.resume(id);
  await jobs.cancel(id);
  await assert.rejects(jobs.pause(id), /already/);
  await assert.rejects(jobs.cancel("job_none"), /There is no optimization job/);
  assert.deepEqual(
    audited.map(({ action, subject }) => [action, subject]),
    ["start", "pause", "resume", "cancel"].map((done) => [
      `optimization.${done}`,
      "weather.get_forecast",
    ]),
  );
  assert.deepEqual(audited[0]?.after, {
    job: id,
    tools: 1,
    autoPromote: false,
    maxCostUsd: undefined,
  });
});
