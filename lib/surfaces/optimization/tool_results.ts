import {
  CANONICAL,
  CATEGORIES,
  type EvalRun,
  type Metrics,
  type PromptCategory,
  type ToolCandidate,
} from "../../core/optimization.ts";
import { GatewayError } from "../../core/errors.ts";
import { namedCandidate } from "../../optimizer/candidate_lookup.ts";
import { addConfusions, type Confusion, confusionOf } from "../../optimizer/confusion.ts";
import { noMetrics, type SpecMetrics, specMetrics, wilson } from "../../optimizer/metrics.ts";
import type { OptimizationAdminOptions } from "./admin_options.ts";
import { type Evidence, evidenceOf, isReported, type ToolRecords } from "./evidence.ts";
import { findSubject, ownName } from "./subject_lookup.ts";

/** How many runs are told of one candidate: of one alone, and of one of many. */
const MOST_RUNS = 200;
const MOST_RUNS_OF_MANY = 30;

type Interval = { low: number; high: number } | null;

/** One run, as far as a reader of results needs it. */
export interface RunSummary {
  runId: string;
  promptId: string;
  status: EvalRun["status"];
  toolCalled: boolean;
  correct: boolean;
  /** The tools that were called instead, or as well. */
  otherTools: string[];
  error?: string;
  reasoning?: string;
}

/** The tool's place in our own search for one prompt; null: not found. */
export interface PromptRank {
  promptId: string;
  category: PromptCategory;
  rank: number | null;
}

/** What is known of one description of a tool. */
export interface CandidateResults {
  /** `canonical`, or a candidate's. */
  candidateId: string;
  tool: string;
  description: string;
  /** As rates; null where there is no data. */
  metrics: SpecMetrics;
  /** Correct of all. */
  counts: Metrics;
  /** 95 %; null where there is no data. */
  intervals: Record<PromptCategory | "overall", Interval>;
  evidence: Evidence | null;
  /** Which tool was called, by what should have been: counts. */
  confusion: Confusion;
  /** A second opinion without a model. */
  ranks: PromptRank[];
  /** The newest, of what the numbers stand on. */
  runs: RunSummary[];
  runCount: number;
}

export interface AskedResults {
  server: string;
  tool?: string | undefined;
  candidateId?: string | undefined;
}

type Options = Pick<
  OptimizationAdminOptions,
  "candidates" | "prompts" | "runs" | "evaluations" | "subjects" | "canonicalTools"
>;

/** What evaluations and callers found out, by description. */
export class ToolResults {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async records(server: string, tool: string): Promise<ToolRecords> {
    const { prompts, evaluations, runs } = this.#options;
    const [current, versions, all, found] = await Promise.all([
      prompts.list(server, tool),
      prompts.all(server),
      evaluations.list(server, tool),
      runs.list(server, tool),
    ]);
    const subject = findSubject(this.#options, server, tool);
    return {
      canonical: subject && (subject.canonicalDescription ?? ""),
      prompts: current,
      evaluations: all,
      runs: found,
      versions,
    };
  }

  async evidence({ server, toolName, id }: ToolCandidate): Promise<Evidence | undefined> {
    return evidenceOf(id, await this.records(server, toolName));
  }

  /** Of one candidate, of one tool's, or of all of a server's; the canonical description first. */
  async list(input: AskedResults): Promise<CandidateResults[]> {
    const { server, candidateId } = input;
    const tools = await this.#tools(input);
    const results = await Promise.all(tools.map(async (tool) => {
      const records = await this.records(server, tool);
      const all = await this.#options.candidates.list(server, tool);
      const tried = [{ id: CANONICAL, description: records.canonical ?? "" }, ...all]
        .filter(({ id }) => candidateId === undefined || id === candidateId);
      const most = candidateId === undefined ? MOST_RUNS_OF_MANY : MOST_RUNS;
      return tried.map((one) => resultsOf({ tool, most, ...one }, records));
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
        suggestedTools: ["evaluate_candidate", "record_eval_run"],
      });
    }
    return found;
  }

  /** The tools that a question is about. */
  async #tools({ server, tool, candidateId }: AskedResults): Promise<string[]> {
    const named = tool === undefined ? undefined : ownName(this.#options, server, tool);
    if (candidateId !== undefined && candidateId !== CANONICAL) {
      const { toolName } = await namedCandidate(this.#options.candidates, server, candidateId);
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
  { tool, most, id, description }: { tool: string; most: number; id: string; description: string },
  records: ToolRecords,
): CandidateResults {
  const evidence = evidenceOf(id, records);
  const counted = new Set(evidence?.evaluationIds ?? [evidence?.evaluationId]);
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
    description,
    metrics: specMetrics(counts),
    counts,
    intervals: intervalsOf(counts),
    evidence: evidence ?? null,
    confusion: measured.length === 0
      ? confusionOf(runs, records.prompts, tool)
      : addConfusions(measured.map(({ confusion }) => confusion)),
    // The newest first: it knows the prompts of today.
    ranks: ranksOf(measured[0]?.ranks ?? {}, records),
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

function intervalsOf(counts: Metrics): CandidateResults["intervals"] {
  const of = (name: keyof Metrics): Interval => wilson(counts[name]) ?? null;
  const [direct, indirect, negative] = CATEGORIES.map(of);
  return {
    direct: direct ?? null,
    indirect: indirect ?? null,
    negative: negative ?? null,
    overall: of("overall"),
  };
}

function summaryOf(
  { id, server, promptId, status, result, calls }: EvalRun,
  own: string,
): RunSummary {
  const { toolCalled, correct, error, reasoning } = result;
  // Another server's tool may have the same name.
  const others = calls.filter((call) => call.tool !== own || (call.server ?? server) !== server)
    .map(({ name }) => name);
  return {
    runId: id,
    promptId,
    status,
    toolCalled,
    correct,
    otherTools: [...new Set(others)],
    ...(error === undefined ? {} : { error }),
    ...(reasoning === undefined ? {} : { reasoning: reasoning.slice(0, 500) }),
  };
}
