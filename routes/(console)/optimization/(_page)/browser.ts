import * as z from "zod/mini";
import { formatCount } from "../../../../lib/console/ui/format.ts";
import { dollars } from "../../../../lib/console/ui/jobs.ts";

const Estimated = z.object({
  estimate: z.object({
    tools: z.number(),
    runs: z.number(),
    seconds: z.number(),
    costUsd: z.nullable(z.number()),
    basis: z.string(),
  }),
});
export type ShownEstimate = z.infer<typeof Estimated>["estimate"];

/** Text fields of the form; empty: as the job has it by default. `threshold` is in percent. */
const TEXTS = [
  "depth",
  "view",
  "candidates",
  "rounds",
  "prompts",
  "threshold",
  "maxRuns",
  "maxCost",
  "models",
  "repeats",
  "surface",
] as const;
const BOXES = ["autoPromote", "generate", "parameters", "withToolset", "strict"] as const;
/** Before a parameter's path: the name of the field for its text. */
export const PARAMETER = "parameter:";
type Texts = Record<typeof TEXTS[number], string>;
type Boxes = Record<typeof BOXES[number], boolean>;

export interface JobFormValues extends Texts, Boxes {
  server?: string | undefined;
  tools: string[];
}

/** What a job is to do, as the API takes it; its numbers are checked there. */
interface JobBody {
  server?: string;
  tools?: string[];
  all?: boolean;
  options: Record<string, unknown>;
}

/** The same in the browser, which asks for estimates, and in the gateway, which starts jobs. */
export function readJobFields(fields: URLSearchParams, server?: string): JobFormValues {
  const texts = TEXTS.map((name) => [name, fields.get(name)?.trim() ?? ""]);
  // A box that is not ticked is not sent.
  const boxes = BOXES.map((name) => [name, fields.has(name)]);
  return {
    server,
    tools: fields.getAll("tool"),
    ...Object.fromEntries(texts) as Texts,
    ...Object.fromEntries(boxes) as Boxes,
  };
}

export function jobBodyOf(values: JobFormValues): JobBody {
  const { server, tools, depth, view, surface } = values;
  const { autoPromote, generate, parameters, withToolset, strict } = values;
  return {
    ...(server === undefined ? { all: true } : { server, tools }),
    options: {
      ...(depth === "" ? {} : { depth }),
      ...(view === "" ? {} : { view }),
      ...(surface === "" ? {} : { surface }),
      ...number("repeats", values.repeats),
      ...number("candidatesPerTool", values.candidates),
      ...number("rounds", values.rounds),
      ...number("promptsPerCategory", values.prompts),
      // Rounded, or 0.29 would be 0.29000000000000004.
      ...(values.threshold === ""
        ? {}
        : { thresholds: { minOverall: Math.round(Number(values.threshold) * 10_000) / 1e6 } }),
      ...number("maxRuns", values.maxRuns),
      ...number("maxCostUsd", values.maxCost),
      ...(values.models === "" ? {} : { models: values.models.split(/[\s,]+/).filter(Boolean) }),
      autoPromote,
      generate,
      parameters,
      withToolset,
      strict,
    },
  };
}

export function readEstimate(answer: unknown): ShownEstimate | undefined {
  return Estimated.safeParse(answer).data?.estimate;
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
