import { formatCount } from "./format.ts";
import { dollars } from "./job_progress.ts";

/** Where a job for all servers is started; no server can be called so. */
export const OPTIMIZE_ALL = "/optimization/~all";

/** What a job would take, as the gateway estimates it. */
export interface Estimate {
  tools: number;
  runs: number;
  seconds: number;
  costUsd: number | null;
  basis: string;
}

/** A job's form as it was filled in, before anything is checked. */
export interface JobFormValues {
  /** Of one server; all tools of all servers without. */
  server?: string;
  tools: string[];
  depth: string;
  candidates: string;
  /** Empty: as the depth says. */
  prompts: string;
  /** In percent. */
  threshold: string;
  maxRuns: string;
  maxCost: string;
  autoPromote: boolean;
  generate: boolean;
  withToolset: boolean;
}

export const JOB_DEFAULTS: JobFormValues = {
  tools: [],
  depth: "quick",
  candidates: "4",
  prompts: "",
  threshold: "85",
  maxRuns: "",
  maxCost: "",
  autoPromote: true,
  generate: true,
  withToolset: false,
};

/** What a job is to do, as the API takes it; its numbers are checked there. */
export interface JobBody {
  server?: string;
  tools?: string[];
  all?: boolean;
  options: Record<string, unknown>;
}

type Fields = Pick<URLSearchParams, "get" | "getAll" | "has">;

/** The same in the browser, which asks for estimates, and in the gateway, which starts jobs. */
export function readJobFields(fields: Fields, server?: string): JobFormValues {
  const text = (name: string, otherwise: string) => fields.get(name)?.trim() ?? otherwise;
  return {
    ...(server === undefined ? {} : { server }),
    tools: fields.getAll("tool"),
    depth: text("depth", JOB_DEFAULTS.depth),
    candidates: text("candidates", JOB_DEFAULTS.candidates),
    prompts: text("prompts", ""),
    threshold: text("threshold", JOB_DEFAULTS.threshold),
    maxRuns: text("maxRuns", ""),
    maxCost: text("maxCost", ""),
    // A box that is not ticked is not sent.
    autoPromote: fields.has("autoPromote"),
    generate: fields.has("generate"),
    withToolset: fields.has("withToolset"),
  };
}

export function jobBodyOf(values: JobFormValues): JobBody {
  const { server, tools, depth } = values;
  return {
    ...(server === undefined ? { all: true } : { server, tools }),
    options: {
      depth,
      ...number("candidatesPerTool", values.candidates),
      ...number("promptsPerCategory", values.prompts),
      // Rounded, or 0.29 would be 0.29000000000000004.
      ...(values.threshold === ""
        ? {}
        : { thresholds: { minOverall: Math.round(Number(values.threshold) * 10_000) / 1e6 } }),
      ...number("maxRuns", values.maxRuns),
      ...number("maxCostUsd", values.maxCost),
      autoPromote: values.autoPromote,
      generate: values.generate,
      withToolset: values.withToolset,
    },
  };
}

/** What the API answers; undefined where it is none. */
export function readEstimate(answer: unknown): Estimate | undefined {
  if (typeof answer !== "object" || answer === null || !("estimate" in answer)) return undefined;
  return isEstimate(answer.estimate) ? answer.estimate : undefined;
}

function isEstimate(value: unknown): value is Estimate {
  return typeof value === "object" && value !== null && "tools" in value && "runs" in value &&
    "seconds" in value && "costUsd" in value && "basis" in value;
}

/** "2 tools, up to 90 runs, about 6 min, about $0.40" */
export function estimateWords({ tools, runs, seconds, costUsd }: Estimate): string {
  // Nobody plans by the minute what takes hours.
  const time = seconds < 90
    ? `${Math.ceil(seconds)} s`
    : seconds < 90 * 60
    ? `${Math.ceil(seconds / 60)} min`
    : `${Math.ceil(seconds / 3_600)} h`;
  const cost = costUsd === null ? "cost not known yet" : `about ${dollars(costUsd)}`;
  return `${formatCount(tools, "tool")}, up to ${formatCount(runs, "run")}, about ${time}, ${cost}`;
}

function number(name: string, text: string): Record<string, number> {
  return text === "" ? {} : { [name]: Number(text) };
}
