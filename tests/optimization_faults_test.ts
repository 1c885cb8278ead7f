import assert from "node:assert/strict";
import { CANONICAL } from "../lib/core/optimization.ts";
import { must } from "./combined_endpoints.ts";
import { refused } from "./discovery.ts";
import type { Fault, Seen } from "./fixtures/choosing_model.ts";
import {
  claudeTest,
  countsText,
  ended,
  evaluate,
  evaluatorTest,
  eventually,
  GOOD,
  jobOf,
  Lab,
  promoteAsPerson,
  PROMPTS,
  propose,
  resultOf,
  savePrompts,
  startJob,
} from "./optimization.ts";

const FAULTS: Record<string, Fault> = {
  "answers 529": { status: 529 },
  "answers 500": { status: 500 },
  hangs: { fault: "hang" },
  "stalls in mid-stream": { fault: "stall" },
  truncates: { fault: "truncate" },
};

const NAMED = { server: "library", tool: "find_books" };
/** Those that only a time limit ends; the CLI gives up on the others by itself. */
const ENDLESS = ["hangs", "stalls in mid-stream"];

/** So few that one run that fails is too many. */
const FEW_PROMPTS = [PROMPTS[0]!, PROMPTS[4]!];

for (const [words, fault] of Object.entries(FAULTS)) {
  // The real CLI meets each of them in the next test too.
  const test = words === "hangs" ? claudeTest : evaluatorTest;
  await test(
    `a model that ${words} is never scored, and the same job goes well once it has recovered`,
    async (claude?: string) => {
      let isBroken = true;
      await using lab = await Lab.open({
        claude,
        fault: () => isBroken ? fault : undefined,
        flags: ENDLESS.includes(words) ? ["--eval-timeout", "3s"] : [],
      });
      let candidateId: string;
      {
        await using manager = await lab.manager();
        await savePrompts(manager, FEW_PROMPTS);
        candidateId = await propose(manager, GOOD);
        const job = await evaluate(manager, candidateId);
        assert.ok(["completed", "failed"].includes(job.status), job.status);
        // Two that time out are enough to know.
        const isEndless = ENDLESS.includes(words);
        assert.match(
          job.tools[0]?.outcome ?? "",
          isEndless
            ? /No run can succeed: .* did not (exit|respond)/
            : /Inconclusive: .*runs failed/,
        );
        assert.deepEqual(await lab.processes(), []);
        for (const id of [CANONICAL, candidateId]) {
          const { counts, runs, evidence } = await resultOf(manager, id);
          assert.equal(countsText(counts), "direct 0/0, indirect 0/0, negative 0/0");
          const isFailed = runs.every(({ status, correct }) => status === "error" && !correct);
          assert.ok(isFailed, JSON.stringify(runs));
          assert.match(evidence?.problem ?? "", /void/);
        }
        const input = { ...NAMED, candidateId };
        const { code, text } = await refused(manager, "promote_candidate", input);
        assert.equal(code, "PROMOTION_REFUSED");
        assert.match(
          text,
          isEndless
            ? /The evaluation is void: no run can succeed/
            : /The evaluation is void: \d+ of \d+ runs failed/,
        );
      }
      await lab.gateway.stop();

      isBroken = false;
      await lab.start({ flags: [] });
      await using manager = await lab.manager();
      await evaluate(manager, candidateId);
      const { counts } = await resultOf(manager, candidateId);
      assert.equal(countsText(counts), "direct 1/1, indirect 0/0, negative 1/1");
      await promoteAsPerson(lab, candidateId);
    },
  );
}

await claudeTest(
  "what fails once is tried again, and what fails always is left out of both sides",
  async (claude) => {
    const faults = Object.entries(FAULTS);
    const lost = PROMPTS.at(-1)!.prompt;
    await using lab = await Lab.open({
      claude,
      // Far more than a run takes: only what never ends must meet it.
      flags: ["--eval-timeout", "30s"],
      fault({ prompt, before, descriptions }) {
        if (prompt === lost) return { status: 529 };
        if (before > 0) return undefined;
        // Another one for each prompt; those that take long for one description alone.
        const [words, fault] = faults[PROMPTS.findIndex((one) => one.prompt === prompt)]!;
        const isGood = Object.values(descriptions).includes(GOOD);
        return isGood && ENDLESS.includes(words) ? undefined : fault;
      },
    });
    await using manager = await lab.manager();
    const promptIds = await savePrompts(manager);
    const candidateId = await propose(manager, GOOD);
    const { status, runs, errors } = await evaluate(manager, candidateId);
    assert.deepEqual({ status, runs, errors }, { status: "completed", runs: 12, errors: 2 });
    const canonical = await resultOf(manager, CANONICAL);
    const better = await resultOf(manager, candidateId);
    assert.equal(countsText(canonical.counts), "direct 0/2, indirect 0/2, negative 1/1");
    assert.equal(countsText(better.counts), "direct 2/2, indirect 2/2, negative 1/1");
    for (const result of [canonical, better]) {
      const failed = result.runs.filter((run) => run.status === "error");
      assert.deepEqual(failed.map(({ promptId }) => promptId), [promptIds.at(-1)]);
      assert.match(failed[0]?.error ?? "", /529/);
    }
    assert.equal(better.evidence?.verdict?.proposed, true);
  },
);

await claudeTest(
  "a job whose model hangs can be cancelled, or left to the next gateway, and nothing goes on",
  async (claude) => {
    let isBroken = true;
    await using lab = await Lab.open({
      claude,
      fault: () => isBroken ? { fault: "hang" } : undefined,
    });
    /** Waits until two more programs hang. */
    const isWorking = () => {
      const before = lab.seen.length;
      return eventually(async () =>
        lab.seen.length >= before + 2 && (await lab.processes()).length >= 2 || undefined
      );
    };
    let jobId: string;
    {
      await using manager = await lab.manager();
      await savePrompts(manager, FEW_PROMPTS);
      const candidateId = await propose(manager, GOOD);
      const input = { tool: "find_books", candidateId, depth: "quick", wait: 0 };
      jobId = await startJob(manager, "evaluate_candidate", input);
      await isWorking();
      await must(manager, "cancel_optimization_job", { jobId });
      assert.deepEqual(await lab.processes(), []);
      const { status, runs } = await jobOf(manager, jobId);
      assert.deepEqual({ status, runs }, { status: "cancelled", runs: 0 });

      jobId = await startJob(manager, "evaluate_candidate", input);
      await isWorking();
    }
    await lab.gateway.stop();
    assert.deepEqual(await lab.processes(), []);

    isBroken = false;
    await lab.start();
    await using manager = await lab.manager();
    const { status, runs, errors } = await ended(manager, jobId);
    assert.deepEqual({ status, runs, errors }, { status: "completed", runs: 4, errors: 0 });
  },
);

await claudeTest(
  "a job goes on after kill -9 without repeating finished runs, and orphans are ended",
  async (claude) => {
    const finished = 5;
    let isBroken = true;
    await using lab = await Lab.open({
      claude,
      // The first ones go well, all others hang until the gateway is gone.
      fault({ isFollowUp }) {
        const asked = lab.seen.filter((seen) => !seen.isFollowUp).length;
        return isBroken && !isFollowUp && asked > finished ? { fault: "hang" } : undefined;
      },
    });
    let jobId: string;
    let candidateId: string;
    {
      await using manager = await lab.manager();
      await savePrompts(manager);
      candidateId = await propose(manager, GOOD);
      const input = { tool: "find_books", candidateId, depth: "quick", wait: 0 };
      jobId = await startJob(manager, "evaluate_candidate", input);
      await eventually(async () => {
        const hanging = lab.seen.filter(({ fault }) => fault).length;
        return hanging === 2 && (await jobOf(manager, jobId)).runs === finished || undefined;
      });
    }
    const orphans = await lab.processes();
    assert.ok(orphans.length >= 2, String(orphans));
    await lab.gateway.stop("SIGKILL");

    isBroken = false;
    await lab.start();
    await using manager = await lab.manager();
    const { status, runs, errors } = await ended(manager, jobId);
    assert.deepEqual({ status, runs, errors }, { status: "completed", runs: 12, errors: 0 });
    const { counts } = await resultOf(manager, candidateId);
    assert.equal(countsText(counts), "direct 2/2, indirect 2/2, negative 2/2");
    const left = await lab.processes();
    assert.deepEqual(orphans.filter((pid) => left.includes(pid)), []);
    // Only what was under way when the gateway was killed was asked again.
    const textOf = ({ prompt, descriptions }: Seen) => JSON.stringify([prompt, descriptions]);
    const repeated = lab.seen.filter(({ isFollowUp, before }) => !isFollowUp && before > 0);
    const interrupted = lab.seen.filter(({ fault }) => fault);
    assert.deepEqual(repeated.map(textOf).sort(), interrupted.map(textOf).sort());
  },
);
