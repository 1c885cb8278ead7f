import type { z } from "zod";
import type { Overview, RunSummary, SavedPrompts } from "./optimization/schemas.ts";
import { defined } from "../core/defined.ts";
import { replacedBy, textOf } from "../core/tool_text.ts";
import { GatewayError } from "../core/errors.ts";
import { LiveTrialPlan } from "../core/live_trial.ts";
import type { ModelFamily } from "../core/model_family.ts";
import {
  CANONICAL,
  type OptimizationJob,
  parseModelRef,
  type PromotedTool,
  type TextOrigin,
  type ToolCandidate,
} from "../core/optimization.ts";
import { generateCandidates } from "../optimizer/generation/candidates.ts";
import { promptFromArguments } from "../optimizer/generation/from_arguments.ts";
import { generatePrompts } from "../optimizer/generation/prompts.ts";
import type { JobRequest } from "../optimizer/jobs/selection.ts";
import type { OptimizationJobs } from "../optimizer/jobs/queue.ts";
import { textModelFromSampling } from "../optimizer/generation/text_model.ts";
import { progressMessage } from "../optimizer/jobs/progress.ts";
import type { OperationCall } from "./operation.ts";
import {
  canonicalTools,
  type LocatedTool,
  locateTool,
  type OptimizationAdminOptions,
  ownName,
  resolveSubject,
  switchedOff,
  type WrittenTool,
} from "./optimization/subjects.ts";
import {
  keepCandidate,
  promotionRefused,
  type Proposal,
  proposeCandidate,
} from "./optimization/candidates.ts";
import { checkedTool, type CheckReport, checkReport } from "./optimization/check_report.ts";
import {
  exportOptimization,
  importOptimization,
  type OptimizationFile,
} from "./optimization/exchange.ts";
import { descriptionDiff, type DescriptionPatch, issueText } from "./optimization/patch.ts";
import { checkedText } from "./optimization/evaluator.ts";
import { refusalOf } from "./optimization/evidence.ts";
import { familyRefusal, LiveAb } from "./optimization/live_ab.ts";
import { plainText, PromptSets } from "./optimization/prompts.ts";
import { ToolResults } from "./optimization/results.ts";
import type { ToolOptimizationDetail } from "./optimization/schemas.ts";
import { detailOf, reportsOf, ToolStandings } from "./optimization/tool_details.ts";

export type { ToolOptimizationDetail } from "./optimization/schemas.ts";

/** How often somebody who waits for a job is told how far it is. */
const PROGRESS_MS = 1_000;
const SIGN_OF_LIFE_MS = 15_000;

/** Optimization as people, models and programs see it. */
export class OptimizationAdmin {
  readonly #options: OptimizationAdminOptions;
  readonly jobs: OptimizationJobs;
  readonly prompts: PromptSets;
  readonly results: ToolResults;
  readonly standings: ToolStandings;
  /** Promoted descriptions that only a share of sessions gets. */
  readonly live: LiveAb;

  constructor(options: OptimizationAdminOptions) {
    this.#options = options;
    this.jobs = options.jobs;
    this.prompts = new PromptSets(options);
    this.results = new ToolResults(options);
    this.standings = new ToolStandings(options);
    this.live = new LiveAb(options);
  }

  /** Whether model time may be spent. */
  get enabled(): boolean {
    return this.#options.isEnabled();
  }

  setEnabled(on: boolean): Promise<void> {
    return this.#options.setEnabled(on);
  }

  /** Of all servers, or of one. */
  async overview(server?: string): Promise<Overview> {
    const [info, reports] = await Promise.all([this.#options.evaluatorInfo(), this.report(server)]);
    return { enabled: this.enabled, evaluator: { ...info, checked: checkedText(info) }, reports };
  }

  locate(written: WrittenTool): LocatedTool {
    return locateTool(this.#options, written);
  }

  /** What a job is about: a server, some of its tools, or everything. */
  locateTarget(
    { server, tools, all }: {
      server?: string | undefined;
      tools?: string[] | undefined;
      all?: boolean | undefined;
    },
  ): Pick<JobRequest, "server" | "tools" | "all"> {
    if (server !== undefined || all || tools === undefined || tools.length === 0) {
      return defined({ server, tools, all });
    }
    const named = tools.find((name) => this.#options.hasServer(name));
    if (named !== undefined && tools.length === 1) return { server: named };
    if (named !== undefined) {
      throw mixedTarget(`name one server or some tools, not both ("${named}" is a server)`);
    }
    const found = tools.map((tool) => this.locate({ tool }));
    const [owner, ...others] = new Set(found.map(({ server }) => server));
    if (others.length > 0) {
      throw mixedTarget(`name tools of one server only, not of both ${owner} and ${others[0]}`);
    }
    return { server: owner!, tools: [...new Set(found.map(({ tool }) => tool))] };
  }

  canonicalTools(server: string) {
    return canonicalTools(this.#options, server);
  }

  detail(written: WrittenTool): Promise<ToolOptimizationDetail> {
    return detailOf(this.#options, this.results, written);
  }

  /** The runs of the description in force; empty if there are none. */
  async runsInForce({ server, tool, promotion }: ToolOptimizationDetail): Promise<RunSummary[]> {
    const candidateId = promotion?.candidateId ?? CANONICAL;
    const results = await this.results.list({ server, tool, candidateId }).catch((error) => {
      if (error instanceof GatewayError && error.code === "NOT_FOUND") return [];
      throw error;
    });
    return results.flatMap(({ runs }) => runs);
  }

  propose(input: Proposal, origin: TextOrigin): Promise<ToolCandidate> {
    return proposeCandidate(this.#options, input, origin);
  }

  /**
   * A caller may promote what the gateway measured to be better than the description in force. A
   * person may promote anything, but needs a reason otherwise.
   */
  async promote(
    { candidateId, family, share, ...input }: WrittenTool & {
      candidateId: string;
      reason?: string | undefined;
      family?: ModelFamily | undefined;
      /** Percent of sessions that get it at first, in a live A/B. */
      share?: number | undefined;
    },
    by: "caller" | "person",
  ): Promise<PromotedTool> {
    const { promotions } = this.#options;
    const { server, name } = resolveSubject(this.#options, input);
    const candidate = await this.resolveCandidate({ server, tool: name, candidateId });
    const current = promotions.of(server, name, family);
    // Asked twice, it is promoted once.
    const isSame = current?.candidateId === candidateId && share === undefined;
    if (isSame && !promotions.staleness(server, name, family)) return current;
    const evidence = await this.results.evidence(candidate, family);
    // Numbers that nothing can be concluded from do not go on record as its own.
    const holds = evidence?.problem === undefined ? evidence : undefined;
    const { metrics, baseline, evaluationId, depth, verdict, prompts, source } = holds ?? {};
    const tested = (await this.#options.evaluations.list(server, name))
      .find(({ id }) => id === evaluationId);
    const testedWith = tested?.askedModel === undefined
      ? undefined
      : { evaluator: tested.evaluator, model: tested.askedModel };
    const models = tested?.models?.map((ref) => parseModelRef(ref).model) ??
      (testedWith ? [testedWith.model] : []);
    const refusal = refusalOf(evidence, family) ?? familyRefusal(family, models);
    const reason = input.reason?.trim() || undefined;
    if (refusal !== undefined && (by === "caller" || reason === undefined)) {
      throw promotionRefused(candidate, refusal, by);
    }
    const promoted = promotions.promote({
      server,
      toolName: name,
      candidateId,
      ...textOf(candidate),
      ...defined({
        metrics,
        baseline,
        evaluationId,
        depth,
        verdict,
        prompts,
        source,
        reason,
        testedWith,
        family,
        ab: share === undefined ? undefined : LiveTrialPlan.parse({ share }),
        testedModels: tested?.models,
      }),
      by,
      over: current?.id ?? null,
    });
    return await this.#told(promoted);
  }

  /** Back to the server's own description, or to an earlier promotion by its event's id. */
  revert(
    { to, reason, family, ...written }: WrittenTool & {
      to?: string | undefined;
      reason?: string | undefined;
      family?: ModelFamily | undefined;
    },
    by: "caller" | "person",
  ): Promise<PromotedTool | null> {
    const scope = { ...this.named(written), family };
    return this.#told(
      this.#options.promotions.revert({ ...scope, ...defined({ to, reason }), by }),
    );
  }

  keep(
    { family, ...written }: WrittenTool & { family?: ModelFamily | undefined },
  ): Promise<PromotedTool> {
    return this.#told(
      this.#options.promotions.keep({ ...this.named(written), family, by: "person" }),
    );
  }

  /** What came of a check's tools. */
  async checkReport(jobId: string): Promise<CheckReport> {
    const { evaluations, runs, prompts } = this.#options;
    const { tools } = await this.jobs.get(jobId);
    const checked = await Promise.all(
      tools.map(async (tool) => {
        const { server, toolName, evaluationId } = tool;
        return checkedTool(tool, {
          evaluation: await evaluations.find(server, toolName, evaluationId),
          runs: await runs.list(server, toolName, { evaluationId }),
          prompts: await prompts.list(server, toolName),
        });
      }),
    );
    return checkReport(checked.flat());
  }

  /** Of these tools or servers; of everything without any. */
  exportFile(names: readonly string[]): Promise<string> {
    const wanted = names.map((name) =>
      this.#options.hasServer(name) ? { server: name } : this.named({ tool: name })
    );
    return exportOptimization(
      this.#options,
      ({ server, tool }) =>
        wanted.length === 0 ||
        wanted.some((one) => one.server === server && (!("tool" in one) || one.tool === tool)),
    );
  }

  importFile(file: OptimizationFile, how: { mode: "merge" | "replace"; dryRun: boolean }) {
    return importOptimization(this.#options, file, how);
  }

  /** A text for the server's author, about a candidate or what is promoted. */
  async patch(
    { candidateId, path, source, ...written }: WrittenTool & {
      candidateId?: string | undefined;
      path?: string | undefined;
      source?: string | undefined;
    },
  ): Promise<z.infer<typeof DescriptionPatch>> {
    const { server, name, canonicalDescription, parameters } = resolveSubject(
      this.#options,
      written,
    );
    const promoted = this.#options.promotions.of(server, name);
    const id = candidateId ?? promoted?.candidateId;
    if (id === undefined) throw nothingPromoted(`${server}.${name}`);
    const candidate = await this.resolveCandidate({ server, tool: name, candidateId: id });
    const evidence = await this.results.evidence(candidate);
    const { evaluationId } = evidence ?? {};
    const input = {
      server,
      tool: name,
      canonical: canonicalDescription ?? "",
      parameters: replacedBy([candidate], parameters),
      text: candidate,
      evidence,
      evaluation: evaluationId === undefined
        ? undefined
        : await this.#options.evaluations.find(server, name, evaluationId),
    };
    if (source === undefined) return { format: "issue", text: issueText(input), candidateId: id };
    const text = descriptionDiff(input, { path: path ?? "server", source });
    return { format: "diff", text, candidateId: id };
  }

  /** One for each server, or of one. */
  report(server?: string) {
    return reportsOf(this.#options, server);
  }

  /** Has a model write candidates, and keeps them. */
  async generateCandidates(
    { count, parameters, ...written }: WrittenTool & { count: number; parameters?: boolean },
    sample: OperationCall["sample"],
    signal: AbortSignal,
  ): Promise<{ candidates: ToolCandidate[]; warnings: string[] }> {
    this.#requireEnabled("generate candidates");
    const subject = resolveSubject(this.#options, written);
    const { server } = subject;
    const existing = await this.#options.candidates.list(server, subject.name);
    const prompts = await this.#options.prompts.list(server, subject.name);
    const { descriptions, warnings } = await generateCandidates({
      model: await this.#modelOf(sample),
      target: subject,
      count,
      existing,
      prompts: prompts.filter(({ heldOut }) => !heldOut),
      ...defined({ withParameters: parameters }),
      screen: (text) => this.#options.promotions.problemOf(server, text),
      signal,
    });
    const candidates: ToolCandidate[] = [];
    for (const written of descriptions) {
      const input = { server, tool: subject.name, ...written };
      candidates.push((await keepCandidate(this.#options, input, "generated")).candidate);
    }
    return { candidates, warnings };
  }

  /** Has a model write prompts, and keeps them. */
  async generatePrompts(
    input: WrittenTool & { directCount: number; indirectCount: number; negativeCount: number },
    sample: OperationCall["sample"],
    signal: AbortSignal,
  ): Promise<SavedPrompts> {
    this.#requireEnabled("generate prompts");
    const { directCount: direct, indirectCount: indirect, negativeCount: negative } = input;
    const subject = resolveSubject(this.#options, input);
    const { server } = subject;
    if (direct + indirect + negative === 0) {
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: "Cannot generate prompts: the number is 0 for every category",
        recoveryAction: "Ask for at least one direct, indirect or negative prompt",
      });
    }
    const existing = await this.#options.prompts.list(server, subject.name);
    const { prompts, warnings } = await generatePrompts({
      model: await this.#modelOf(sample),
      target: subject,
      counts: { direct, indirect, negative },
      existing: existing.map(({ prompt }) => prompt),
      signal,
    });
    const saved = await this.prompts.save({ server, tool: subject.name, prompts }, "generated");
    return { ...saved, warnings: [...new Set([...warnings, ...saved.warnings])] };
  }

  /** The texts of all saved prompts, by `server.tool`. */
  async savedPrompts(): Promise<Map<string, Set<string>>> {
    const all = [...(await this.#options.prompts.byServer()).values()].flat();
    const named = Map.groupBy(all, ({ server, toolName }) => `${server}.${toolName}`);
    return new Map(
      [...named].map(([name, own]) => [name, new Set(own.map(({ prompt }) => plainText(prompt)))]),
    );
  }

  /** What a user may have said before a model called the tool with these arguments. */
  async promptFromArguments(
    written: WrittenTool,
    given: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<string> {
    this.#requireEnabled("write a prompt");
    const target = resolveSubject(this.#options, written);
    return await promptFromArguments(await this.#options.textModel(), target, given, signal);
  }

  /** The calling client's own model if it lends one, else the gateway's. */
  async #modelOf(sample: OperationCall["sample"]) {
    return sample ? textModelFromSampling(sample) : await this.#options.textModel();
  }

  /** Waits until a job has ended or waits for somebody, or for so long. */
  async followJob(
    job: OptimizationJob,
    seconds: number,
    { signal, progress }: Pick<OperationCall, "signal" | "progress">,
  ): Promise<OptimizationJob> {
    const until = performance.now() + 1_000 * seconds;
    let current = job;
    let [last, toldAt] = ["", -Infinity];
    for (let left = 1_000 * seconds; left > 0; left = until - performance.now()) {
      current = await this.jobs.wait(job.id, Math.min(left, PROGRESS_MS), signal);
      if (current.status !== "running") break;
      const message = progressMessage(current);
      // Clients that hear nothing for a minute give up, even if there is nothing new to say.
      if (message === last && performance.now() - toldAt < SIGN_OF_LIFE_MS) continue;
      [last, toldAt] = [message, performance.now()];
      progress(message);
    }
    return current;
  }

  /** Starts again what a job did not get done, with the same options: one job a server. */
  async retryJob(id: string, principal: string, by: JobRequest["by"]): Promise<OptimizationJob[]> {
    const { tools, options } = await this.jobs.get(id);
    const undone = tools.filter(({ failed, phase }) => failed || phase !== "complete");
    const started: OptimizationJob[] = [];
    for (const [server, own] of Map.groupBy(undone, ({ server }) => server)) {
      const names = own.map(({ toolName }) => toolName);
      const request = this.withinRights(principal, { server, tools: names, options, by });
      try {
        started.push(await this.jobs.start(request));
      } catch (error) {
        if (started.length === 0 || !(error instanceof GatewayError)) throw error;
        const done = started.flatMap((job) => job.tools[0]?.server ?? []).join(", ");
        throw new GatewayError(error.code, {
          ...error.details,
          message: `Restarted for ${done}, but not for ${server}: ${error.message}`,
          cause: error,
        });
      }
    }
    return started;
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

  #requireEnabled(attempt: string): void {
    if (!this.enabled) throw switchedOff(attempt);
  }

  /** Also a tool that its server no longer has. */
  named(written: WrittenTool): LocatedTool {
    const { server, tool } = this.locate(written);
    return { server, tool: ownName(this.#options, server, tool) };
  }

  /** The candidate, if it is this tool's. */
  async resolveCandidate(
    { candidateId, ...written }: WrittenTool & { candidateId: string },
  ): Promise<ToolCandidate> {
    if (candidateId === CANONICAL) {
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: "The server's own description is not a candidate",
        recoveryAction: "Name a candidate, or revert to return to the server's own description",
        next: [
          { label: "Revert", operation: "optimization.revert" },
          { label: "See the candidates", operation: "optimization.results" },
        ],
      });
    }
    const { server, tool: named } = this.named(written);
    const candidate = await this.#options.candidates.resolve(server, candidateId);
    if (candidate.toolName === named) return candidate;
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `Candidate "${candidateId}" is for the tool "${candidate.toolName}", not "${named}"`,
      recoveryAction: `Name a candidate of "${named}", or the tool "${candidate.toolName}"`,
    });
  }
}

function mixedTarget(why: string): GatewayError {
  return new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot optimize: ${why}`,
    recoveryAction: "Start one job per server, or one for all servers",
  });
}

function nothingPromoted(name: string): GatewayError {
  return new GatewayError("NOT_FOUND", {
    message: `Nothing is promoted for ${name}`,
    recoveryAction: "Name a candidate",
    next: [{ label: "See its candidates", operation: "optimization.results" }],
  });
}
