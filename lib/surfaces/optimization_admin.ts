import { GatewayError } from "../core/errors.ts";
import {
  CANONICAL,
  type GoldenPrompt,
  type OptimizationReport,
  type Origin,
  type PromotedTool,
  type PromotionEvent,
  type ToolCandidate,
} from "../core/optimization.ts";
import { namedCandidate } from "../optimizer/candidate_lookup.ts";
import { generateCandidates } from "../optimizer/generation/generate_candidates.ts";
import { generatePrompts } from "../optimizer/generation/generate_prompts.ts";
import type { JobRequest, OptimizationJobs } from "../optimizer/jobs.ts";
import type { TextModel } from "../optimizer/text_model.ts";
import type {
  CanonicalTool,
  EvaluatorInfo,
  OptimizationAdminOptions,
} from "./optimization/admin_options.ts";
import { keepCandidate, type Proposal, proposeCandidate } from "./optimization/candidate_texts.ts";
import { checkedWords } from "./optimization/evaluator_words.ts";
import { refusalOf } from "./optimization/evidence.ts";
import { promotionRefused } from "./optimization/promotion_refusal.ts";
import {
  type PromptDraft,
  type PromptEdit,
  PromptSets,
  type SavedPrompts,
} from "./optimization/prompt_sets.ts";
import { recordReportedRun, type ReportedRun } from "./optimization/reported_runs.ts";
import { canonicalTools, ownName, resolveSubject } from "./optimization/subject_lookup.ts";
import { switchedOff } from "./optimization/switched_off.ts";
import { detailOf, reportsOf, type ToolOptimizationDetail } from "./optimization/tool_facts.ts";
import {
  type AskedResults,
  type CandidateResults,
  ToolResults,
} from "./optimization/tool_results.ts";

export type { OptimizationAdminOptions } from "./optimization/admin_options.ts";
export type { ToolOptimizationDetail } from "./optimization/tool_facts.ts";

interface NamedTool {
  server: string;
  tool: string;
}

/** Optimization as people, models and programs see it. */
export class OptimizationAdmin {
  readonly #options: OptimizationAdminOptions;
  readonly #prompts: PromptSets;
  readonly #results: ToolResults;

  constructor(options: OptimizationAdminOptions) {
    this.#options = options;
    this.#prompts = new PromptSets(options);
    this.#results = new ToolResults(options);
  }

  get jobs(): OptimizationJobs {
    return this.#options.jobs;
  }

  /** Whether what spends model time may be done. */
  get enabled(): boolean {
    return this.#options.isEnabled();
  }

  setEnabled(on: boolean): Promise<void> {
    return this.#options.setEnabled(on);
  }

  async overview(): Promise<
    {
      enabled: boolean;
      evaluator: EvaluatorInfo & { checked: string | null };
      reports: OptimizationReport[];
    }
  > {
    const [info, reports] = await Promise.all([this.#options.evaluatorInfo(), this.report()]);
    const evaluator = { ...info, checked: checkedWords(info) };
    return { enabled: this.enabled, evaluator, reports };
  }

  canonicalTools(server: string): CanonicalTool[] {
    return canonicalTools(this.#options, server);
  }

  detail(server: string, tool: string): Promise<ToolOptimizationDetail> {
    return detailOf(this.#options, this.#results, server, tool);
  }

  propose(input: Proposal, origin: Origin): Promise<ToolCandidate> {
    return this.#told(proposeCandidate(this.#options, input, origin));
  }

  /** Saves all of them, or none where one will not do. */
  savePrompts(
    input: NamedTool & { prompts: readonly PromptDraft[] },
    origin: Origin,
  ): Promise<SavedPrompts> {
    return this.#told(this.#prompts.save(input, origin));
  }

  editPrompt(edit: PromptEdit): Promise<GoldenPrompt> {
    return this.#told(this.#prompts.edit(edit));
  }

  retirePrompt(server: string, tool: string, id: string): Promise<void> {
    return this.#told(this.#prompts.retire(server, tool, id));
  }

  /** Whether it was correct follows from the prompt, whatever the caller says. */
  async recordRun(
    report: ReportedRun,
  ): Promise<{ runId: string; correct: boolean; isError: boolean }> {
    const { id, status, result } = await this.#told(recordReportedRun(this.#options, report));
    return { runId: id, correct: result.correct, isError: status === "error" };
  }

  results(input: AskedResults): Promise<CandidateResults[]> {
    return this.#results.list(input);
  }

  /** A caller may where the verdict holds; a person also against it, with a reason. */
  async promote(
    input: NamedTool & { candidateId: string; reason?: string | undefined },
    by: "caller" | "person",
  ): Promise<PromotedTool> {
    const { server, candidateId } = input;
    const { promotions } = this.#options;
    const { name } = resolveSubject(this.#options, server, input.tool);
    const candidate = await this.resolveCandidate({ server, tool: name, candidateId });
    const current = promotions.of(server, name);
    // Asked twice, it is promoted once.
    if (current?.candidateId === candidateId && !promotions.staleness(server, name)) return current;
    const evidence = await this.#results.evidence(candidate);
    const refusal = refusalOf(evidence);
    const reason = input.reason?.trim() ?? "";
    if (refusal !== undefined && (by === "caller" || reason === "")) {
      throw promotionRefused(candidate, refusal, by);
    }
    // Numbers that nothing can be concluded from do not go on record as its own.
    const holds = evidence?.problem === undefined ? evidence : undefined;
    const { metrics, baseline, evaluationId, depth, verdict, prompts, source } = holds ?? {};
    const promoted = promotions.promote({
      server,
      toolName: name,
      candidateId,
      description: candidate.description,
      ...(metrics && baseline ? { metrics, baseline } : {}),
      ...(evaluationId === undefined ? {} : { evaluationId }),
      ...(depth === undefined ? {} : { depth }),
      ...(verdict === undefined ? {} : { verdict }),
      ...(prompts === undefined ? {} : { prompts }),
      ...(source === undefined ? {} : { source }),
      ...(reason === "" ? {} : { reason }),
      by,
    });
    return await this.#told(promoted);
  }

  /** Back to the server's own description, or to an earlier promotion by its event's id. */
  revert(
    { server, tool, to, reason }: NamedTool & {
      to?: string | undefined;
      reason?: string | undefined;
    },
    by: "caller" | "person",
  ): Promise<PromotedTool | null> {
    return this.#told(this.#options.promotions.revert({
      server,
      tool: ownName(this.#options, server, tool),
      ...(to === undefined ? {} : { to }),
      ...(reason === undefined ? {} : { reason }),
      by,
    }));
  }

  keep(server: string, tool: string): Promise<PromotedTool> {
    const named = ownName(this.#options, server, tool);
    return this.#told(this.#options.promotions.keep({ server, tool: named, by: "person" }));
  }

  history(server: string, tool: string): Promise<PromotionEvent[]> {
    return this.#options.promotions.history(server, ownName(this.#options, server, tool));
  }

  /** One for each server, or of one. */
  report(server?: string): Promise<OptimizationReport[]> {
    return reportsOf(this.#options, server);
  }

  /** Has a model write candidates, and keeps them. */
  async generateCandidates(
    { server, tool, count }: NamedTool & { count: number },
    model: TextModel | undefined,
    signal: AbortSignal,
  ): Promise<{ candidates: ToolCandidate[]; warnings: string[] }> {
    this.requireEnabled("generate candidates");
    const subject = resolveSubject(this.#options, server, tool);
    const existing = await this.#options.candidates.list(server, subject.name);
    const prompts = await this.#options.prompts.list(server, subject.name);
    const { descriptions, warnings } = await generateCandidates({
      model: model ?? await this.#options.textModel(),
      subject,
      count,
      existing: existing.map(({ description }) => description),
      prompts: prompts.filter(({ heldOut }) => !heldOut),
      signal,
    });
    const candidates: ToolCandidate[] = [];
    for (const written of descriptions) {
      const input = { server, tool: subject.name, ...written };
      const kept = await this.#told(keepCandidate(this.#options, input, "generated"));
      candidates.push(kept.candidate);
    }
    return { candidates, warnings };
  }

  /** Has a model write prompts, and keeps them. */
  async generatePrompts(
    input: NamedTool & { directCount: number; indirectCount: number; negativeCount: number },
    model: TextModel | undefined,
    signal: AbortSignal,
  ): Promise<SavedPrompts> {
    this.requireEnabled("generate prompts");
    const { server, directCount: direct, indirectCount: indirect, negativeCount: negative } = input;
    const subject = resolveSubject(this.#options, server, input.tool);
    if (direct + indirect + negative === 0) {
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: "Cannot generate prompts: none of any category is asked for",
        recoveryAction: "Ask for at least one direct, indirect or negative prompt",
      });
    }
    const existing = await this.#options.prompts.list(server, subject.name);
    const { prompts, warnings } = await generatePrompts({
      model: model ?? await this.#options.textModel(),
      subject,
      counts: { direct, indirect, negative },
      existing: existing.map(({ prompt }) => prompt),
      signal,
    });
    const saved = await this.savePrompts({ server, tool: subject.name, prompts }, "generated");
    return { ...saved, warnings: [...new Set([...warnings, ...saved.warnings])] };
  }

  /** Says that something was changed, once it was. */
  async #told<T>(change: Promise<T>): Promise<T> {
    const changed = await change;
    this.#options.onChange?.();
    return changed;
  }

  /** Whether a caller may decide which words all clients read. */
  mayPromote(principal: string): boolean {
    return this.#options.mayPromote(principal);
  }

  /** What a caller asks of a job: it promotes nothing for one who could not promote it by hand. */
  withinRights(principal: string, request: JobRequest): JobRequest {
    if (this.mayPromote(principal)) return request;
    return { ...request, options: { ...request.options, autoPromote: false } };
  }

  /** Throws OPTIMIZATION_DISABLED where model time must not be spent. */
  requireEnabled(attempt: string): void {
    if (!this.enabled) throw switchedOff(attempt);
  }

  /** The candidate, if it is this tool's. */
  async resolveCandidate(
    { server, tool, candidateId }: NamedTool & { candidateId: string },
  ): Promise<ToolCandidate> {
    if (candidateId === CANONICAL) {
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: "The server's own description is no candidate",
        recoveryAction: "Name a candidate; or revert, to have the server's own in force again",
        suggestedTools: ["revert_optimization", "get_eval_results"],
      });
    }
    const candidate = await namedCandidate(this.#options.candidates, server, candidateId);
    const named = ownName(this.#options, server, tool);
    if (candidate.toolName === named) return candidate;
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `Candidate "${candidateId}" is for the tool "${candidate.toolName}", not "${named}"`,
      recoveryAction: `Name a candidate of "${named}", or the tool "${candidate.toolName}"`,
    });
  }
}
