import assert from "node:assert/strict";
import type { JobTool, OptimizationJob } from "../../core/optimization.ts";
import type { OptimizationJobs } from "./queue.ts";
import type { JobRequest } from "./selection.ts";
import { JobBench } from "../testing/job_bench.ts";
import { ended } from "../testing/job_waits.ts";
import { type Script, ScriptedEvaluator } from "../testing/scripted_evaluator.ts";
import { byDescription, GOOD, POOR } from "../testing/weather.ts";

const request: JobRequest = { server: "weather", by: "person", tools: ["get_forecast"] };
const saved = { ...request, options: { generate: false } };

async function aBench(): Promise<JobBench> {
  const bench = await JobBench.open();
  await bench.savePrompts();
  await bench.saveCandidate("good");
  return bench;
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
        if (asked.call === 30) await other[control](await begun.promise);
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

Deno.test("OptimizationJobs keeps on record what a promoted description was compared with", async () => {
  await using bench = await aBench();
  const jobs = bench.gateway("one");
  await ended(jobs, await jobs.start(saved));
  const promoted = bench.promotions.of("weather", "get_forecast");
  assert.equal(promoted?.canonicalDescription, POOR);
  bench.targets.canonical = "Another text";
  assert.deepEqual(bench.promotions.staleness("weather", "get_forecast"), {
    before: POOR,
    now: "Another text",
  });
});

/** Good at its first test alone, however often it is asked. */
function luckyOnce(each: number): Script {
  const calls = new Map<string, number>();
  return (asked, run) => {
    const key = `${asked.description} ${asked.prompt}`;
    const count = (calls.get(key) ?? 0) + 1;
    calls.set(key, count);
    return count > each ? [] : byDescription(asked, run);
  };
}

Deno.test("OptimizationJobs does not promote the best of several that a second evaluation does not confirm", async () => {
  await using bench = await aBench();
  await bench.saveCandidate("other", "Nothing much.");
  const jobs = bench.gateway("one", evaluatorOf(luckyOnce(1)));
  const job = await ended(jobs, await jobs.start(saved));
  const [tool] = job.tools;
  assert.match(tool?.outcome ?? "", /the best of 2 candidates.*did not confirm it: overall/);
  assert.deepEqual(bench.promotions.list(), []);
  const [second, first] = await bench.evaluations.list("weather", "get_forecast");
  assert.equal(
    first?.results.find(({ candidateId }) => candidateId === "good")?.verdict?.promote,
    true,
  );
  assert.equal(second?.id, tool?.confirmation?.evaluationId);
  assert.equal(job.runs, (first?.runs ?? 0) + (second?.runs ?? 0));
  assert.equal(tool?.runsDone, job.runs);
  assert.equal(tool?.runsTotal, job.runs);
});

for (
  const [name, script] of [
    ["confirms its winner", byDescription],
    ["does not confirm it", luckyOnce(1)],
  ] as const
) {
  Deno.test(`OptimizationJobs never goes backwards where a second evaluation ${name}`, async () => {
    await using bench = await aBench();
    await bench.saveCandidate("other", "Nothing much.");
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

Deno.test("OptimizationJobs has nothing left to do where no second evaluation was needed", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts();
  await bench.saveCandidate("one", "Nothing much.");
  await bench.saveCandidate("other", "Nothing else.");
  const jobs = bench.gateway("one");
  const job = await ended(jobs, await jobs.start(saved));
  const [tool] = job.tools;
  assert.deepEqual([tool?.runsDone, tool?.runsTotal], [job.runs, job.runs]);
  const { costUsd = 0, costKnown } = job.cost;
  assert.deepEqual([costUsd > 0, costKnown], [true, undefined], "every run says what it cost");
});

Deno.test("OptimizationJobs asks for no second evaluation where one candidate was tested", async () => {
  await using bench = await aBench();
  const jobs = bench.gateway("one", evaluatorOf(luckyOnce(1)));
  const job = await ended(jobs, await jobs.start(saved));
  assert.equal(job.tools[0]?.promotedCandidateId, "good");
  assert.equal((await bench.evaluations.list("weather", "get_forecast")).length, 1);
});

Deno.test("OptimizationJobs does not replace what is in force by what is no better than chance", async () => {
  await using bench = await aBench();
  const jobs = bench.gateway(
    "one",
    evaluatorOf((asked, run) =>
      // The promoted one fails once of fifteen.
      asked.description === GOOD && asked.prompt.startsWith("indirect 0")
        ? []
        : byDescription(asked, run)
    ),
  );
  await ended(jobs, await jobs.start(saved));
  await bench.saveCandidate("better", "GOOD: a little better.");
  const thresholds = { minImprovement: 0.1 };
  const options = { generate: false, thresholds };
  const job = await ended(jobs, await jobs.start({ ...request, options }));
  assert.match(
    job.tools[0]?.outcome ?? "",
    /^Kept the promoted description: .*cannot be 10 points above the 14\/15 \(93 %\) of the promoted/,
  );
  assert.equal(bench.promotions.of("weather", "get_forecast")?.candidateId, "good");
  // A gain that is as large as is asked for.
  const again = await ended(jobs, await jobs.start(saved));
  assert.match(again.tools[0]?.outcome ?? "", /^Promoted: /);
  assert.equal(bench.promotions.of("weather", "get_forecast")?.candidateId, "better");
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
    /^Kept the promoted description: .*, but it was not tested against the promoted description/,
  );
  assert.equal(bench.promotions.of("weather", "get_forecast")?.candidateId, "theirs");
});

Deno.test("OptimizationJobs does not replace a description promoted while it confirmed its winner", async () => {
  await using bench = await aBench();
  await bench.saveCandidate("other", "Nothing much.");
  const asked = new Set<string>();
  let isOvertaken = false;
  const jobs = bench.gateway("one", {
    ...evaluatorOf(async (one, run) => {
      const key = `${one.description} ${one.prompt}`;
      if (asked.has(key) && !isOvertaken) {
        isOvertaken = true;
        await promoteOther(bench);
      }
      asked.add(key);
      return byDescription(one, run);
    }),
    concurrency: 1,
  });
  const job = await ended(jobs, await jobs.start(saved));
  assert.match(job.tools[0]?.outcome ?? "", /another one was promoted in the meantime/);
  assert.equal(bench.promotions.of("weather", "get_forecast")?.candidateId, "theirs");
});

Deno.test("OptimizationJobs says that nothing supports what is in force only where something was found out", async () => {
  await using bench = await aBench();
  let script = byDescription;
  const jobs = bench.gateway("one", evaluatorOf((asked, run) => script(asked, run)));
  await ended(jobs, await jobs.start(saved));
  const outcomeOf = async (options: object) => {
    const started = await jobs.start({ ...request, options: { generate: false, ...options } });
    return (await ended(jobs, started)).tools[0]?.outcome ?? "";
  };
  assert.match(await outcomeOf({ maxRuns: 10 }), /^Kept the promoted description: not enough evi/);
  script = () => [];
  assert.match(await outcomeOf({}), /^Kept the promoted .*, although this evaluation does not/);
});
