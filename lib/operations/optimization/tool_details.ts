import { namespacedName } from "../../catalog/names.ts";
import type { Targets } from "../../optimizer/targets.ts";
import { bestOf } from "../../optimizer/jobs/progress.ts";
import {
  reportedStanding,
  reportOf,
  type ToolRecordFacts,
  type ToolReportInput,
  toolStanding,
} from "../../optimizer/report.ts";
import {
  CANONICAL,
  descriptionHash,
  type Evaluation,
  type GoldenPrompt,
  type ToolCandidate,
} from "../../core/optimization.ts";
import type { OptimizationReport } from "../../core/optimization_report.ts";
import { defined } from "../../core/defined.ts";
import { type OwnParameterTexts, parameterChanges } from "../../core/tool_text.ts";
import { suspectPrompts } from "../../optimizer/evaluation/labels.ts";
import { countRuns, emptyCategoryWarnings } from "../../optimizer/evaluation/metrics.ts";
import {
  findSubject,
  locateTool,
  type OptimizationAdminOptions,
  resolveSubject,
  type WrittenTool,
} from "./subjects.ts";
import { evidenceOf, isReported, newestOfEach } from "./evidence.ts";
import { runningTrials } from "./live_ab.ts";
import type { ToolOptimizationDetail } from "./schemas.ts";
import type { ToolResults } from "./results.ts";

/** A report for each server, or for one. */
export async function reportsOf(
  options: OptimizationAdminOptions,
  server?: string,
): Promise<OptimizationReport[]> {
  // Says so where there is no such server.
  if (server !== undefined) options.canonicalTools(server);
  const byServer = Map.groupBy(options.subjects.tools(server), (tool) => tool.server);
  if (server !== undefined && !byServer.has(server)) byServer.set(server, []);
  const recordsOf = await readRecords(options, server);
  return await Promise.all([...byServer].map(async ([name, tools]) => {
    const facts = tools.map((tool) => withRuns(options, name, factsOf(options, tool, recordsOf)));
    return reportOf(name, await Promise.all(facts));
  }));
}

type RecordsOf = Awaited<ReturnType<typeof readRecords>>;

/** One read of each kind, however many servers there are: a read for each would take far longer. */
async function readRecords(
  { candidates, prompts, evaluations }: OptimizationAdminOptions,
  server: string | undefined,
) {
  const read = async <T extends { server: string; toolName: string }>(kind: {
    list(server: string): Promise<T[]>;
    byServer(): Promise<Map<string, T[]>>;
  }) => {
    const all = server === undefined
      ? [...(await kind.byServer()).values()].flat()
      : await kind.list(server);
    return Map.groupBy(all, (one) => namespacedName(one.server, one.toolName));
  };
  const [proposed, asked, ended] = await Promise.all([
    read<ToolCandidate>(candidates),
    read<GoldenPrompt>(prompts),
    read<Evaluation>(evaluations),
  ]);
  return (server: string, tool: string) => {
    const name = namespacedName(server, tool);
    return {
      candidates: proposed.get(name)?.length ?? 0,
      goldenPrompts: asked.get(name)?.length ?? 0,
      evaluations: ended.get(name) ?? [],
    };
  };
}

function factsOf(
  { promotions }: OptimizationAdminOptions,
  { server, tool, enabled, canonical }: ReturnType<Targets["tools"]>[number],
  recordsOf: RecordsOf,
): ToolRecordFacts {
  const promoted = promotions.allOf(server, tool);
  const reasons = promoted.flatMap(({ family }) =>
    promotions.staleness(server, tool, family)?.reasons ?? []
  );
  const stale = reasons.length > 0;
  const families = promoted.flatMap(({ family }) => family ?? []);
  const share = promoted.find(({ trial }) => trial)?.trial?.share;
  const more = defined({
    promotion: promoted.find(({ family }) => family === undefined) ?? promoted[0],
    staleReasons: stale ? [...new Set(reasons)] : undefined,
    families: families.length === 0 ? undefined : families,
    share,
  });
  return { tool, enabled, stale, canonical, ...more, ...recordsOf(server, tool) };
}

async function withRuns(
  options: OptimizationAdminOptions,
  server: string,
  facts: ToolRecordFacts,
): Promise<ToolReportInput> {
  const { tool, evaluations: own, goldenPrompts } = facts;
  const { waiting } = await waitingOf(options, server, facts);
  const { runs, prompts } = options;
  // A run needs a prompt: if there never was one, there is nothing to read.
  const found = goldenPrompts + own.length === 0 ? [] : await runs.list(server, tool);
  const ended = new Set(own.map(({ id }) => id));
  // What callers reported, and evaluations that have not come to their end.
  const others = found.filter(({ evaluationId }) =>
    evaluationId === undefined || !ended.has(evaluationId)
  );
  const canonical = facts.canonical === undefined ? undefined : descriptionHash(facts.canonical);
  const reported = others.filter((run) =>
    isReported(run) && run.candidateId === CANONICAL &&
    (canonical === undefined || run.descriptionHash === canonical)
  );
  return {
    ...facts,
    ...defined({ waitingCandidate: waiting?.candidateId }),
    ...(reported.length === 0
      ? {}
      : { reported: countRuns(newestOfEach(reported), await prompts.list(server, tool)) }),
    runs: own.reduce((sum, { runs }) => sum + runs, others.length),
    costs: [...own.filter(({ runs }) => runs > 0), ...others].map(({ cost }) => cost),
  };
}

/** Other processes may evaluate too: what was read is used for so long. */
const KEPT_MS = 10_000;

/** How every tool stands. Reading all evaluations takes long, so they are kept for a moment. */
export class ToolStandings {
  readonly #options: OptimizationAdminOptions;
  #kept: { at: number; saves: number; records: Promise<RecordsOf> } | undefined;

  constructor(options: OptimizationAdminOptions) {
    this.#options = options;
  }

  async list() {
    const recordsOf = await this.#records();
    return await Promise.all(
      this.#options.subjects.tools().map(async (named) => {
        const facts = factsOf(this.#options, named, recordsOf);
        const { waiting, newest } = await waitingOf(this.#options, named.server, facts);
        // Runs are read only where they may be all that there is.
        const mayBeReported = facts.goldenPrompts > 0 && facts.evaluations.length === 0;
        return {
          server: named.server,
          ...(mayBeReported
            ? reportedStanding(await withRuns(this.#options, named.server, facts))
            : toolStanding(facts)),
          evaluatedAt: newest?.endedAt,
          /** Why nothing can be concluded from the newest evaluation, if so. */
          voided: newest?.void,
          waiting,
        };
      }),
    );
  }

  #records(): Promise<RecordsOf> {
    const { evaluations: { saves } } = this.#options;
    const isGood = this.#kept?.saves === saves && Date.now() - this.#kept.at < KEPT_MS;
    if (this.#kept && isGood) return this.#kept.records;
    const records = readRecords(this.#options, undefined);
    this.#kept = { at: Date.now(), saves, records };
    records.catch(() => this.#kept = undefined);
    return records;
  }
}

/** What the newest evaluation allows to promote or proposes, if nobody has decided since. */
async function waitingOf(
  { promotions, subjects }: OptimizationAdminOptions,
  server: string,
  facts: ToolRecordFacts,
) {
  // A check of the description in force decides nothing about candidates.
  const newest =
    facts.evaluations.find(({ results }) => results.some(({ verdict }) => verdict !== undefined)) ??
      facts.evaluations[0];
  const waiting = newest &&
    waitingIn(newest, facts, () => subjects.find(server, facts.tool)?.parameters);
  const [decision] = waiting ? await promotions.history(server, facts.tool) : [];
  const isDecided = decision && newest && decision.time > newest.endedAt;
  return { newest, waiting: isDecided ? undefined : waiting };
}

/** The best candidate, if it may be promoted or a person has to decide, and is not in force. */
function waitingIn(
  { results, void: voided, canonicalParameters }: Evaluation,
  { canonical, promotion }: ToolRecordFacts,
  ownParameters: () => OwnParameterTexts | undefined,
) {
  const own = results.find(({ candidateId }) => candidateId === CANONICAL);
  if (voided !== undefined || own?.description !== canonical) return undefined;
  const isInForce = (id: string) => id === promotion?.candidateId;
  const allowed = results.filter(({ verdict }) => verdict?.promote);
  const best = allowed[0] ?? bestOf(results.filter(({ verdict }) => verdict?.proposed));
  if (best === undefined || isInForce(best.candidateId)) return undefined;
  const isChanged = best.parameters !== undefined &&
    parameterChanges(best, canonicalParameters, ownParameters()).length > 0;
  if (isChanged) return undefined;
  const before = (best.paired?.baseline ?? own?.metrics)?.overall;
  const after = (best.paired?.candidate ?? best.metrics).overall;
  return { candidateId: best.candidateId, before, after };
}

function reportedBaseline(records: Parameters<typeof evidenceOf>[1]) {
  const evidence = evidenceOf(CANONICAL, records);
  return evidence?.source === "reported" ? evidence : null;
}

export async function detailOf(
  options: OptimizationAdminOptions,
  results: ToolResults,
  written: WrittenTool,
): Promise<ToolOptimizationDetail> {
  const { server, tool: named } = locateTool(options, written);
  const subject = findSubject(options, server, named);
  const tool = subject?.name ?? named;
  const [candidates, records, history, jobs, trials] = await Promise.all([
    options.candidates.list(server, tool),
    results.records(server, tool),
    options.promotions.history(server, tool),
    options.jobs.list(),
    runningTrials(options, { server, tool }),
  ]);
  const isKnown = candidates.length > 0 || history.length > 0 || records.prompts.length > 0;
  // What is kept about a tool that is gone can still be looked at.
  if (!subject && !isKnown) resolveSubject(options, { server, tool });
  const job = jobs.find(({ status, tools }) =>
    (status === "running" || status === "paused") &&
    tools.some((one) => one.server === server && one.toolName === tool && one.phase !== "complete")
  );
  return {
    server,
    tool,
    exists: subject !== undefined,
    enabled: subject?.enabled ?? false,
    canonicalDescription: subject?.canonicalDescription ?? null,
    canonicalParameters: subject?.parameters ?? {},
    promotion: options.promotions.of(server, tool) ?? null,
    familyPromotions: options.promotions.allOf(server, tool)
      .filter(({ family }) => family !== undefined),
    trials,
    staleness: options.promotions.staleness(server, tool) ?? null,
    reported: reportedBaseline(records),
    candidates: candidates.map((candidate) => ({
      ...candidate,
      evidence: evidenceOf(candidate.id, records) ?? null,
    })),
    prompts: [...records.prompts],
    suspects: suspectPrompts(records.prompts, records.runs),
    warnings: emptyCategoryWarnings(records.prompts),
    evaluations: [...records.evaluations],
    history,
    job: job ?? null,
  };
}
