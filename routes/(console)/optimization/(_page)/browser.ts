import * as z from "zod/mini";
import { formatCount } from "../../../../lib/console/ui/format.ts";
import { dollars, type JobNews } from "../../../../lib/console/ui/jobs.ts";

/** What a job would take, as the gateway estimates it. */
export interface ShownEstimate {
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

/** What a job is to do, as the API takes it; its numbers are checked there. */
interface JobBody {
  server?: string;
  tools?: string[];
  all?: boolean;
  options: Record<string, unknown>;
}

type Fields = Pick<URLSearchParams, "get" | "getAll" | "has">;

/** The same in the browser, which asks for estimates, and in the gateway, which starts jobs. */
export function readJobFields(fields: Fields, server?: string): JobFormValues {
  const text = (name: string) => fields.get(name)?.trim() ?? "";
  return {
    ...(server === undefined ? {} : { server }),
    tools: fields.getAll("tool"),
    depth: text("depth"),
    candidates: text("candidates"),
    prompts: text("prompts"),
    threshold: text("threshold"),
    maxRuns: text("maxRuns"),
    maxCost: text("maxCost"),
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
      ...(depth === "" ? {} : { depth }),
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
export function readEstimate(answer: unknown): ShownEstimate | undefined {
  if (typeof answer !== "object" || answer === null || !("estimate" in answer)) return undefined;
  return isEstimate(answer.estimate) ? answer.estimate : undefined;
}

function isEstimate(value: unknown): value is ShownEstimate {
  return typeof value === "object" && value !== null && "tools" in value && "runs" in value &&
    "seconds" in value && "costUsd" in value && "basis" in value;
}

/** "2 tools, up to 90 runs, about 6 min, about $0.40" */
export function formatEstimate({ tools, runs, seconds, costUsd }: ShownEstimate): string {
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

const Line = z.object({
  server: z.string(),
  tool: z.string(),
  state: z.enum(["done", "failed", "working", "queued"]),
  word: z.string(),
  text: z.string(),
  isPromoted: z.boolean(),
});

const Current = z.object({
  server: z.string(),
  tool: z.string(),
  phase: z.enum(["queued", "generating", "evaluating", "promoting", "complete"]),
  categories: z.array(
    z.object({ category: z.string(), done: z.number(), total: z.number() }),
  ),
});

const Shape = z.object({
  id: z.string(),
  status: z.enum(["running", "paused", "completed", "cancelled", "failed"]),
  title: z.string(),
  depth: z.enum(["quick", "thorough"]),
  tools: z.number(),
  done: z.number(),
  percent: z.number(),
  message: z.string(),
  current: z.optional(Current),
  spent: z.string(),
  note: z.optional(z.string()),
  startedAt: z.string(),
  endedAt: z.optional(z.string()),
  mark: z.string(),
  line: z.optional(Line),
});

/** Whether what came on the live channel is about a job. */
export function isJobNews(data: unknown): data is JobNews {
  return Shape.safeParse(data).success;
}
