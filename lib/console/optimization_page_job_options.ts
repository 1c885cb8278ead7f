import { type JobOptions, Thresholds } from "../core/optimization.ts";
import { DEPTHS } from "../optimizer/depths.ts";
import { dollars } from "./ui/job_progress.ts";

/** One option as it is in effect. */
export interface JobOption {
  name: string;
  value: string;
  /** Where it is from. */
  from: string;
}

/** What a job works with: also what nobody has set has a value. */
export function jobOptions(options: JobOptions): JobOption[] {
  const { depth, generate, autoPromote, withToolset, thresholds } = options;
  const usual = DEPTHS[depth];
  const byDepth = `as ${depth} has it`;
  return [
    { name: "Depth", value: depth, from: from(depth === "quick") },
    options.candidateIds === undefined
      ? {
        name: "Candidates per tool",
        value: String(options.candidatesPerTool),
        from: from(options.candidatesPerTool === 4),
      }
      : { name: "Candidates", value: options.candidateIds.join(", "), from: from(false) },
    {
      name: "Prompts per category",
      ...setOr(
        options.promptsPerCategory,
        generate
          ? { value: String(usual.promptsPerCategory), from: byDepth }
          : { value: "all that are saved", from: "as no text is written" },
      ),
    },
    {
      name: "Repeats of each prompt",
      ...setOr(options.repeats, { value: String(usual.repeats), from: byDepth }),
    },
    { name: "To be promoted", ...thresholdsOf(thresholds) },
    {
      name: "Promotes",
      value: autoPromote ? "what the verdict allows" : "nothing",
      from: from(autoPromote),
    },
    {
      name: "Missing texts",
      value: generate ? "written by a model" : "not written",
      from: from(generate),
    },
    {
      name: "Tools shown to the model",
      value: withToolset ? "the server's and the equipped toolset's" : "the server's",
      from: from(!withToolset),
    },
    { name: "Most runs", ...setOr(options.maxRuns, NO_LIMIT) },
    {
      name: "Most dollars",
      ...setOr(
        options.maxCostUsd === undefined ? undefined : dollars(options.maxCostUsd),
        NO_LIMIT,
      ),
    },
  ];
}

type Effective = Omit<JobOption, "name">;
const NO_LIMIT: Effective = { value: "no limit", from: from(true) };

function setOr(value: number | string | undefined, otherwise: Effective): Effective {
  return value === undefined ? otherwise : { value: String(value), from: from(false) };
}

/** A job keeps its defaults as if they had been set. */
function from(isDefault: boolean): string {
  return isDefault ? "the default" : "set for this job";
}

function thresholdsOf(thresholds: Thresholds): Effective {
  const { minOverall, minNegative, minImprovement, maxRegression } = thresholds;
  const percent = (share: number) => Math.round(1_000 * share) / 10;
  const usual = Thresholds.parse({});
  const isUsual = minOverall === usual.minOverall && minNegative === usual.minNegative &&
    minImprovement === usual.minImprovement && maxRegression === usual.maxRegression;
  return {
    value: `${percent(minOverall)} % overall, ${percent(minNegative)} % of the negative prompts, ` +
      `${percent(minImprovement)} points better, no category more than ` +
      `${percent(maxRegression)} points worse`,
    from: from(isUsual),
  };
}
