import assert from "node:assert/strict";
import type { RunRequest } from "../evaluators/evaluator.ts";
import { JobBench } from "../testing/job_bench.ts";
import { ended, until } from "../testing/job_waits.ts";
import {
  called,
  failed,
  hang,
  type Script,
  ScriptedEvaluator,
} from "../testing/scripted_evaluator.ts";
import { GOOD, somePrompts } from "../testing/weather.ts";
import { hasJointTest, jointIds, mostJointRuns } from "./joint.ts";

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

Deno.test("hasJointTest() leaves out discovery, where no tools are shown side by side", () => {
  assert.equal(hasJointTest({ surface: "discovery" }), false);
  assert.equal(hasJointTest({ surface: "toolset:a" }), true);
  assert.equal(hasJointTest({ surface: "server" }), true);
});

Deno.test("mostJointRuns() counts servers with several tools", () => {
  const [one, two] = [{ server: "a" }, { server: "b" }];
  assert.equal(mostJointRuns([one, two]), 0);
  assert.equal(mostJointRuns([one, one, two]), 2 * 2 * 12);
  assert.equal(mostJointRuns(Array.from({ length: 40 }, () => one)), 2 * 120);
});

/** Prompts that name the tool they are about, and a good candidate of each tool. */
async function saveTexts(
  bench: JobBench,
  tools: readonly string[],
  expectedArguments?: Record<string, unknown>,
): Promise<void> {
  const isRight = { shouldCallTool: true, ...expectedArguments && { expectedArguments } };
  const saved = tools.flatMap((toolName) =>
    somePrompts(20, { toolName }).map((prompt) => ({
      ...prompt,
      id: `${toolName}-${prompt.id}`,
      prompt: `${toolName}: ${prompt.prompt}`,
      ...(prompt.expectedBehavior.shouldCallTool ? { expectedBehavior: isRight } : {}),
    }))
  );
  for (const toolName of tools) {
    const createdAt = "2020-01-01T00:00:00.000Z";
    await bench.saveCandidate(`good-${toolName}`, GOOD, toolName, { createdAt });
  }
  await bench.prompts.save(saved);
}

/** The runs of a job that the joint test makes, two for each of 24 prompts. */
const JOINT_RUNS = 48;

Deno.test("a joint test shows tools and scores calls as the job's tests do", async () => {
  await using bench = await JobBench.open();
  bench.targets.equippedTools = ["refund"];
  await saveTexts(bench, request.tools, { city: "Rome" });
  const requests: RunRequest[] = [];
  const evaluator = new ScriptedEvaluator(({ prompt }, run) => {
    requests.push(run);
    const good = run.tools.filter(({ text }) => text.includes("GOOD"));
    const found = good.find(({ tool }) => prompt.startsWith(tool) && prompt.includes("weather"));
    if (!found) return [];
    const observation = called(found.name);
    // Two good descriptions mislead it about the arguments.
    return good.length === 1 || observation.status === "error"
      ? observation
      : { ...observation, calls: [{ name: found.name, arguments: { city: "Oslo" } }] };
  });
  const jobs = bench.gateway("one", { evaluator: () => Promise.resolve(evaluator) });
  const options = {
    ...{ depth: "thorough", generate: false, withToolset: true, view: "deferred" } as const,
    strict: true,
    // Nobody calls the siblings whose prompts are asked.
    thresholds: { minOverall: 0.5, minNegative: 0.5 },
  };
  const job = await ended(jobs, await jobs.start({ ...request, options }));
  assert.deepEqual([job.joint?.[0]?.before.correct, job.joint?.[0]?.after.correct], [8, 8]);
  assert.equal(job.joint?.[0]?.isHarmful, false, "no worse than before");
  const joint = requests.slice(-JOINT_RUNS);
  assert.ok(joint.every(({ tools }) => tools.some(({ tool }) => tool === "refund")));
  assert.ok(joint.every(({ view }) => view === "deferred"));
});

Deno.test("a joint test goes on after a restart where it was, and ends with a model that hangs", async () => {
  const play = async (
    script: Script,
    more: (bench: JobBench, id: string) => Promise<void> = async () => {},
  ) => {
    await using bench = await JobBench.open();
    const evaluator = new ScriptedEvaluator(script);
    const jobs = bench.gateway("dead", { evaluator: () => Promise.resolve(evaluator) });
    const { id } = await jobs.start(request);
    await more(bench, id);
    return { job: bench.alive.has("dead") ? await ended(jobs, { id }) : undefined, evaluator };
  };
  const model = modelOf(false);
  const { job: whole, evaluator: { asked: { length: all } } } = await play(model);
  assert.equal(whole?.runs, all);

  const last = all - 20;
  await play(
    (asked, run) => asked.call > last ? hang(run) : model(asked, run),
    async (bench, id) => {
      const runs = async () =>
        (await Promise.all(request.tools.map((tool) => bench.runs.list("weather", tool)))).flat();
      await until("all others are saved", async () => (await runs()).length === last);
      bench.alive.delete("dead");
      const heir = new ScriptedEvaluator(model);
      const jobs = bench.gateway("heir", { evaluator: () => Promise.resolve(heir) });
      await jobs.takeOver();
      const job = await ended(jobs, { id });
      const made = (await runs()).filter(({ evaluationId = "" }) =>
        jointIds(job).includes(evaluationId)
      );
      assert.deepEqual([made.length, job.runs], [JOINT_RUNS, last + heir.asked.length]);
      assert.ok(heir.asked.length < JOINT_RUNS);
      assert.deepEqual(job.joint, whole?.joint);
    },
  );

  const hung = await play((asked, run) => {
    return asked.call > last ? failed("it hangs", "timeout") : model(asked, run);
  });
  assert.deepEqual([hung.job?.status, hung.job?.note], [
    "failed",
    "No run can succeed: it hangs",
  ]);
  // An answer may come between the first run that hangs and the one beside it.
  assert.ok(hung.evaluator.asked.length - last <= 6, "two runs in a row, with two tries each");
});

Deno.test("a joint test that goes on knows before from after where a tool has one text", async () => {
  // Stations are also found once both other descriptions are good.
  const model: Script = ({ prompt }, { tools }) => {
    if (!prompt.includes("weather")) return [];
    const good = tools.filter(({ text }) => text.includes("GOOD"));
    return tools.filter(({ tool, text }) =>
      prompt.startsWith(tool) &&
      (text.includes("GOOD") || tool === "list_stations" && good.length > 1)
    ).map(({ name }) => name);
  };
  const tools = [...request.tools, "list_stations"];
  await using bench = await JobBench.open();
  await saveTexts(bench, tools);
  const isJoint = ({ tools }: RunRequest) =>
    tools.filter(({ text }) => text.includes("GOOD")).length > 1;
  let joint = 0;
  const evaluator = new ScriptedEvaluator((asked, run) => {
    if (isJoint(run)) joint++;
    return joint > 20 ? hang(run) : model(asked, run);
  });
  const dead = bench.gateway("dead", { evaluator: () => Promise.resolve(evaluator) });
  const options = { ...request.options, generate: false };
  const { id } = await dead.start({ ...request, tools, options });
  await until("it hangs", () => Promise.resolve(joint > 20));
  bench.alive.delete("dead");
  await bench.promotions.revert({ server: "weather", tool: "list_stations", by: "person" });
  const heir = bench.gateway("heir", {
    evaluator: () => Promise.resolve(new ScriptedEvaluator(model)),
  });
  await heir.takeOver();
  const job = await ended(heir, { id });
  assert.deepEqual(job.joint?.[0]?.before, { correct: 12, total: 36 }, "the negative ones");
  assert.deepEqual(job.joint?.[0]?.after, { correct: 36, total: 36 });
});
