import type { CommandFlag } from "../config/command_line.ts";
import { configError } from "../config/problem.ts";
import { Depth, JobOptions, Thresholds } from "../core/optimization.ts";
import type { CommandInput } from "./command.ts";

type Flags = Pick<CommandInput, "flags">;

export const DEPTH_FLAG: CommandFlag = {
  flag: "depth",
  placeholder: "DEPTH",
  meaning: "quick (the default) or thorough",
};
export const REPEATS_FLAG: CommandFlag = {
  flag: "repeats",
  placeholder: "N",
  meaning: "How often each prompt is asked: 1 to 10; 1 for quick, 3 for thorough unless told",
};
export const TOOLSET_FLAG: CommandFlag = {
  flag: "with-toolset",
  meaning: "Show the model the equipped toolset's tools beside the server's",
};
export const YES_FLAG: CommandFlag = {
  flag: "yes",
  meaning: "Do not ask; needed where there is no terminal",
};
export const DETACH_FLAG: CommandFlag = {
  flag: "detach",
  meaning: "Return once it has started; it goes on in the gateway",
};
export const REASON_FLAG: CommandFlag = {
  flag: "reason",
  placeholder: "TEXT",
  meaning: "Why; kept in the tool's history",
};
export const BUDGET_FLAGS: CommandFlag[] = [
  { flag: "max-runs", placeholder: "N", meaning: "Stop before more runs than this" },
  { flag: "max-cost", placeholder: "USD", meaning: "Stop before it costs more than this" },
];

interface Limits {
  min: number;
  max: number;
  /** Whether a fraction makes no sense; so it is unless told. */
  isWhole?: boolean;
}

function limitsOf({ minValue, maxValue }: { minValue: number | null; maxValue: number | null }) {
  return { min: minValue ?? 0, max: maxValue ?? Infinity };
}

const { candidatesPerTool, promptsPerCategory, repeats } = JobOptions.shape;
/** What a job takes. */
export const CANDIDATE_LIMITS: Limits = limitsOf(candidatesPerTool.unwrap());
export const PROMPT_LIMITS: Limits = limitsOf(promptsPerCategory.unwrap());
const REPEAT_LIMITS: Limits = limitsOf(repeats.unwrap());

/** A flag's number, or undefined where it was not given. */
export function numberFlag({ flags }: Flags, name: string, limits: Limits): number | undefined {
  const given = flags.get(name);
  if (given === undefined) return undefined;
  const { min, max, isWhole = true } = limits;
  const pattern = isWhole ? /^\d{1,9}$/ : /^\d{1,9}(\.\d{1,6})?$/;
  const value = pattern.test(String(given)) ? Number(given) : NaN;
  if (value >= min && value <= max) return value;
  const noun = isWhole ? "a whole number" : "a number";
  throw configError(`Cannot use --${name} ${given}`, `Give ${noun} from ${min} to ${max}`);
}

/** A flag's text, or undefined where it was not given. */
export function textFlag({ flags }: Flags, name: string): string | undefined {
  const given = flags.get(name);
  return typeof given === "string" ? given : undefined;
}

/** One of a few words, or undefined where none was given. */
export function choiceFlag<T extends string>(
  input: Flags,
  name: string,
  choices: readonly T[],
): T | undefined {
  const given = textFlag(input, name);
  if (given === undefined) return undefined;
  const choice = choices.find((choice) => choice === given);
  if (choice !== undefined) return choice;
  throw configError(`Cannot use --${name} ${given}`, `Give one of ${choices.join(", ")}`);
}

/** How a job is to work, as the flags of its command say; what they do not say is the gateway's. */
export function jobOptionsOf(input: Flags): Partial<JobOptions> {
  const options: Partial<JobOptions> = {};
  const depth = choiceFlag(input, "depth", Depth.options);
  if (depth !== undefined) options.depth = depth;
  const candidatesPerTool = numberFlag(input, "candidates", CANDIDATE_LIMITS);
  if (candidatesPerTool !== undefined) options.candidatesPerTool = candidatesPerTool;
  const promptsPerCategory = numberFlag(input, "prompts", PROMPT_LIMITS);
  if (promptsPerCategory !== undefined) options.promptsPerCategory = promptsPerCategory;
  const repeats = numberFlag(input, "repeats", REPEAT_LIMITS);
  if (repeats !== undefined) options.repeats = repeats;
  const threshold = numberFlag(input, "threshold", { min: 0, max: 100, isWhole: false });
  if (threshold !== undefined) {
    options.thresholds = Thresholds.parse({ minOverall: threshold / 100 });
  }
  const maxRuns = numberFlag(input, "max-runs", { min: 1, max: 1_000_000 });
  if (maxRuns !== undefined) options.maxRuns = maxRuns;
  const maxCostUsd = numberFlag(input, "max-cost", { min: 0.01, max: 100_000, isWhole: false });
  if (maxCostUsd !== undefined) options.maxCostUsd = maxCostUsd;
  if (input.flags.get("no-promote") === true) options.autoPromote = false;
  if (input.flags.get("with-toolset") === true) options.withToolset = true;
  return options;
}
