import assert from "node:assert/strict";
import { CANONICAL, type JobOptions, Thresholds } from "../../core/optimization.ts";
import type { TextAnswer, TextModel, TextRequest } from "../generation/text_model.ts";
import { JobBench, WritingModel } from "../testing/job_bench.ts";
import { ended, until } from "../testing/job_waits.ts";
import { called, type Script, ScriptedEvaluator } from "../testing/scripted_evaluator.ts";

const request = { server: "weather", tools: ["get_forecast"], by: "person" as const };

/** Each round it writes texts that also know the next kind of prompts. */
class LearningModel implements TextModel {
  readonly kind = "messages-api";
  readonly lessons: string[] = [];
  readonly #prompts = new WritingModel();

  complete(asked: TextRequest): Promise<TextAnswer> {
    if (!asked.system.includes('{"candidates"')) return this.#prompts.complete(asked);
    this.lessons.push(asked.prompt);
    const knows = ["knows nothing", "knows direct", "knows direct and indirect"];
    const candidates = Array.from({ length: 10 }, (_, at) => ({
      description: `Text ${this.lessons.length}-${at} ${knows[this.lessons.length - 1]}`,
      why: `Fixes round ${this.lessons.length}`,
    }));
    const cost = { inputTokens: 1, outputTokens: 1, costUsd: 0.01 };
    return Promise.resolve({ text: JSON.stringify({ candidates }), cost });
  }
}

const learner: Script = ({ prompt, description }, { target }) => {
  const isDirect = prompt.startsWith("Tell me exactly about weather");
  const isIndirect = prompt.includes("given weather");
  if (isDirect && description.includes("direct")) return [target];
  if (isIndirect && description.includes("indirect")) return [target];
  return isDirect || isIndirect ? ["weather_get_alerts"] : [];
};

Deno.test("a job writes candidates from failures, round by round, and says which came from which", async () => {
  await using bench = await JobBench.open();
  const model = new LearningModel();
  const jobs = bench.gateway("one", {
    textModel: () => Promise.resolve(model),
    evaluator: () => Promise.resolve(new ScriptedEvaluator(learner)),
  });
  const options = { depth: "thorough", candidatesPerTool: 2 } as const;
  const job = await ended(jobs, await jobs.start({ ...request, options }));
  assert.match(job.tools[0]?.outcome ?? "", /^Promoted: /);
  assert.equal(model.lessons.length, 3);
  const saved = await bench.candidates.list("weather", "get_forecast");
  const byId = new Map(saved.map((candidate) => [candidate.id, candidate]));
  const winner = byId.get(job.tools[0]?.promotedCandidateId ?? "");
  assert.match(winner?.description ?? "", /direct and indirect/);
  assert.deepEqual([winner?.lineage?.round, winner?.lineage?.why], [3, "Fixes round 3"]);
  const parent = byId.get(winner?.lineage?.parent ?? "");
  assert.match(parent?.description ?? "", /knows direct$/);
  const first = byId.get(parent?.lineage?.parent ?? "");
  assert.equal(first?.lineage?.parent, CANONICAL);
  // What was called instead and what the model said; nothing that confirms is ever shown.
  assert.match(model.lessons[0]!, /"shouldCall":"get_forecast","called":\["get_alerts"\]/);
  assert.match(model.lessons[0]!, /I looked at the tools/);
  const prompts = await bench.prompts.list("weather", "get_forecast");
  const heldOut = prompts.filter((prompt) => prompt.heldOut);
  assert.ok(heldOut.length > 30);
  for (const { prompt } of heldOut) {
    assert.ok(model.lessons.every((lesson) => !lesson.includes(prompt)), prompt);
  }
  assert.deepEqual(
    [...new Set(bench.events.map(({ tools: [tool] }) => tool?.round))],
    [undefined, 1, 2, 3],
  );
});

Deno.test("a job writes as often as it is told, and stops with its budget", async () => {
  await using bench = await JobBench.open();
  const model = new LearningModel();
  const jobs = bench.gateway("one", {
    textModel: () => Promise.resolve(model),
    evaluator: () => Promise.resolve(new ScriptedEvaluator(learner)),
  });
  const options = { depth: "thorough", candidatesPerTool: 2 } as const;
  await ended(jobs, await jobs.start({ ...request, options: { ...options, rounds: 1 } }));
  assert.equal(model.lessons.length, 1);
  const budget = { ...options, maxRuns: 16, rounds: 3 };
  const job = await ended(jobs, await jobs.start({ ...request, options: budget }));
  assert.equal(job.runs, 16);
  assert.ok(model.lessons.length <= 2);
});

Deno.test("a job whose gateway ended goes on with the candidates of its rounds, and writes none twice", async () => {
  await using bench = await JobBench.open();
  const model = new LearningModel();
  let runs = 0;
  const slow = bench.gateway("one", {
    textModel: () => Promise.resolve(model),
    evaluator: () =>
      Promise.resolve(
        new ScriptedEvaluator((asked, run) =>
          model.lessons.length === 2 && ++runs > 5
            ? new Promise((_, reject) =>
              run.signal.addEventListener("abort", () => reject(run.signal.reason))
            )
            : learner(asked, run)
        ),
      ),
  });
  const options = { depth: "thorough", candidatesPerTool: 2 } as const;
  const { id } = await slow.start({ ...request, options });
  await until("the second round is tested", () => runs > 6);
  await slow[Symbol.asyncDispose]();
  bench.alive.delete("one");
  const next = bench.gateway("two", {
    textModel: () => Promise.resolve(model),
    evaluator: () => Promise.resolve(new ScriptedEvaluator(learner)),
  });
  await next.takeOver();
  const job = await ended(next, { id });
  assert.match(job.tools[0]?.outcome ?? "", /^Promoted: /);
  assert.equal(model.lessons.length, 3);
  const made = await bench.runs.list("weather", "get_forecast");
  const keys = made.map(({ candidateId, promptId }) => `${candidateId} ${promptId}`);
  assert.equal(new Set(keys).size, keys.length);
  assert.equal(job.runs, made.length);
});

Deno.test("a stale promotion that is tested again and holds is no longer stale", async () => {
  await using bench = await JobBench.open();
  const jobs = bench.gateway("one");
  const options = { depth: "thorough" } as const;
  const first = await ended(jobs, await jobs.start({ ...request, options }));
  assert.ok(first.tools[0]?.promotedCandidateId);
  assert.deepEqual(bench.promotions.of("weather", "get_forecast")?.testedWith, {
    evaluator: "claude-cli",
    model: "stand-in",
  });
  bench.targets.canonical = "Does other things.";
  assert.ok(bench.promotions.staleness("weather", "get_forecast"));
  const again = await ended(jobs, await jobs.start({ ...request, options }));
  assert.match(
    again.tools[0]?.outcome ?? "",
    /was tested again and holds \(\d+ % against \d+ %\)$/,
  );
  assert.equal(bench.promotions.staleness("weather", "get_forecast"), undefined);
});

/** Calls the tool where it should, and fills in nonsense unless the parameter says how. */
const careless: Script = ({ prompt }, { target, tools }) => {
  const isMeant = prompt.includes("about weather") || prompt.includes("given weather");
  const { text } = tools.find(({ name }) => name === target)!;
  const city = text.includes("Like Oslo") ? "Rome" : ["Rome"];
  return { ...called(), calls: isMeant ? [{ name: target, arguments: { city } }] : [] };
};

/** A job of a tool with one parameter; gives what its writer was asked, and what came of it. */
async function carelessJob(options: Partial<JobOptions>) {
  await using bench = await JobBench.open();
  bench.targets.parameters = { city: "City" };
  const lessons: string[] = [];
  const prompts = new WritingModel();
  const model: TextModel = {
    kind: "messages-api",
    complete(asked) {
      if (!asked.system.includes('{"candidates"')) return prompts.complete(asked);
      lessons.push(asked.prompt);
      const candidates = [{
        description: `GOOD text ${lessons.length}`,
        parameters: { city: "Like Oslo" },
      }];
      const cost = { inputTokens: 1, outputTokens: 1, costUsd: 0.01 };
      return Promise.resolve({ text: JSON.stringify({ candidates }), cost });
    },
  };
  const jobs = bench.gateway("one", {
    textModel: () => Promise.resolve(model),
    evaluator: () => Promise.resolve(new ScriptedEvaluator(careless)),
  });
  const how = { depth: "thorough", candidatesPerTool: 1, rounds: 2, ...options } as const;
  const job = await ended(jobs, await jobs.start({ ...request, options: how }));
  const [candidate] = await bench.candidates.list("weather", "get_forecast");
  return {
    job,
    candidate,
    lesson: lessons[0]!,
    promoted: bench.promotions.of("weather", "get_forecast"),
  };
}

Deno.test("a job writes texts for parameters from arguments that did not fit, if it is told to", async () => {
  const wrong = /"arguments":"{\\"city\\":\[\\"Rome\\"\]}","wrong":"they do not fit the schema"/;
  const plain = await carelessJob({ strict: true });
  assert.doesNotMatch(plain.lesson, /<parameters>|"arguments"/);
  assert.equal(plain.candidate?.parameters, undefined);

  const { lesson, job, promoted } = await carelessJob({
    strict: true,
    parameters: true,
    // It does not call the siblings that prompts name.
    thresholds: Thresholds.parse({ minOverall: 0.5, minNegative: 0.5 }),
  });
  assert.match(lesson, /<parameters>\n{"path":"city","text":"City"}/);
  assert.match(lesson, wrong);
  assert.match(job.tools[0]?.outcome ?? "", /^Promoted: /);
  assert.deepEqual(promoted?.parameters, { city: "Like Oslo" });
  assert.deepEqual(promoted?.canonicalParameters, { city: "City" });

  // Where they count as right, they are shown as well.
  const lenient = await carelessJob({ parameters: true });
  assert.match(lenient.lesson, wrong);
  assert.ok((lenient.candidate?.lineage?.failures ?? 0) > 0);
});
