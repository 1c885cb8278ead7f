import { GatewayError } from "../../core/errors.ts";
import { CANONICAL, descriptionHash, EvalRun, newId } from "../../core/optimization.ts";
import { shortened } from "../../core/shortened.ts";
import { namedCandidate } from "../../optimizer/candidate_lookup.ts";
import type { OptimizationAdminOptions } from "./admin_options.ts";
import { promptNotFound } from "./prompt_sets.ts";
import { ownName, resolveSubject } from "./subject_lookup.ts";

const MOST_CHARS = 4_000;

/** What a caller saw when it put a prompt to a description by itself. */
export interface ReportedRun {
  server: string;
  candidateId: string;
  promptId: string;
  tool?: string | undefined;
  result: {
    toolCalled: boolean;
    /** What the caller thinks; the prompt's expectation decides. */
    correct?: boolean | undefined;
    error?: string | undefined;
    reasoning?: string | undefined;
    durationMs: number;
  };
}

type Options = Pick<
  OptimizationAdminOptions,
  "candidates" | "prompts" | "runs" | "subjects" | "canonicalTools"
>;

/** Keeps what a caller reports. Whether it is correct follows from the prompt. */
export async function recordReportedRun(options: Options, report: ReportedRun): Promise<EvalRun> {
  const { server, candidateId, promptId, result } = report;
  const prompt = await options.prompts.find(server, promptId);
  if (!prompt || prompt.retired) throw promptNotFound(server, promptId);
  const { toolName } = prompt;
  const candidate = candidateId === CANONICAL
    ? undefined
    : await namedCandidate(options.candidates, server, candidateId);
  const named = candidate?.toolName ??
    (report.tool === undefined ? toolName : ownName(options, server, report.tool));
  if (named !== toolName) {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message:
        `Cannot record this run: prompt "${promptId}" is for the tool "${toolName}", and "${candidateId}" was tried for "${named}"`,
      recoverySteps: [`Use a prompt that was saved for "${named}"`],
    });
  }
  const subject = resolveSubject(options, server, toolName);
  const description = candidate?.description ?? subject.canonicalDescription ?? "";
  const { toolCalled, durationMs } = result;
  const error = result.error?.trim() ?? "";
  const isError = error !== "";
  const run = EvalRun.parse({
    id: newId("run"),
    server,
    toolName,
    candidateId,
    promptId,
    promptVersion: prompt.version,
    timestamp: new Date().toISOString(),
    status: isError ? "error" : "ok",
    result: {
      toolCalled,
      correct: !isError && toolCalled === prompt.expectedBehavior.shouldCallTool,
      ...(isError ? { error: shortened(error, MOST_CHARS) } : {}),
      ...(result.reasoning === undefined
        ? {}
        : { reasoning: shortened(result.reasoning, MOST_CHARS) }),
      durationMs,
    },
    calls: toolCalled ? [{ name: subject.flatName, server, tool: toolName, arguments: null }] : [],
    evaluator: "caller",
    descriptionHash: descriptionHash(description),
  });
  await options.runs.save(run);
  return run;
}
