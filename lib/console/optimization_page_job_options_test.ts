import assert from "node:assert/strict";
import { JobOptions } from "../core/optimization.ts";
import { jobOptions } from "./optimization_page_job_options.ts";

function shown(input: Partial<JobOptions>): Record<string, string> {
  return Object.fromEntries(
    jobOptions(JobOptions.parse(input)).map(({ name, value, from }) => [name, `${value}, ${from}`]),
  );
}

Deno.test("jobOptions() has the value in effect and where it is from", () => {
  const usual = shown({});
  assert.equal(usual["Prompts per category"], "5, as quick has it");
  assert.equal(usual["Repeats of each prompt"], "1, as quick has it");
  assert.equal(usual["Candidates per tool"], "4, the default");
  assert.equal(usual["Most runs"], "no limit, the default");
  assert.match(usual["To be promoted"] ?? "", /^85 % overall, .*, the default$/);
  const set = shown({ depth: "thorough", promptsPerCategory: 7, maxCostUsd: 2 });
  assert.equal(set["Depth"], "thorough, set for this job");
  assert.equal(set["Prompts per category"], "7, set for this job");
  assert.equal(set["Repeats of each prompt"], "3, as thorough has it");
  assert.equal(set["Most dollars"], "$2.00, set for this job");
});

Deno.test("jobOptions() says that all saved prompts are asked where none is written", () => {
  const { Candidates, ...others } = shown({ generate: false, candidateIds: ["cand_1"] });
  assert.equal(others["Prompts per category"], "all that are saved, as no text is written");
  assert.equal(Candidates, "cand_1, set for this job");
});
