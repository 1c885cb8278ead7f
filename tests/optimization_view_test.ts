import assert from "node:assert/strict";
import { findBooksOf, optimizeSays } from "./fixtures/library_numbers.ts";
import { LIBRARY_WRITES } from "./fixtures/library_prompts.ts";
import {
  claudeTest,
  ended,
  eventually,
  GOOD,
  jobOf,
  Lab,
  propose,
  savePrompts,
  startJob,
} from "./optimization.ts";

/** As the CLI names the tool on trial. */
const FIND_BOOKS = "mcp__tools__library_find_books";

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

await claudeTest(
  "the discovery surface has the real CLI search in our index, with the trial text in it",
  async (claude) => {
    await using lab = await Lab.open({ claude });
    await using manager = await lab.manager();
    await savePrompts(manager);
    const candidateId = await propose(manager, GOOD);
    const input = { tool: "find_books", candidateId, depth: "quick", surface: "discovery" };
    const job = await ended(
      manager,
      await startJob(manager, "evaluate_candidate", { ...input, wait: 0 }),
    );
    assert.deepEqual([job.status, job.errors], ["completed", 0], job.tools[0]?.outcome);
    const listed = new Set(
      lab.seen.filter(({ isFollowUp }) => !isFollowUp)
        .flatMap(({ descriptions }) => Object.keys(descriptions)),
    );
    assert.deepEqual(
      [...listed].sort(),
      ["tool_capabilities", "tool_discovery", "tool_execute"].map((name) => `mcp__tools__${name}`),
    );
    // One request searches, one chooses; the choice itself is never answered.
    assert.ok(lab.seen.length <= 2 * job.runs, `${lab.seen.length} requests, ${job.runs} runs`);
    const { evaluations: [evaluation] } = await findBooksOf(lab.gateway.url);
    assert.equal(evaluation?.setting, "found by the gateway's own search");
    assert.equal(evaluation?.beside, undefined);
    const [canonical, candidate] = evaluation!.results;
    const missedOf = (result: typeof canonical) =>
      Object.values(result?.missed ?? {}).reduce((sum, count) => sum + count, 0);
    assert.equal(missedOf(canonical), 4, JSON.stringify(canonical));
    assert.equal(canonical!.metrics.direct.correct + canonical!.metrics.indirect.correct, 0);
    assert.ok(!("not-searched" in canonical!.missed!), JSON.stringify(canonical!.missed));
    assert.deepEqual(candidate!.metrics.overall, { correct: 6, total: 6 });
    assert.equal(missedOf(candidate), 0);
    // What was executed counts under the tool's own name, with its arguments checked.
    assert.deepEqual(candidate!.arguments, { valid: 4 });
    assert.equal(candidate!.confusion.list_loans?.list_loans, 1, JSON.stringify(candidate));
    const { text } = await manager.call("get_eval_results", { server: "library", candidateId });
    assert.match(text, /found by the gateway's own search/);

    // Claude Code at /mcp: its own search hides even the gateway's.
    const both = { ...input, view: "deferred", wait: 0 };
    const hidden = await ended(manager, await startJob(manager, "evaluate_candidate", both));
    assert.deepEqual([hidden.status, hidden.errors], ["completed", 0], hidden.tools[0]?.outcome);
    const { evaluations: [deferred] } = await findBooksOf(lab.gateway.url);
    assert.match(deferred?.setting ?? "", /gateway's own search, deferred behind/);
    const [, tried] = deferred!.results;
    assert.deepEqual(tried!.metrics.overall, { correct: 6, total: 6 }, JSON.stringify(deferred));

    // A check sees the same as clients at /mcp do.
    const check = ["check", "library.find_books", "--surface", "discovery", "--yes", "--json"];
    const { check: { tools: [checked] } } = JSON.parse(await optimizeSays(lab.folder, ...check));
    assert.deepEqual(
      [checked.status, checked.setting, checked.metrics.overall],
      ["failed", "found by the gateway's own search", canonical!.metrics.overall],
    );
  },
);

await claudeTest(
  "a thorough job with the real CLI goes on after kill -9, and its numbers are those of one job",
  async (claude) => {
    const finished = 8;
    let isBroken = true;
    const asked = () => lab.seen.filter(({ isWriting }) => !isWriting);
    await using lab = await Lab.open({
      claude,
      writes: LIBRARY_WRITES,
      fault: ({ isWriting }) =>
        isBroken && !isWriting && asked().length > finished ? { fault: "hang" } : undefined,
    });
    let jobId: string;
    {
      await using manager = await lab.manager();
      await propose(manager, GOOD);
      jobId = await startJob(manager, "optimize_tools", {
        tools: ["find_books"],
        candidatesPerTool: 1,
        rounds: 1,
      });
      await eventually(async () => {
        const hanging = lab.seen.filter(({ fault }) => fault).length;
        return hanging === 2 && (await jobOf(manager, jobId)).runs === finished || undefined;
      });
    }
    await lab.gateway.stop("SIGKILL");
    isBroken = false;
    await lab.start();
    await using manager = await lab.manager();
    const { status, runs, errors, tools: [tool] } = await ended(manager, jobId);
    const interrupted = lab.seen.filter(({ fault }) => fault).length;
    assert.deepEqual(
      { status, runs, errors },
      { status: "completed", runs: asked().length - interrupted, errors: 0 },
      tool?.outcome,
    );
    assert.match(tool?.outcome ?? "", /^Promoted: overall \d+ % -> 100 %, \+\d/);
    // Nothing that had ended was asked again, and the choice took one request each.
    const answered = asked().filter(({ fault }) => !fault);
    assert.ok(answered.every(({ isFollowUp }) => !isFollowUp));
    const runKeys = answered.map(({ prompt, descriptions }) => prompt + descriptions[FIND_BOOKS]);
    assert.equal(new Set(runKeys).size, runs);
    assert.deepEqual(await lab.processes(), []);
  },
);
