import * as z from "zod";
import { defined } from "../core/defined.ts";
import { GatewayError } from "../core/errors.ts";
import { isObject } from "../core/rpc.ts";
import { Depth, JobOptions, OptimizationJob, Thresholds } from "../core/optimization.ts";
import { DEPTHS } from "../optimizer/evaluation/selection.ts";
import type { JobRequest } from "../optimizer/jobs/selection.ts";
import { RESTART_NOTE } from "../optimizer/report.ts";
import { fieldHints } from "./fields.ts";
import { estimateText, hasEnded, jobLines } from "./optimization/outcomes.ts";
import { JobEstimate, JobId } from "./optimization/schemas.ts";
import { switchedOff } from "./optimization/subjects.ts";
import { decidedBy, operation, type OperationCall, READS } from "./operation.ts";
import type { OptimizationAdmin } from "./optimization_admin.ts";
import type { Services } from "./services.ts";

/** A job may have hundreds of tools. */
const MOST_WARNINGS = 5;
/** What the gateway itself requires; the defaults of a job. */
const LEAST = Thresholds.parse({});
const OtherThresholds = Thresholds.omit({ minOverall: true });
const CONTROL = { rights: ["optimize"], scope: "whole", effect: "write", isLive: true } as const;

/** What spends model time: offered only while optimization is switched on. */
export const SPEND = {
  ...CONTROL,
  available({ isOptimizing }: Pick<Services, "isOptimizing">): void {
    if (!isOptimizing()) throw switchedOff("do this");
  },
};

const PROMPTS_BY_DEPTH = `${DEPTHS.quick.promptsPerCategory} for quick, ` +
  `${DEPTHS.thorough.promptsPerCategory} for thorough`;
const ROUNDS_BY_DEPTH = `${DEPTHS.quick.rounds} for quick, ${DEPTHS.thorough.rounds} for thorough`;
const { shape } = JobOptions;
const PERSONAL = { isHidden: true, isForPeople: true };
/** Whether what writes candidates writes texts for parameters, too. */
export const WRITE_PARAMETERS = shape.parameters.describe("Also write descriptions of parameters");

/** How thoroughly something is tested, and where that ends. */
export const HOW = {
  dryRun: z.boolean().optional().describe("Only estimate")
    .register(fieldHints, { help: "Show the estimate and start nothing" }),
  depth: Depth.default("thorough").register(fieldHints, {
    help: "quick proposes candidates; thorough confirms them",
  }),
  repeats: shape.repeats.register(fieldHints, {
    placeholder: "N",
    help: `Runs per prompt; default: ${DEPTHS.thorough.repeats}`,
  }),
  withToolset: shape.withToolset.describe("Also show the equipped tools"),
  models: shape.models
    .describe("Models, as EVALUATOR:MODEL").register(fieldHints, {
      placeholder: "LIST",
      help: "Models to test with, such as claude-cli:sonnet,openai-api:gpt-5-mini",
      completes: "nothing",
    }),
  view: shape.view.register(fieldHints, {
    help: "inline shows the model all tools; deferred hides them behind the client's tool search",
  }),
  surface: shape.surface.register(fieldHints, {
    placeholder: "SURFACE",
    help: "What the model gets: server, equipped, toolset:NAME, or discovery (search at /mcp)",
  }),
  strict: shape.strict.register(fieldHints, {
    help: "Invalid arguments, extra calls, or not calling an expected sibling count as failures",
  }),
  maxRuns: shape.maxRuns.register(fieldHints, {
    placeholder: "N",
    help: "Maximum number of runs",
  }),
  maxCostUsd: shape.maxCostUsd.register(fieldHints, {
    flag: "max-cost",
    placeholder: "USD",
    help: "Maximum cost",
  }),
};

/** A job's target and options, in the words of every entrance. */
export const JobInput = z.strictObject({
  server: z.string().optional().register(fieldHints, { isHidden: true, completes: "server" }),
  tools: z.array(z.string()).max(2_000).optional().register(fieldHints, { completes: "tool" }),
  all: z.boolean().optional().describe("Optimize all servers"),
  candidatesPerTool: shape.candidatesPerTool.clone()
    .register(fieldHints, { flag: "candidates", placeholder: "N", help: "Candidates per tool" }),
  rounds: shape.rounds.register(fieldHints, {
    placeholder: "N",
    help: `Rounds of writing candidates from failures; default: ${ROUNDS_BY_DEPTH}`,
  }),
  promptsPerCategory: shape.promptsPerCategory
    .register(fieldHints, {
      flag: "prompts",
      placeholder: "N",
      help: `Maximum prompts per category; default: ${PROMPTS_BY_DEPTH}`,
    }),
  threshold: z.number().min(0).max(100).default(100 * LEAST.minOverall)
    .describe("Percent").register(fieldHints, {
      placeholder: "PERCENT",
      help: "Overall score a candidate must reach",
    }),
  thresholds: OtherThresholds.default(OtherThresholds.parse({}))
    .describe("Other promotion rules, as fractions").register(fieldHints, PERSONAL),
  ...HOW,
  autoPromote: shape.autoPromote.register(fieldHints, {
    flag: "promote",
    help: "Promote candidates that are proven better",
  }),
  generate: shape.generate.describe("Write prompts and candidates first")
    .register(fieldHints, PERSONAL),
  parameters: WRITE_PARAMETERS,
  candidateIds: shape.candidateIds.describe("Only these candidates")
    .register(fieldHints, PERSONAL),
});
export type JobInput = z.infer<typeof JobInput>;

const OneJob = z.object({
  job: OptimizationJob,
  note: z.string().optional(),
  warnings: z.array(z.string()).optional(),
});
/** What operations on a known job share; their outcome is how it stands then. */
const KNOWN_JOB = {
  input: z.strictObject({ jobId: JobId }),
  output: OneJob,
  text: ({ job }: z.infer<typeof OneJob>) => jobOutcomeText(job),
  next: ({ job }: z.infer<typeof OneJob>) => nextOfJob(job),
};

const start = operation({
  ...SPEND,
  name: "job.start",
  title: "Optimize",
  description:
    "Start a job that writes candidates and prompts, evaluates them, and promotes those proven better.",
  input: JobInput,
  output: OneJob.partial({ job: true }).extend({ estimate: JobEstimate }),
  mcp: "optimize_tools",
  cli: "optimize run [TOOL...]",
  follow: { estimate: { operation: "job.estimate", input: (input) => input } },
  async run({ optimization }, input, call) {
    const admin = await optimization();
    const request = admin.withinRights(call.principal, jobRequest(admin, input, call));
    const estimate = await admin.jobs.estimate(request);
    if (input.dryRun) return { job: undefined, estimate };
    const job = await admin.jobs.start(request);
    const { warnings = [] } = warningsOfJob(job);
    if (input.autoPromote && !admin.mayPromote(call.principal)) warnings.unshift(UNPROMOTED);
    return { job, estimate, ...(warnings.length > 0 ? { warnings } : {}) };
  },
  text: ({ job, estimate }) =>
    `Estimate: ${estimateText(estimate)}.\n${job ? jobOutcomeText(job) : NOTHING_STARTED}`,
  next: ({ job }) => job ? nextOfJob(job) : [],
});

/** The outcome of an estimate alone. */
export const NOTHING_STARTED = "Nothing was started.";
const UNPROMOTED = 'Nothing will be promoted: promotion requires a token with the right "manage"';

const estimate = operation({
  ...CONTROL,
  effect: "read",
  name: "job.estimate",
  title: "Estimate a job",
  description: "Estimate a job's runs, time and cost without starting it.",
  input: JobInput,
  output: JobEstimate,
  async run({ optimization }, input, call) {
    const admin = await optimization();
    return await admin.jobs.estimate(jobRequest(admin, input, call));
  },
  text: estimateText,
});

const list = operation({
  ...READS,
  name: "job.list",
  title: "List jobs",
  description: "List optimization jobs, newest first.",
  input: z.strictObject({
    limit: z.int().min(1).max(1_000).default(50).describe("Maximum number of jobs")
      .register(fieldHints, { placeholder: "N" }),
  }),
  output: z.object({ jobs: z.array(OptimizationJob) }),
  cli: "optimize jobs",
  async run({ optimization }, { limit }) {
    return { jobs: await (await optimization()).jobs.list(limit) };
  },
});

const show = operation({
  ...READS,
  ...KNOWN_JOB,
  name: "job.show",
  title: "Job progress",
  description: "Get an optimization job's progress and results.",
  mcp: "get_optimization_job",
  cli: "optimize jobs JOB",
  follow: {},
  async run({ optimization }, { jobId }) {
    return jobOutput(await (await optimization()).jobs.get(jobId));
  },
});

const pause = controlOperation("pause", "Pause a job", "Pause a job. Its results are kept.");
const cancel = controlOperation(
  "cancel",
  "Cancel a job",
  "Permanently stop an optimization job. Its results are kept.",
  { mcp: "cancel_optimization_job" },
);
const resume = controlOperation(
  "resume",
  "Resume a job",
  "Continue a paused job where it stopped.",
  { available: SPEND.available },
);

function controlOperation(
  action: "pause" | "resume" | "cancel",
  title: string,
  description: string,
  more: { mcp?: string; available?: typeof SPEND.available } = {},
) {
  return operation({
    ...CONTROL,
    ...KNOWN_JOB,
    ...more,
    name: `job.${action}`,
    title,
    description,
    cli: `optimize ${action} JOB`,
    async run({ optimization }, { jobId }) {
      return jobOutput(await (await optimization()).jobs[action](jobId));
    },
  });
}

const retry = operation({
  ...SPEND,
  name: "job.retry",
  title: "Retry a job",
  description: "Restart the unfinished part of a job with the same options.",
  cli: "optimize retry JOB",
  input: z.strictObject({ jobId: JobId }),
  output: z.object({ jobs: z.array(OptimizationJob) }),
  async run({ optimization }, { jobId }, call) {
    const admin = await optimization();
    return { jobs: await admin.retryJob(jobId, call.principal, decidedBy(call)) };
  },
  text({ jobs }) {
    const servers = jobs.flatMap(({ tools }) => tools[0]?.server ?? []);
    return servers.length === 0
      ? "All tools of this job are done"
      : `Restarted for ${servers.join(", ")}`;
  },
});

export const JOB_OPERATIONS = { start, estimate, list, show, pause, resume, cancel, retry };

export function jobOutcomeText(job: OptimizationJob): string {
  return [...jobLines(job), ...(hasPromoted(job) ? [RESTART_NOTE] : [])].join("\n");
}

export function nextOfJob(job: OptimizationJob) {
  const input = { jobId: job.id };
  const resume = { label: "Resume it", operation: "job.resume", input };
  return hasEnded(job)
    ? [
      { label: "See the results", operation: "optimization.results" },
      ...(job.joint?.some(({ isHarmful }) => isHarmful)
        ? [{ label: "Revert a description", operation: "optimization.revert" }]
        : []),
      ...(job.tools.some((tool) => tool.promotableCandidateId !== undefined)
        ? [{
          label: "Promote a candidate that the verdict allows",
          operation: "optimization.promote",
        }]
        : []),
      ...(job.tools.some((tool) => tool.proposedCandidateId !== undefined)
        ? [{ label: "Confirm a proposed candidate", operation: "optimization.evaluate" }]
        : []),
    ]
    : [
      { label: `Check job ${job.id} again`, operation: "job.show", input },
      ...(job.status === "paused" ? [resume] : []),
      { label: "Cancel it", operation: "job.cancel", input },
    ];
}

/** What was remarked while the tools' tests were chosen; left out if nothing was. */
export function warningsOfJob({ tools }: OptimizationJob): { warnings?: string[] } {
  const warnings = [...new Set(tools.flatMap(({ plan }) => plan?.warnings ?? []))]
    .map((warning) => warning.replace(/^Warning: /, ""));
  return warnings.length === 0 ? {} : { warnings: warnings.slice(0, MOST_WARNINGS) };
}

function jobOutput(job: OptimizationJob) {
  return { job, ...(hasPromoted(job) ? { note: RESTART_NOTE } : {}), ...warningsOfJob(job) };
}

export function hasPromoted({ tools }: OptimizationJob): boolean {
  return tools.some((tool) => tool.promotedCandidateId !== undefined);
}

/** What the service is asked for. */
export function jobRequest(
  admin: OptimizationAdmin,
  { server, tools, all, threshold, thresholds, dryRun: _, ...options }: JobInput,
  call: Pick<OperationCall, "via"> & Partial<Pick<OperationCall, "principal">>,
): JobRequest {
  const by = decidedBy(call);
  return {
    ...admin.locateTarget({ server, tools, all }),
    options: { ...options, thresholds: { ...thresholds, minOverall: fractionOf(threshold, by) } },
    ...defined({ principal: call.principal }),
    by,
  };
}

/** 85 and 0.85 mean the same. A caller may require more than the gateway does, not less. */
function fractionOf(threshold: number, by: JobRequest["by"]): number {
  const fraction = threshold < 1 ? threshold : threshold / 100;
  if (by === "person" || fraction >= LEAST.minOverall) return fraction;
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot optimize with a threshold of ${
      Math.round(1_000 * fraction) / 10
    } %: the minimum for callers is ${100 * LEAST.minOverall} %`,
    recoverySteps: [
      `Set threshold to ${100 * LEAST.minOverall} to 100, or omit it`,
      "A person can set a lower threshold, in the console or on the command line",
    ],
  });
}

/** The input of a job from a form or an older request, whose options are an object of their own. */
export function flatJob(body: unknown): unknown {
  if (!isObject(body) || !isObject(body.options)) return body;
  const { options: { thresholds, ...options }, ...target } = body;
  if (!isObject(thresholds)) {
    return { ...target, ...options, ...(thresholds ? { thresholds } : {}) };
  }
  const { minOverall, ...others } = thresholds;
  return {
    ...target,
    ...options,
    thresholds: others,
    ...(typeof minOverall === "number" ? { threshold: minOverall < 1 ? minOverall : 100 } : {}),
  };
}
