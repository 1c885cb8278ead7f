import { defined } from "../../core/defined.ts";
import { GatewayError } from "../../core/errors.ts";
import {
  CATEGORIES,
  GoldenPrompt,
  type JobTool,
  modelRef,
  newId,
  type PromptCategory,
  type RunCost,
  type TestPlan,
  type ToolCandidate,
} from "../../core/optimization.ts";
import { ModelFamily } from "../../core/model_family.ts";
import { type CandidatesInForce, candidatesInForce } from "./models.ts";
import type { JobContext } from "./run.ts";
import { addCosts, spentBy } from "../cost.ts";
import { MOST_TIMEOUTS } from "../evaluation/run.ts";
import { type TextModel, timeoutOf } from "../generation/text_model.ts";
import {
  asSiblingPrompt,
  chooseCandidates,
  chooseHeldOut,
  choosePrompts,
  chooseSiblingPrompts,
  DEPTHS,
  firstWritten,
  heldOutFrom,
  heldOutVersions,
  knownToWriters,
  missingPrompts,
  mostHeldOut,
  PROMPTS_EACH,
  roundsOf,
  type WantedPrompts,
  wantedPrompts,
  WRITTEN_AT_ONCE,
  writtenInView,
} from "../evaluation/selection.ts";
import { generatePrompts } from "../generation/prompts.ts";
import type { DraftPrompt } from "../generation/prompt_rules.ts";
import { isConflict, isStorageError, toolAt } from "./record.ts";
import { MOST_SIBLINGS, nearestSiblings, type Target } from "../targets.ts";
import { byCategory, promptKey } from "../evaluation/metrics.ts";
import { alphaOf } from "../evaluation/evidence.ts";
import { unknownParameters } from "../../core/tool_text.ts";

export interface Preparation {
  prompts: GoldenPrompt[];
  siblingPrompts: GoldenPrompt[];
  /** Those that there are; others may be written while they are tested. */
  candidates: ToolCandidate[];
  writing?: TestPlan["writing"];
  /** The promoted candidate, which the others have to beat. */
  inForce?: ToolCandidate | undefined;
  /** Those that are promoted for a family of the models that are asked. */
  ofFamily: ReadonlyMap<ModelFamily, ToolCandidate>;
  /** The probability of a wrong promotion that the test may spend. */
  alpha: number;
  warnings: string[];
}

/** Takes what is saved, and has what is missing written. CANNOT_GENERATE where nothing can be tested. */
export async function prepareTool(context: JobContext, target: Target): Promise<Preparation> {
  const { server, name } = target;
  await preparePromptsOfServer(context, server);
  const { prompts, wanted, warnings } = await preparePrompts(context, target);
  const own = await context.options.prompts.list(server, name);
  const problem = own.length === 0
    ? undefined
    : knownToWriters({ server, tool: name, prompts, wanted });
  if (problem) throw problem;
  const { candidates, missing } = await candidatesOf(context, target);
  const lacking = [
    ...(prompts.length === 0 ? ["prompts"] : []),
    ...(candidates.length + missing === 0 ? ["candidates"] : []),
  ];
  if (lacking.length > 0) throw nothingToTest(target, lacking, warnings);
  const { depth } = context.record.job.options;
  const siblings = nearestSiblings(target).map((sibling) => sibling.name);
  await prepareSiblings(context, server, siblings);
  const { evaluations, promotions, candidates: repository } = context.options;
  const promoted = candidatesInForce(promotions, target, context.evaluators);
  const saved = new Map((await repository.list(server, name)).map((one) => [one.id, one]));
  return {
    prompts,
    siblingPrompts: chooseSiblingPrompts(
      await context.options.prompts.list(server),
      siblings,
      depth,
    ),
    candidates,
    ...(roundsOf(context.record.job.options) === 0
      ? {}
      : { writing: { first: missing, parents: [] } }),
    inForce: saved.get(promoted.inForce ?? ""),
    ofFamily: candidatesOfFamilies(promoted.ofFamily, (id) => saved.get(id)),
    alpha: alphaOf({
      earlier: (await evaluations.tests(server, name)).map(({ endedAt }) => endedAt),
      now: Date.now(),
      tools: context.record.job.tools.length,
      promoted: context.record.job.tools.filter(hasPromotion).length,
    }),
    warnings,
  };
}

export function nothingToTest(
  { server, name }: Target,
  lacking: readonly string[],
  warnings: readonly string[],
): GatewayError {
  return new GatewayError("CANNOT_GENERATE", {
    message: `Cannot test "${server}.${name}": there are no ${lacking.join(" and no ")}` +
      (warnings.length === 0 ? "" : `. ${warnings.join(". ")}`),
  });
}

function hasPromotion({ promotedCandidateId }: JobTool): boolean {
  return promotedCandidateId !== undefined;
}

/** Without prompts of theirs, nothing would show what a description takes from siblings. */
async function prepareSiblings(
  context: JobContext,
  server: string,
  siblings: readonly string[],
): Promise<void> {
  const { options: { prompts, targets }, record } = context;
  if (record.job.options.depth !== "thorough" || !record.job.options.generate) return;
  const saved = await prompts.list(server);
  for (const name of siblings.slice(0, MOST_SIBLINGS)) {
    const key = `${server}.${name} as a sibling`;
    const hasSome = saved.some(({ toolName, category }) =>
      toolName === name && category === "direct"
    );
    const target = targets.find(server, name);
    if (hasSome || !target || context.written.has(key)) continue;
    const counts = { direct: PROMPTS_EACH.thorough, indirect: 0, negative: 0 };
    const said = await writePrompts(context, target, counts, false);
    context.written.set(key, said.warnings);
    context.signal.throwIfAborted();
  }
}

/** Prompts that nobody has seen, when a test needs more. They become part of its plan. */
export async function writeFresh(
  context: JobContext,
  index: number,
  target: Target,
): Promise<GoldenPrompt[]> {
  const { promptsPerCategory = DEPTHS.thorough.promptsPerCategory } = context.record.job.options;
  const each = Math.min(WRITTEN_AT_ONCE, promptsPerCategory);
  const { prompts } = await writePrompts(context, target, byCategory(() => each), true);
  const { plan } = toolAt(context.record.job, index);
  if (plan && prompts.length > 0) {
    const added = prompts.map(({ id, version }) => ({ id, version, heldOut: true }));
    await context.record.stepTool(index, {
      plan: { ...plan, prompts: [...plan.prompts, ...added] },
    });
  }
  return prompts;
}

async function writePrompts(
  context: JobContext,
  target: Target,
  counts: Record<PromptCategory, number>,
  heldOut: boolean,
): Promise<{ prompts: GoldenPrompt[]; warnings: string[] }> {
  const { prompts: repository } = context.options;
  const { server, name } = target;
  const saved = await repository.list(server, name);
  let prompts: GoldenPrompt[] = [];
  const warnings = await writeForJob(context, "Cannot generate prompts", async (model) => {
    const written = await generatePrompts({
      model,
      target,
      counts,
      existing: saved.map(({ prompt }) => prompt),
      signal: context.signal,
    });
    const all = byCategory((category) => ({
      all: counts[category],
      heldOut: heldOut ? counts[category] : 0,
    }));
    prompts = toGoldenPrompts(written.prompts, target, all);
    await repository.save(prompts);
    return written;
  });
  return { prompts, warnings };
}

export async function restorePlan(
  { options }: JobContext,
  { server }: Target,
  plan: TestPlan,
): Promise<Preparation> {
  const versions = new Map(
    (await options.prompts.all(server)).map((one) => [promptKey(one.id, one.version), one]),
  );
  const find = ({ id, version }: { id: string; version: number }) =>
    versions.get(promptKey(id, version));
  const candidates = await Promise.all(
    plan.candidateIds.map((id) => options.candidates.resolve(server, id)),
  );
  const ofFamily = await Promise.all(
    Object.values(plan.ofFamily ?? {}).map((id) => options.candidates.resolve(server, id)),
  );
  return {
    prompts: plan.prompts.flatMap((one) => {
      const found = find(one);
      return found ? [{ ...found, heldOut: one.heldOut }] : [];
    }),
    siblingPrompts: plan.siblingPrompts.flatMap((one) => find(one) ?? []).map(asSiblingPrompt),
    candidates,
    ...defined({ writing: plan.writing }),
    inForce: plan.inForce === undefined
      ? undefined
      : await options.candidates.resolve(server, plan.inForce),
    ofFamily: candidatesOfFamilies(
      plan.ofFamily ?? {},
      (id) => ofFamily.find((one) => one.id === id),
    ),
    alpha: plan.alpha ?? alphaOf({ earlier: [], now: Date.now(), tools: 1, promoted: 0 }),
    warnings: plan.warnings,
  };
}

export function planOf(
  { prompts, siblingPrompts, candidates, writing, inForce, ofFamily, alpha, warnings }: Preparation,
): TestPlan {
  return {
    alpha,
    ...defined({ writing }),
    ...(inForce ? { inForce: inForce.id } : {}),
    ofFamily: idsOf(ofFamily),
    candidateIds: candidates.map(({ id }) => id),
    prompts: prompts.map(({ id, version, heldOut }) => ({ id, version, heldOut })),
    siblingPrompts: siblingPrompts.map(({ id, version }) => ({ id, version })),
    warnings,
  };
}

function candidatesOfFamilies(
  ids: CandidatesInForce["ofFamily"],
  find: (id: string) => ToolCandidate | undefined,
): Preparation["ofFamily"] {
  return new Map(
    Object.entries(ids).flatMap(([family, id]) => {
      const found = find(id);
      return found ? [[ModelFamily.parse(family), found]] : [];
    }),
  );
}

export function idsOf(ofFamily: Preparation["ofFamily"]): CandidatesInForce["ofFamily"] {
  return Object.fromEntries([...ofFamily].map(([family, { id }]) => [family, id]));
}

/** Before any is tested: what a description takes from siblings shows only on prompts of theirs. */
async function preparePromptsOfServer(context: JobContext, server: string): Promise<void> {
  const { targets } = context.options;
  for (const tool of context.record.job.tools) {
    const isAhead = tool.phase === "queued" || tool.phase === "generating";
    if (tool.server !== server || !isAhead) continue;
    const target = targets.find(server, tool.toolName);
    if (target?.enabled) await preparePrompts(context, target);
    context.signal.throwIfAborted();
  }
}

/** The prompts that a tool is tested with: held out where they are so from its candidates. */
async function preparePrompts(context: JobContext, target: Target) {
  const { prompts: repository } = context.options;
  const { options } = context.record.job;
  const { server, name } = target;
  const known = await candidatesOf(context, target);
  // With several rounds, one candidate is screened as well: the next are written from its failures.
  const count = known.candidates.length + known.missing + Math.max(0, roundsOf(options) - 1);
  // What a quick look chooses by must not confirm it later.
  const list = async () =>
    (await repository.list(server, name)).filter(({ heldOut }) =>
      !heldOut || options.depth === "thorough" || !options.generate
    );
  const wanted = wantedPrompts(options, await list(), count);
  const candidates = writtenInView(known.saved, known.candidates);
  const writtenAt = firstWritten(await repository.all(server, name));
  const heldOutOf = (prompts: readonly GoldenPrompt[]) =>
    heldOutFrom(prompts, candidates, writtenAt);

  const there = heldOutOf(await list());
  const most = mostHeldOut(wanted, there);
  // Somebody edits one of them at this moment: the next job can hold it out.
  await repository.save(heldOutVersions(there, most, candidates, writtenAt)).catch((error) => {
    if (!isConflict(error)) throw error;
  });
  const missing = missingPrompts(heldOutOf(await list()), wanted);
  const isMissing = CATEGORIES.some((category) => missing[category].all > 0);
  const key = `${server}.${name}`;
  if (options.generate && isMissing && !context.written.has(key)) {
    const existing = (await repository.list(server, name)).map(({ prompt }) => prompt);
    const said = await writeForJob(context, "Cannot generate prompts", async (model) => {
      const counts = byCategory((category) => missing[category].all);
      const { signal } = context;
      const written = await generatePrompts({ model, target, counts, existing, signal });
      await repository.save(toGoldenPrompts(written.prompts, target, missing));
      return written;
    });
    context.written.set(key, said);
  }
  const prompts = choosePrompts(heldOutOf(await list()), wanted);
  return { prompts, wanted, warnings: context.written.get(key) ?? [] };
}

async function candidatesOf(
  { options: { candidates, evaluations, promotions }, record, evaluators }: JobContext,
  target: Target,
) {
  const { server, name, canonicalDescription, parameters } = target;
  const saved = await candidates.list(server, name);
  const chosen = chooseCandidates({
    saved,
    canonical: canonicalDescription ?? "",
    parameters,
    options: record.job.options,
    inForce: candidatesInForce(promotions, target, evaluators).inForce,
    evaluations: await evaluations.list(server, name),
  });
  for (const candidate of chosen.candidates) {
    const [gone] = unknownParameters(candidate, parameters);
    if (gone === undefined) continue;
    throw new GatewayError("CANNOT_EVALUATE", {
      message: `Cannot test candidate "${candidate.id}": ${server}.${name} has no parameter ` +
        `"${gone}" now`,
      recoveryAction: "Propose a candidate for the parameters that the tool has",
    });
  }
  return { saved, ...chosen };
}

function toGoldenPrompts(
  written: readonly DraftPrompt[],
  { server, name }: Target,
  missing: Record<PromptCategory, WantedPrompts>,
): GoldenPrompt[] {
  const createdAt = new Date().toISOString();
  const prompts = written.map((draft) => {
    const made = { id: newId("prompt"), version: 1, server, toolName: name, createdAt };
    return GoldenPrompt.parse({ ...made, ...draft, origin: "generated" });
  });
  const heldOut = CATEGORIES.flatMap((category) =>
    chooseHeldOut(
      prompts.filter((prompt) => prompt.category === category),
      missing[category].heldOut,
    )
  );
  return prompts.map((prompt) => ({ ...prompt, heldOut: heldOut.includes(prompt) }));
}

/** Has a model write for a job. Failures become warnings: what is saved may be enough. */
export async function writeForJob(
  context: JobContext,
  failure: string,
  write: (model: TextModel) => Promise<{ warnings: string[] }>,
): Promise<string[]> {
  const { budget, record, signal } = context;
  const refusal = budget.refuse();
  if (refusal !== undefined) return [`${failure}: ${refusal}`];
  const costs: RunCost[] = [];
  try {
    return (await write(metered(context, await context.textModel(), costs))).warnings;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof GatewayError) || isStorageError(error)) throw error;
    return [error.message];
  } finally {
    if (costs.length > 0) {
      const cost = addCosts(...costs);
      budget.spend(cost);
      await record.step((job) => ({
        ...job,
        cost: addCosts(...spentBy(job), cost),
        writingCost: addCosts(...(job.writingCost ? [job.writingCost] : []), cost),
      }));
    }
  }
}

/**
 * The cost of each answer is kept as it comes: the caller may reject the answer. A request that does not
 * end in time is tried once more.
 */
function metered(
  { answering, evaluators }: JobContext,
  model: TextModel,
  costs: RunCost[],
): TextModel {
  // The first of several models writes.
  const [writer] = evaluators.map(modelRef);
  return {
    kind: model.kind,
    async complete(request) {
      for (let tries = 1;; tries++) {
        try {
          const answer = await model.complete(request);
          answering.answered(writer!);
          costs.push(answer.cost);
          return answer;
        } catch (error) {
          request.signal.throwIfAborted();
          const reason = timeoutOf(error);
          if (reason !== undefined && tries < MOST_TIMEOUTS) continue;
          if (reason !== undefined) answering.hung(writer!, reason);
          throw error;
        }
      }
    },
  };
}
