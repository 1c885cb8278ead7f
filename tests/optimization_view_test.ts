import assert from "node:assert/strict";
import { findBooksOf } from "./fixtures/library_numbers.ts";
import { claudeTest, ended, GOOD, Lab, propose, savePrompts, startJob } from "./optimization.ts";

await claudeTest(
  "a quick evaluation of deferred tools with the real CLI says why a tool is not called",
  async (claude) => {
    await using lab = await Lab.open({ claude });
    await using manager = await lab.manager();
    await savePrompts(manager);
    const candidateId = await propose(manager, GOOD);
    const input = { tool: "find_books", candidateId, depth: "quick", view: "deferred", wait: 0 };
    const job = await ended(manager, await startJob(manager, "evaluate_candidate", input));
    assert.deepEqual([job.status, job.errors], ["completed", 0], job.tools[0]?.outcome);
    const first = lab.seen.filter(({ isFollowUp }) => !isFollowUp);
    assert.ok(first.every(({ descriptions }) => Object.keys(descriptions).length === 0));
    assert.ok(lab.seen.length <= 2 * job.runs, `${lab.seen.length} requests, ${job.runs} runs`);
    const { evaluations: [evaluation] } = await findBooksOf(lab.gateway.url);
    assert.match(evaluation?.setting ?? "", /deferred/);
    const [canonical] = evaluation!.results;
    const missed = Object.values(canonical!.missed ?? {}).reduce((sum, count) => sum + count, 0);
    assert.ok(missed > 0, JSON.stringify(canonical));
    const { text } = await manager.call("get_eval_results", { server: "library", candidateId });
    assert.match(text, /deferred behind the client's own tool search/);
    const page = await fetch(`${lab.gateway.url}/optimization/library/find_books`);
    assert.match(
      await page.text(),
      /deferred behind the client&#39;s own|deferred behind the client's/,
    );
  },
);
