import { z } from "zod";
import type { Gateway } from "../compose.ts";
import { GatewayError } from "../core/errors.ts";
import { JobOptions, type OptimizationReport } from "../core/optimization.ts";
import { nearestNames } from "../core/nearest.ts";
import type { JobRequest, OptimizationJobs } from "../optimizer/jobs.ts";
import { serverCard, type ToolLine, toolLine } from "./optimization_page.ts";
import { type ShownJob, shownJob } from "./optimization_page_job.ts";
import { type Problem, problemOf } from "./optimization_problem.ts";
import type { MissingName } from "./server_page.ts";
import {
  type Estimate,
  JOB_DEFAULTS,
  jobBodyOf,
  type JobFormValues,
  readJobFields,
} from "./ui/job_form.ts";
import { isActive, jobPath } from "./ui/job_progress.ts";

/** A tool that may be chosen. */
export interface ChoosableTool extends ToolLine {
  description: string;
  isChosen: boolean;
}

export interface JobFormPage {
  isOn: boolean;
  /** Missing where it is about all servers. */
  server?: string;
  tools: ChoosableTool[];
  servers: { name: string; tools: number; enabled: number; optimized: number }[];
  enabled: number;
  values: JobFormValues;
  /** Missing where it could not be made, or would take too long to make at once. */
  estimate?: Estimate;
  problem?: Problem;
  active: ShownJob[];
}

type FormGateway = Pick<Gateway, "optimization" | "servers">;

/** Beyond this many tools the browser asks for the estimate when the page is there. */
const MOST_ESTIMATED = 200;
const JOBS_READ = 30;

/** The form that starts a job, for one server or for all of them. */
export async function jobFormPage(
  gateway: FormGateway,
  { server, query, written, error }: {
    server?: string;
    query: URLSearchParams;
    /** As it was sent, where it could not be started. */
    written?: JobFormValues;
    error?: unknown;
  },
): Promise<JobFormPage> {
  const admin = await gateway.optimization();
  const [reports, jobs] = await Promise.all([admin.report(server), admin.jobs.list(JOBS_READ)]);
  const all = reports.flatMap((report) => report.tools);
  const values = written ?? initialValues(query, server, all);
  const texts = new Map(
    server === undefined ? [] : admin.canonicalTools(server).map((tool) => [tool.name, tool]),
  );
  const chosen = new Set(values.tools);
  const count = server === undefined ? all.length : chosen.size;
  const { estimate, trouble = error } = count === 0 || count > MOST_ESTIMATED || error !== undefined
    ? {}
    : await estimateOf(admin.jobs, values);
  // What a person has not filled in yet is not held against them.
  const problem = error ?? (query.has("depth") ? trouble : undefined);
  return {
    isOn: admin.enabled,
    ...(server === undefined ? {} : { server }),
    tools: server === undefined ? [] : all.map((tool) => ({
      ...toolLine(tool),
      description: texts.get(tool.name)?.description ?? "",
      isChosen: tool.enabled && chosen.has(tool.name),
    })),
    servers: server === undefined ? reports.map(serverLine) : [],
    enabled: all.filter(({ enabled }) => enabled).length,
    values,
    ...(estimate === undefined ? {} : { estimate }),
    ...(problem === undefined ? {} : { problem: problemOf(problem) }),
    active: jobs.map(shownJob).filter((job) =>
      isActive(job) &&
      (server === undefined || job.lines.some((line) => line.server === server))
    ),
  };
}

/** Starts what the form says, and gives the address of the job. */
export async function startJob(gateway: FormGateway, values: JobFormValues): Promise<string> {
  const { jobs } = await gateway.optimization();
  return jobPath((await jobs.start(toRequest(values))).id);
}

/** What a job is to work on, and how. */
export const JobBody = z.strictObject({
  server: z.string().exactOptional(),
  tools: z.array(z.string()).max(2_000).exactOptional(),
  all: z.boolean().exactOptional(),
  options: JobOptions.prefault({}),
});

function toRequest(values: JobFormValues): JobRequest {
  const parsed = JobBody.safeParse(jobBodyOf(values));
  if (parsed.success) return { ...parsed.data, by: "person" };
  const [issue] = parsed.error.issues;
  const field = FIELDS[String(issue?.path[1])] ?? "a field";
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot optimize: ${field} is not valid: ${issue?.message ?? ""}`,
    recoveryAction: "Correct the field and start again",
  });
}

const FIELDS: Record<string, string> = {
  depth: "the depth",
  candidatesPerTool: "candidates per tool",
  promptsPerCategory: "prompts per category",
  thresholds: "the threshold",
  maxRuns: "the most runs",
  maxCostUsd: "the most dollars",
};

/** What a link or a form that was sent back says, else what is usually wanted. */
function initialValues(
  query: URLSearchParams,
  server: string | undefined,
  tools: OptimizationReport["tools"],
): JobFormValues {
  if (query.has("depth")) return readJobFields(query, server);
  const named = new Set(query.getAll("tool"));
  const open = tools.filter(({ enabled, status, stale }) =>
    enabled && (status !== "optimized" || stale)
  );
  const usual = open.length > 0 ? open : tools.filter(({ enabled }) => enabled);
  const chosen = named.size > 0
    ? tools.filter(({ name, enabled }) => enabled && named.has(name))
    : usual;
  return {
    ...JOB_DEFAULTS,
    ...(server === undefined ? {} : { server, tools: chosen.map(({ name }) => name) }),
  };
}

function serverLine(report: OptimizationReport): JobFormPage["servers"][number] {
  const { name, toolCount, optimizedCount } = serverCard(report);
  const enabled = report.tools.filter((tool) => tool.enabled).length;
  return { name, tools: toolCount, enabled, optimized: optimizedCount };
}

async function estimateOf(
  jobs: Pick<OptimizationJobs, "estimate">,
  values: JobFormValues,
): Promise<{ estimate?: Estimate; trouble?: unknown }> {
  try {
    return { estimate: await jobs.estimate(toRequest(values)) };
  } catch (error) {
    if (error instanceof GatewayError) return { trouble: error };
    throw error;
  }
}

/** The form of one server, or the names that the reader may have meant. */
export async function serverFormPage(
  gateway: FormGateway,
  input: Parameters<typeof jobFormPage>[1] & { server: string },
): Promise<JobFormPage | MissingName> {
  const names = gateway.servers.list().map(({ name }) => name);
  if (names.includes(input.server)) return await jobFormPage(gateway, input);
  return { missing: input.server, nearest: nearestNames(input.server, names) };
}
