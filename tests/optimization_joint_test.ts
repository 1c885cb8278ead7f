import assert from "node:assert/strict";
import { join } from "@std/path";
import { JobTool, newId, OptimizationJob } from "../lib/core/optimization.ts";
import { Promotions } from "../lib/optimizer/promotions.ts";
import { JobsRepository } from "../lib/storage/jobs_repository.ts";
import { PromotionsRepository } from "../lib/storage/promotions_repository.ts";
import { Store } from "../lib/storage/store.ts";
import { startGateway } from "./gateway.ts";

const SERVER = "library";

/** A job that promoted for three tools, of which somebody promoted another candidate for one since. */
async function saveJob(location: string): Promise<OptimizationJob> {
  const now = new Date().toISOString();
  const tools = ["find_books", "list_loans", "reserve"];
  const joint = {
    server: SERVER,
    tools,
    before: { correct: 24, total: 36 },
    after: { correct: 12, total: 36 },
    gain: { mean: -0.33, low: -0.6, high: -0.1, prompts: 36 },
    isHarmful: true,
  };
  const job = OptimizationJob.parse({
    id: newId("job"),
    status: "completed",
    phase: "complete",
    options: {},
    tools: tools.map((toolName) =>
      JobTool.parse({
        server: SERVER,
        toolName,
        phase: "complete",
        evaluationId: `evaluation-${toolName}`,
        promotedCandidateId: `of-${toolName}`,
      })
    ),
    createdAt: now,
    updatedAt: now,
    endedAt: now,
    joint: [joint],
    by: "person",
  });
  await using store = await Store.open({ location });
  await new JobsRepository(store).save(job, null);
  const promotions = new Promotions({
    repository: new PromotionsRepository(store),
    canonical: () => "Gets data.",
    onChange: () => {},
  });
  for (const toolName of tools) {
    const candidateId = toolName === "reserve" ? "somebody's" : `of-${toolName}`;
    await promotions.promote({
      server: SERVER,
      toolName,
      candidateId,
      description: `Does ${toolName}.`,
      by: "job",
      ...(toolName === "list_loans" ? { family: "gpt" } : {}),
    });
  }
  return job;
}

Deno.test("the page of a job reverts its promotions that did worse together, and no other", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_joint_" });
  try {
    const location = join(dataDir, "quartermaster.kv");
    const job = await saveJob(location);
    await using gateway = await startGateway([], { dataDir });
    const page = `${gateway.url}/optimization/~jobs/${job.id}`;
    const shown = async () => (await fetch(page)).text();
    const before = await shown();
    assert.match(before, /Together they do harm/);
    assert.match(before, /Revert 2 promotions/);
    assert.match(before, /list_loans[^]{0,80}\(gpt\)/);
    const response = await fetch(`${page}/revert`, { method: "POST", redirect: "manual" });
    await response.body?.cancel();
    assert.equal(response.status, 303);
    const after = await shown();
    assert.match(after, /Together they do harm/);
    assert.doesNotMatch(after, /Revert \d promotion/);
    await gateway.stop();
    await using store = await Store.open({ location });
    const repository = new PromotionsRepository(store);
    const left = (await repository.all()).map(({ candidateId }) => candidateId);
    assert.deepEqual(left, ["somebody's"]);
    const newest = await repository.newest(SERVER, "list_loans");
    assert.deepEqual([newest?.action, newest?.family], ["revert", "gpt"]);
    assert.match(newest?.reason ?? "", /did worse together in the joint test of job/);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
