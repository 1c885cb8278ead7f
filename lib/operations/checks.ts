import * as z from "zod";
import { OptimizationJob } from "../core/optimization.ts";
import { GatewayError } from "../core/errors.ts";
import { fieldHints } from "./fields.ts";
import { HOW, JobInput, SPEND } from "./jobs.ts";
import { decidedBy, operation, type OperationCall, type OutputOf, READS } from "./operation.ts";
import { CheckReport, checkText } from "./optimization/check_report.ts";
import { JobEstimate, JobId } from "./optimization/schemas.ts";
import type { OptimizationAdmin } from "./optimization_admin.ts";

const { server, tools, all, promptsPerCategory, threshold } = JobInput.shape;
const Percent = z.number().min(0).max(100);

const CheckInput = z.strictObject({
  server,
  tools,
  all: all.unwrap().optional().describe("Check all servers"),
  threshold: threshold.clone().register(fieldHints, {
    placeholder: "PERCENT",
    help: "Share of prompts that must be answered correctly",
  }),
  negative: Percent.default(80).describe("Percent").register(fieldHints, {
    placeholder: "PERCENT",
    help: "Share of negative prompts that must be answered correctly",
  }),
  promptsPerCategory: promptsPerCategory.unwrap().optional().register(fieldHints, {
    flag: "prompts",
    placeholder: "N",
    help: "Maximum prompts per category; default: all",
  }),
  repeats: HOW.repeats,
  models: HOW.models,
  withToolset: HOW.withToolset,
  view: HOW.view,
  surface: HOW.surface,
  strict: HOW.strict,
  maxRuns: HOW.maxRuns,
  maxCostUsd: HOW.maxCostUsd,
});
type CheckInput = z.infer<typeof CheckInput>;

const report = operation({
  ...READS,
  name: "optimization.check_report",
  title: "Report of a check",
  description: "Show which tools of a check reached the thresholds.",
  input: z.strictObject({ jobId: JobId }),
  output: CheckReport,
  run: async ({ optimization }, { jobId }) => await (await optimization()).checkReport(jobId),
  text: checkText,
});

const estimate = operation({
  ...SPEND,
  effect: "read",
  name: "optimization.check_estimate",
  title: "Estimate a check",
  description: "Estimate a check's runs, time and cost without starting it.",
  input: CheckInput,
  output: JobEstimate,
  async run({ optimization }, input, call) {
    const admin = await optimization();
    return await admin.jobs.estimate(checkRequest(admin, input, call));
  },
});

const check = operation({
  ...SPEND,
  name: "optimization.check",
  title: "Check descriptions",
  description:
    "Test the descriptions in use with the saved prompts, against thresholds. Promotes nothing.",
  input: CheckInput,
  output: z.object({
    job: OptimizationJob,
    estimate: JobEstimate,
    check: CheckReport.optional().describe("Present once the job has completed"),
  }),
  cli: "optimize check [TOOL...]",
  follow: {
    estimate: { operation: "optimization.check_estimate", input: (input) => input },
    result: {
      operation: "optimization.check_report",
      input: ({ job }) => ({ jobId: job.id }),
      add: (output, check: OutputOf<typeof report>) => ({ ...output, check }),
    },
  },
  async run({ optimization }, input, call) {
    const admin = await optimization();
    const request = checkRequest(admin, input, call);
    const estimate = await admin.jobs.estimate(request);
    if (estimate.runs === 0) throw nothingToCheck();
    return { job: await admin.jobs.start(request), estimate };
  },
  text: ({ job, check }) => check ? checkText(check) : `Check ${job.id} is running.`,
  next: ({ job, check }) =>
    check ? [] : [{ label: "See its progress", operation: "job.show", input: { jobId: job.id } }],
});

export const CHECK_OPERATIONS = { check, checkReport: report, checkEstimate: estimate };

function checkRequest(
  admin: OptimizationAdmin,
  { server, tools, all, threshold, negative, ...options }: CheckInput,
  call: Pick<OperationCall, "principal" | "via">,
) {
  return {
    ...admin.locateTarget({ server, tools, all }),
    options: {
      ...options,
      depth: "quick" as const,
      check: true,
      generate: false,
      autoPromote: false,
      thresholds: { minOverall: threshold / 100, minNegative: negative / 100 },
    },
    principal: call.principal,
    by: decidedBy(call),
  };
}

function nothingToCheck(): GatewayError {
  return new GatewayError("NOT_FOUND", {
    message: "Nothing to check: these tools have no golden prompts",
    recoveryAction: "Save prompts first, or import a file that has some",
    next: [
      { label: "Import prompts", operation: "optimization.import" },
      { label: "Save prompts", operation: "optimization.save_prompts" },
    ],
  });
}
