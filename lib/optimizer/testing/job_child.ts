import { JobBench, WritingModel } from "./job_bench.ts";
import { hang, ScriptedEvaluator } from "./scripted_evaluator.ts";
import { byDescription } from "./weather.ts";

/**
 * A gateway that works on a job until it is killed; says what it asks a model, a line each. With a
 * budget, runs beyond half of it do not end.
 */
const [location, owner = "child", budget] = Deno.args;
const maxRuns = budget === undefined ? undefined : Number(budget);

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

const bench = await JobBench.open(location);
const evaluator = new ScriptedEvaluator(async (asked, request) => {
  say(`run ${asked.description} | ${asked.prompt}`);
  if (maxRuns !== undefined && asked.call > maxRuns / 2) return await hang(request);
  await new Promise((resolve) => setTimeout(resolve, 10));
  return byDescription(asked, request);
});
const model = new WritingModel();
const jobs = bench.gateway(owner, {
  evaluator: () => Promise.resolve(evaluator),
  textModel: () => {
    say("text");
    return Promise.resolve(model);
  },
});
const options = { depth: "thorough", ...(maxRuns === undefined ? {} : { maxRuns }) } as const;
await jobs.start({ server: "weather", tools: ["get_forecast"], options, by: "person" });
