import type { OptimizationAdmin } from "../../../../lib/operations/optimization_admin.ts";
import type { Services } from "../../../../lib/operations/services.ts";
import { flatJob, JOB_OPERATIONS, JobInput, jobRequest } from "../../../../lib/operations/jobs.ts";
import { type OperationCall, runOperation } from "../../../../lib/operations/operation.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";
import { formError } from "../../../../lib/console/errors.ts";
import type { Gateway } from "../../../../lib/gateway.ts";
import { JobOptions } from "../../../../lib/core/optimization.ts";
import type { OptimizationReport } from "../../../../lib/core/optimization_report.ts";
import { lineOfTool, shownJob } from "./model.ts";
import { type MissingName, missingName } from "../../../../lib/console/lists.ts";
import { jobBodyOf, type JobFormValues, readJobFields, type ShownEstimate } from "./browser.ts";
import { isActive, jobPath } from "../../../../lib/console/ui/jobs.ts";

export type JobFormPage = Exclude<Awaited<ReturnType<typeof jobFormPage>>, MissingName>;

/** Beyond this many tools the browser asks for the estimate when the page is there. */
const MOST_ESTIMATED = 200;
const JOBS_READ = 30;

/** Without a server, the form is about all of them. */
export async function jobFormPage(
  gateway: Pick<Gateway, "optimization" | "servers">,
  { server, query, written, error }: {
    server: string | undefined;
    query: URLSearchParams;
    written?: JobFormValues;
    error?: unknown;
  },
) {
  const names = gateway.servers.list().map(({ name }) => name);
  if (server !== undefined && !names.includes(server)) return missingName(server, names);
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
    : await estimateOf(admin, values);
  // What a person has not filled in yet is not held against them.
  const problem = error ?? (query.has("depth") ? trouble : undefined);
  return {
    isOn: admin.enabled,
    server,
    tools: server === undefined ? [] : all.map((tool) => ({
      ...lineOfTool(tool),
      description: texts.get(tool.name)?.description ?? "",
      isChosen: tool.enabled && chosen.has(tool.name),
    })),
    servers: server !== undefined ? [] : reports.map((report) => ({
      name: report.serverName,
      tools: report.toolCount,
      enabled: report.tools.filter((tool) => tool.enabled).length,
      optimized: report.optimizedCount,
    })),
    enabled: all.filter(({ enabled }) => enabled).length,
    values,
    /** Undefined if it could not be made, or would take too long to make at once. */
    estimate,
    problem: problem === undefined ? undefined : formError(problem),
    active: jobs.map(shownJob).filter((job) =>
      isActive(job) &&
      (server === undefined || job.lines.some((line) => line.server === server))
    ),
  };
}

export async function submitJob(
  gateway: Services,
  values: JobFormValues,
  call: OperationCall,
): Promise<string> {
  const { job } = await runOperation(JOB_OPERATIONS.start, gateway, toInput(values), call);
  return jobPath(job!.id);
}

function toInput(values: JobFormValues): JobInput {
  const parsed = JobInput.safeParse(flatJob(jobBodyOf(values)));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = FIELDS[String(issue?.path[0])] ?? "a field";
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot optimize: ${field} is not valid: ${issue?.message ?? ""}`,
    recoveryAction: "Correct the field and start again",
  });
}

const FIELDS: Record<string, string> = {
  depth: "the depth",
  view: "the client's view",
  surface: "what the model gets",
  repeats: "runs per prompt",
  candidatesPerTool: "candidates per tool",
  rounds: "rounds of writing",
  promptsPerCategory: "prompts per category",
  threshold: "the threshold",
  maxRuns: "maximum runs",
  maxCostUsd: "maximum cost",
  models: "models",
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
    ...jobDefaults(),
    ...(server === undefined ? {} : { server, tools: chosen.map(({ name }) => name) }),
  };
}

export function jobDefaults(): JobFormValues {
  const { candidatesPerTool, thresholds, ...options } = JobOptions.parse({ depth: "thorough" });
  const { depth, view, autoPromote, generate, parameters, withToolset, strict } = options;
  return {
    ...readJobFields(new URLSearchParams({ depth, view })),
    ...{ autoPromote, generate, parameters, withToolset, strict },
    candidates: String(candidatesPerTool),
    threshold: String(100 * thresholds.minOverall),
  };
}

async function estimateOf(
  admin: OptimizationAdmin,
  values: JobFormValues,
): Promise<{ estimate?: ShownEstimate; trouble?: unknown }> {
  try {
    const request = jobRequest(admin, toInput(values), { via: "console" });
    return { estimate: await admin.jobs.estimate(request) };
  } catch (error) {
    if (error instanceof GatewayError) return { trouble: error };
    throw error;
  }
}
