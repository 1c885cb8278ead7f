import assert from "node:assert/strict";
import type { JobTool, OptimizationJob } from "../../core/optimization.ts";
import type { OwnParameterTexts } from "../../core/tool_text.ts";
import type { OptimizationJobs } from "./queue.ts";
import type { JobRequest } from "./selection.ts";
import { JobBench } from "../testing/job_bench.ts";
import { YEAR_MS } from "../evaluation/evidence.ts";
import { ended } from "../testing/job_waits.ts";
import { type Script, ScriptedEvaluator } from "../testing/scripted_evaluator.ts";
import { byDescription, GOOD, POOR } from "../testing/weather.ts";

const request: JobRequest = { server: "weather", by: "person", tools: ["get_forecast"] };
const options = { generate: false, depth: "thorough" } as const;
const saved = { ...request, options };
/** Before the prompts were written, so that they are fresh. */
const EARLY = { createdAt: "2025-01-01T00:00:00.000Z" };
/** What a clear gain takes: one run for each prompt and description. */
const RUNS = 66;

async function aBench(): Promise<JobBench> {
  const bench = await JobBench.open();
  await bench.savePrompts(50);
  await saveCandidate(bench, "good");
  return bench;
}

function saveCandidate(bench: JobBench, id: string, description = GOOD): Promise<void> {
  return bench.saveCandidate(id, description, "get_forecast", EARLY);
}

function evaluatorOf(script: Script) {
  const evaluator = new ScriptedEvaluator(script);
  return { evaluator: () => Promise.resolve(evaluator) };
}

for (const [control, status] of [["cancel", "cancelled"], ["pause", "paused"]] as const) {
  Deno.test(`OptimizationJobs.${control}() during the last run promotes nothing, wherever it is asked`, async () => {
    await using bench = await aBench();
    const other = bench.gateway("two");
    const begun = Promise.withResolvers<string>();
    const jobs = bench.gateway("one", {
      ...evaluatorOf(async (asked, run) => {
        if (asked.call === RUNS) await other[control](await begun.promise);
        return byDescription(asked, run);
      }),
      concurrency: 1,
    });
    const started = await jobs.start(saved);
    begun.resolve(started.id);
    const job = await ended(jobs, started);
    assert.equal(job.status, status);
    assert.equal(job.tools[0]?.promotedCandidateId, undefined);
    // Also when the worker has let go of it.
    await jobs[Symbol.asyncDispose]();
    assert.equal((await bench.jobs.resolve(started.id)).value.status, status);
    assert.deepEqual(bench.promotions.list(), []);
    assert.deepEqual(await bench.promotions.history("weather", "get_forecast"), []);
  });
}

Deno.test("OptimizationJobs.cancel() right after a promotion stands, and the promotion is said", async () => {
  await using bench = await aBench();
  const other = bench.gateway("two");
  const jobs = bench.gateway("one");
  const promote = bench.promotions.promote.bind(bench.promotions);
  const begun = Promise.withResolvers<string>();
  bench.promotions.promote = async (input) => {
    const promoted = await promote(input);
    await other.cancel(await begun.promise);
    return promoted;
  };
  const started = await jobs.start(saved);
  begun.resolve(started.id);
  const job = await ended(jobs, started);
  await jobs[Symbol.asyncDispose]();
  const { value } = await bench.jobs.resolve(started.id);
  assert.deepEqual([job.status, value.status], ["cancelled", "cancelled"]);
  assert.equal(value.tools[0]?.promotedCandidateId, "good");
});

Deno.test("OptimizationJobs promotes nothing against a text that the server no longer has", async () => {
  await using bench = await aBench();
  const jobs = bench.gateway(
    "one",
    evaluatorOf((asked, run) => {
      if (asked.call === 20) bench.targets.canonical = "The server says something better.";
      return byDescription(asked, run);
    }),
  );
  const job = await ended(jobs, await jobs.start(saved));
  assert.match(job.tools[0]?.outcome ?? "", /own description changed during the test/);
  assert.deepEqual(bench.promotions.list(), []);
});

Deno.test("OptimizationJobs promotes nothing over another text of a parameter than was tested", async () => {
  const changes: [now: OwnParameterTexts, outcome: RegExp][] = [
    [{ city: "A city" }, /own description changed during the test/],
    [{}, /own description changed during the test/],
    [{ city: "City", other: "New" }, /^Promoted: /],
  ];
  for (const [now, outcome] of changes) {
    await using bench = await JobBench.open();
    await bench.savePrompts(50);
    const parameters = { city: "Like Oslo" };
    await bench.saveCandidate("good", GOOD, "get_forecast", { ...EARLY, parameters });
    bench.targets.parameters = { city: "City" };
    const jobs = bench.gateway(
      "one",
      evaluatorOf((asked, run) => {
        if (asked.call === 20) bench.targets.parameters = now;
        return byDescription(asked, run);
      }),
    );
    const job = await ended(jobs, await jobs.start(saved));
    assert.match(job.tools[0]?.outcome ?? "", outcome);
  }
});

Deno.test("OptimizationJobs keeps on record what a promoted description was compared with", async () => {
  await using bench = await aBench();
  const jobs = bench.gateway("one");
  await ended(jobs, await jobs.start(saved));
  const promoted = bench.promotions.of("weather", "get_forecast");
  assert.equal(promoted?.canonicalDescription, POOR);
  bench.targets.canonical = "Another text";
  assert.deepEqual(bench.promotions.staleness("weather", "get_forecast"), {
    reasons: ["the server's own description has changed"],
    before: POOR,
    now: "Another text",
  });
});

/** Good only on the prompts of the screening, as if it had been written for them. */
function luckyIn(bench: JobBench): Script {
  return async (asked, run) => {
    const all = await bench.prompts.list("weather", "get_forecast");
    const isFresh = all.some(({ prompt, heldOut }) => heldOut && prompt === asked.prompt);
    return isFresh ? [] : byDescription(asked, run);
  };
}

Deno.test("OptimizationJobs does not promote the best of several that fresh prompts do not confirm", async () => {
  await using bench = await aBench();
  await saveCandidate(bench, "other", "Nothing much.");
  const jobs = bench.gateway("one", evaluatorOf(luckyIn(bench)));
  const job = await ended(jobs, await jobs.start(saved));
  const [tool] = job.tools;
  assert.match(tool?.outcome ?? "", /^Kept .*: the best of 2 candidates.*0 points .*better on 0/);
  assert.deepEqual(bench.promotions.list(), []);
  const [evaluation] = await bench.evaluations.list("weather", "get_forecast");
  assert.equal(evaluation?.runs, job.runs);
  assert.deepEqual([tool?.runsDone, tool?.runsTotal], [job.runs, job.runs]);
});

Deno.test("OptimizationJobs only proposes what a quick look finds better, and promotes it for nobody", async () => {
  await using bench = await aBench();
  const jobs = bench.gateway("one");
  const quick = { ...request, options: { generate: false } };
  const [tool] = (await ended(jobs, await jobs.start(quick))).tools;
  assert.match(
    tool?.outcome ?? "",
    /^Kept the server's own description\. Candidate "good" looks better: .* interval .* not confirmed/,
  );
  assert.deepEqual([tool?.proposedCandidateId, tool?.promotedCandidateId], ["good", undefined]);
  assert.deepEqual(bench.promotions.list(), []);
});

Deno.test("OptimizationJobs leaves a confirmed gain below the thresholds to a person", async () => {
  await using bench = await aBench();
  const jobs = bench.gateway("one");
  const strict = { ...options, thresholds: { minImprovement: 0.8 } };
  const [tool] = (await ended(jobs, await jobs.start({ ...request, options: strict }))).tools;
  assert.match(tool?.outcome ?? "", /your thresholds refuse it: .*A person can accept it$/);
  assert.equal(tool?.proposedCandidateId, "good");
  assert.deepEqual(bench.promotions.list(), []);
});

Deno.test("OptimizationJobs spends less on chance with every further test of a tool, and remembers it", async () => {
  await using bench = await aBench();
  const jobs = bench.gateway("one", evaluatorOf(() => []));
  const alphas: number[] = [];
  for (const id of ["one", "two", "three"]) {
    await saveCandidate(bench, id, `Does ${id}.`);
    const named = { ...options, candidateIds: [id] };
    await ended(jobs, await jobs.start({ ...request, options: named }));
    const [newest] = await bench.evaluations.list("weather", "get_forecast");
    alphas.push(Number(newest?.alpha?.toFixed(5)));
    // Others that ended since push it out.
    await bench.evaluations.prune({ mostPerTool: 0, testsForMs: YEAR_MS });
  }
  assert.deepEqual(alphas, [0.03, 0.01, 0.00333]);
});

for (
  const [name, scriptOf] of [
    ["confirms its winner", () => byDescription],
    ["does not confirm it", luckyIn],
  ] as const
) {
  Deno.test(`OptimizationJobs never goes backwards where a test ${name}`, async () => {
    await using bench = await aBench();
    await saveCandidate(bench, "other", "Nothing much.");
    const script = scriptOf(bench);
    const seen: JobTool[] = [];
    const look = ({ tools }: OptimizationJob) => void seen.push(...tools);
    const begun = Promise.withResolvers<string>();
    const jobs: OptimizationJobs = bench.gateway("one", {
      ...evaluatorOf(async (asked, run) => {
        look(await jobs.get(await begun.promise));
        return script(asked, run);
      }),
      onChange: look,
      concurrency: 1,
    });
    const started = await jobs.start(saved);
    begun.resolve(started.id);
    look(await ended(jobs, started));
    const parts = seen.filter(({ phase }) => phase !== "queued" && phase !== "generating")
      .map(({ phase, runsDone, runsTotal }) => ({
        phase: ["evaluating", "promoting", "complete"].indexOf(phase),
        part: runsTotal === 0 ? 0 : runsDone / runsTotal,
      }));
    for (const [at, { phase, part }] of parts.entries()) {
      const before = parts[at - 1] ?? { phase: 0, part: 0 };
      assert.ok(phase >= before.phase && part >= before.part, JSON.stringify(parts.slice(at - 1)));
    }
    assert.equal(parts.at(-1)?.part, 1);
  });
}

Deno.test("OptimizationJobs has nothing left to do at the end", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts();
  await saveCandidate(bench, "one", "Nothing much.");
  await saveCandidate(bench, "other", "Nothing else.");
  const jobs = bench.gateway("one");
  const job = await ended(jobs, await jobs.start(saved));
  const [tool] = job.tools;
  assert.deepEqual([tool?.runsDone, tool?.runsTotal], [job.runs, job.runs]);
  const { costUsd = 0, costKnown } = job.cost;
  assert.deepEqual([costUsd > 0, costKnown], [true, undefined], "every run says what it cost");
});

Deno.test("OptimizationJobs replaces what is in force only by what is better than that", async () => {
  await using bench = await aBench();
  let better = "never";
  const jobs = bench.gateway(
    "one",
    evaluatorOf((asked, run) => {
      // Those that are good miss every second prompt.
      const isMissed = /^(direct|indirect) \d*[02468] /.test(asked.prompt);
      return isMissed && asked.description !== better ? [] : byDescription(asked, run);
    }),
  );
  const low = { ...options, thresholds: { minOverall: 0.5 } };
  await ended(jobs, await jobs.start({ ...request, options: low }));
  assert.equal(bench.promotions.of("weather", "get_forecast")?.candidateId, "good");
  await saveCandidate(bench, "better", "GOOD: a little better.");
  const job = await ended(jobs, await jobs.start({ ...request, options: low }));
  assert.match(job.tools[0]?.outcome ?? "", /^Kept the promoted description: better on/);
  const [evaluation] = await bench.evaluations.list("weather", "get_forecast");
  assert.deepEqual(
    evaluation?.results.map(({ candidateId, verdict }) => [candidateId, verdict !== undefined]),
    [["canonical", false], ["good", false], ["better", true]],
  );
  better = "GOOD: truly better.";
  await saveCandidate(bench, "best", better);
  const named = { ...low, candidateIds: ["best"] };
  const again = await ended(jobs, await jobs.start({ ...request, options: named }));
  assert.match(again.tools[0]?.outcome ?? "", /^Promoted: /);
  assert.equal(bench.promotions.of("weather", "get_forecast")?.candidateId, "best");
});

/** As if somebody had promoted another text in the console. */
function promoteOther({ promotions }: JobBench) {
  return promotions.promote({
    server: "weather",
    toolName: "get_forecast",
    candidateId: "theirs",
    description: "What a person wrote meanwhile",
    by: "person",
    reason: "House style",
  });
}

Deno.test("OptimizationJobs does not replace a description its winner was not tested against", async () => {
  await using bench = await aBench();
  const jobs = bench.gateway(
    "one",
    evaluatorOf(async (asked, run) => {
      if (asked.call === 20) await promoteOther(bench);
      return byDescription(asked, run);
    }),
  );
  const job = await ended(jobs, await jobs.start(saved));
  assert.match(
    job.tools[0]?.outcome ?? "",
    /^Kept the promoted description: .*, but it was not tested against the description that was/,
  );
  assert.equal(bench.promotions.of("weather", "get_forecast")?.candidateId, "theirs");
});

Deno.test("OptimizationJobs does not replace a description promoted at the same moment", async () => {
  await using bench = await aBench();
  const promote = bench.promotions.promote.bind(bench.promotions);
  bench.promotions.promote = async (input) => {
    bench.promotions.promote = promote;
    await promoteOther(bench);
    return await promote(input);
  };
  const jobs = bench.gateway("one");
  const job = await ended(jobs, await jobs.start(saved));
  assert.match(job.tools[0]?.outcome ?? "", /another one was promoted in the meantime/);
  assert.equal(bench.promotions.of("weather", "get_forecast")?.candidateId, "theirs");
});

Deno.test("OptimizationJobs keeps what is in force where a budget ends the test of others", async () => {
  await using bench = await aBench();
  const jobs = bench.gateway("one");
  await ended(jobs, await jobs.start(saved));
  await saveCandidate(bench, "other", "Nothing much.");
  const cut = { ...request, options: { ...options, maxRuns: 10 } };
  const [tool] = (await ended(jobs, await jobs.start(cut))).tools;
  assert.match(tool?.outcome ?? "", /^Kept the promoted description: not enough evidence/);
});
