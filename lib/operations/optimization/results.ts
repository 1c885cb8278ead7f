import {
  CANONICAL,
  type CategoryScores,
  EvalRun,
  newId,
  textHash,
  type ToolCandidate,
  type ToolText,
} from "../../core/optimization.ts";
import type { ModelFamily } from "../../core/model_family.ts";
import { textOf } from "../../core/tool_text.ts";
import { defined } from "../../core/defined.ts";
import { GatewayError } from "../../core/errors.ts";
import { addConfusions, confusionOf } from "../../optimizer/evaluation/confusion.ts";
import { noMetrics, specMetrics, wilson } from "../../optimizer/evaluation/metrics.ts";
import {
  findSubject,
  locateTool,
  type OptimizationAdminOptions,
  ownName,
  resolveSubject,
} from "./subjects.ts";
import { evidenceOf, isReported, type ToolRecords } from "./evidence.ts";
import type {
  AskedResults,
  CandidateResults,
  Evidence,
  PromptRank,
  ReportedRun,
  RunSummary,
} from "./schemas.ts";
import { shortened } from "../../core/text.ts";
import { promptNotFound } from "./prompts.ts";

/** How many runs are told of one candidate: of one alone, and of one of many. */
const MOST_RUNS = 200;
const MOST_RUNS_OF_MANY = 30;
const MOST_CHARS = 4_000;

/** What evaluations and callers found out, by description. */
export class ToolResults {
  readonly #options: OptimizationAdminOptions;

  constructor(options: OptimizationAdminOptions) {
    this.#options = options;
  }

  async records(server: string, tool: string): Promise<ToolRecords> {
    const { prompts, evaluations, runs, promotions } = this.#options;
    const [current, all, found] = await Promise.all([
      prompts.list(server, tool),
      evaluations.list(server, tool),
      runs.list(server, tool),
    ]);
    const subject = findSubject(this.#options, server, tool);
    return {
      canonical: subject && (subject.canonicalDescription ?? ""),
      ...defined({ parameters: subject?.parameters }),
      prompts: current,
      evaluations: all,
      runs: found,
      inForce: promotions.of(server, tool),
      ofFamily: Object.fromEntries(
        promotions.allOf(server, tool).flatMap((one) =>
          one.family === undefined ? [] : [[one.family, one]]
        ),
      ),
    };
  }

  /** For a promotion for all clients, or for those with a family's models. */
  async evidence(
    { server, toolName, id }: ToolCandidate,
    family?: ModelFamily,
  ): Promise<Evidence | undefined> {
    return evidenceOf(id, await this.records(server, toolName), family);
  }

  /** Of one candidate, of one tool's, or of all of a server's; the canonical description first. */
  async list({ candidateId, ...written }: AskedResults): Promise<CandidateResults[]> {
    const { server, tool } = this.#locate(written);
    const tools = await this.#tools(server, tool, candidateId);
    const results = await Promise.all(tools.map(async (tool) => {
      const records = await this.records(server, tool);
      const all = await this.#options.candidates.list(server, tool);
      const tried = [{ id: CANONICAL, description: records.canonical ?? "" }, ...all]
        .filter(({ id }) => candidateId === undefined || id === candidateId);
      const most = candidateId === undefined ? MOST_RUNS_OF_MANY : MOST_RUNS;
      return tried.map(({ id, ...text }) => resultsOf({ tool, most, id, text }, records));
    }));
    const found = results.flat();
    if (candidateId !== undefined && found.every(({ runCount }) => runCount === 0)) {
      throw new GatewayError("NOT_FOUND", {
        message: "No evaluation runs found for candidate - run evaluations first",
        recoveryAction: "Evaluate the candidate",
        recoverySteps: [
          `Evaluate "${candidateId}" of ${server}.${tools.join(", ")}`,
          "Or run the prompts yourself and report each result",
        ],
        next: [
          { label: "Evaluate it", operation: "optimization.evaluate" },
          { label: "Or report your own runs", operation: "optimization.record" },
        ],
      });
    }
    return found;
  }

  /** Keeps what a caller saw when it put a prompt to a description by itself. */
  async record({ candidateId, promptId, result, ...written }: ReportedRun) {
    const { prompts, candidates, runs, onChange } = this.#options;
    const { server, tool } = this.#locate(written);
    const prompt = await prompts.find(server, promptId);
    if (!prompt || prompt.retired) throw promptNotFound(server, promptId);
    const { toolName } = prompt;
    const candidate = candidateId === CANONICAL
      ? undefined
      : await candidates.resolve(server, candidateId);
    const named = candidate?.toolName ??
      (tool === undefined ? toolName : ownName(this.#options, server, tool));
    if (named !== toolName) {
      throw new GatewayError("INVALID_ARGUMENTS", {
        message:
          `Cannot record this run: prompt "${promptId}" is for the tool "${toolName}", but "${candidateId}" was tried for "${named}"`,
        recoverySteps: [`Use a prompt saved for "${named}"`],
      });
    }
    const subject = resolveSubject(this.#options, { server, tool: toolName });
    const text = candidate ?? { description: subject.canonicalDescription ?? "" };
    const { toolCalled, durationMs, reasoning } = result;
    const error = result.error?.trim() ?? "";
    const isError = error !== "";
    const correct = !isError && toolCalled === prompt.expectedBehavior.shouldCallTool;
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
        correct,
        ...defined({
          error: isError ? shortened(error, MOST_CHARS) : undefined,
          reasoning: reasoning && shortened(reasoning, MOST_CHARS),
        }),
        durationMs,
      },
      calls: toolCalled
        ? [{ name: subject.flatName, server, tool: toolName, arguments: null }]
        : [],
      evaluator: "caller",
      descriptionHash: textHash(text),
    });
    await runs.save(run);
    onChange?.();
    return { runId: run.id, correct, isError };
  }

  /** A tool, or all tools of a server. */
  #locate(
    { server, tool }: Pick<AskedResults, "server" | "tool">,
  ): { server: string; tool?: string } {
    if (tool !== undefined) return locateTool(this.#options, { server, tool });
    if (server !== undefined) return { server };
    throw new GatewayError("INVALID_ARGUMENTS", { message: "Name a server, or one of its tools" });
  }

  /** The tools that a question is about. */
  async #tools(server: string, tool?: string, candidateId?: string): Promise<string[]> {
    const named = tool === undefined ? undefined : ownName(this.#options, server, tool);
    if (candidateId !== undefined && candidateId !== CANONICAL) {
      const { toolName } = await this.#options.candidates.resolve(server, candidateId);
      if (named !== undefined && named !== toolName) {
        throw new GatewayError("INVALID_ARGUMENTS", {
          message: `Candidate "${candidateId}" is for the tool "${toolName}", not "${named}"`,
        });
      }
      return [toolName];
    }
    if (named !== undefined) return [named];
    // Says so where there is no such server.
    this.#options.canonicalTools(server);
    const [candidates, evaluations, prompts] = await Promise.all([
      this.#options.candidates.list(server),
      this.#options.evaluations.list(server),
      this.#options.prompts.list(server),
    ]);
    const all = [...candidates, ...evaluations, ...prompts];
    return [...new Set(all.map(({ toolName }) => toolName))].sort();
  }
}

function resultsOf(
  { tool, most, id, text }: { tool: string; most: number; id: string; text: ToolText },
  records: ToolRecords,
): CandidateResults {
  const evidence = evidenceOf(id, records);
  const counted = new Set([evidence?.evaluationId]);
  const runs = records.runs.filter((run) =>
    run.candidateId === id &&
    (evidence?.source === "measured" ? counted.has(run.evaluationId) : isReported(run))
  );
  const counts = evidence?.metrics ?? noMetrics();
  const measured = records.evaluations.filter((one) => counted.has(one.id))
    .flatMap(({ results }) => results.find(({ candidateId }) => candidateId === id) ?? []);
  return {
    candidateId: id,
    tool,
    ...textOf(text),
    metrics: specMetrics(counts),
    counts,
    intervals: intervalsOf(counts),
    evidence: evidence ?? null,
    confusion: measured.length === 0
      ? confusionOf(runs, records.prompts, tool)
      : addConfusions(measured.map(({ confusion }) => confusion)),
    // The newest first: it knows the prompts of today.
    ranks: ranksOf(measured[0]?.ranks ?? {}, records),
    ...defined({ missed: measured[0]?.missed, arguments: measured[0]?.arguments }),
    runs: runs.slice(-most).map((run) => summaryOf(run, tool)),
    // Runs are not kept for ever; what was counted from them is.
    runCount: Math.max(runs.length, counts.overall.total + (evidence?.errors ?? 0)),
  };
}

function ranksOf(ranks: Record<string, number | null>, records: ToolRecords): PromptRank[] {
  return Object.entries(ranks).flatMap(([promptId, rank]) => {
    const prompt = records.prompts.find(({ id }) => id === promptId);
    return prompt ? [{ promptId, category: prompt.category, rank }] : [];
  });
}

function intervalsOf(counts: CategoryScores): CandidateResults["intervals"] {
  const of = (name: keyof CategoryScores) => wilson(counts[name]) ?? null;
  const [direct, indirect, negative] = [of("direct"), of("indirect"), of("negative")];
  return { direct, indirect, negative, overall: of("overall") };
}

function summaryOf(
  { id, server, promptId, status, result, calls, timestamp }: EvalRun,
  own: string,
): RunSummary {
  const { toolCalled, correct, error, reasoning, durationMs, missed, arguments: fit } = result;
  // Another server's tool may have the same name.
  const others = calls.filter((call) => call.tool !== own || (call.server ?? server) !== server)
    .map(({ name }) => name);
  return {
    runId: id,
    promptId,
    status,
    toolCalled,
    correct,
    timestamp,
    durationMs,
    otherTools: [...new Set(others)],
    ...defined({ error, missed, arguments: fit, reasoning: reasoning?.slice(0, 500) || undefined }),
  };
}
