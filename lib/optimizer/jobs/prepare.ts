import { GatewayError } from "../../core/errors.ts";
import {
  CATEGORIES,
  GoldenPrompt,
  newId,
  type PromptCategory,
  type RunCost,
  type TestPlan,
  type ToolCandidate,
} from "../../core/optimization.ts";
import type { JobContext } from "./run.ts";
import { addCosts, spentBy } from "../cost.ts";
import type { TextModel } from "../generation/text_model.ts";
import {
  asSiblingPrompt,
  chooseCandidates,
  chooseHeldOut,
  choosePrompts,
  chooseSiblingPrompts,
  firstWritten,
  heldOutFrom,
  heldOutVersions,
  heldOutWarnings,
  knownToWriters,
  missingPrompts,
  type WantedPrompts,
  wantedPrompts,
  writtenInView,
} from "../evaluation/selection.ts";
import { generatePrompts } from "../generation/prompts.ts";
import type { DraftPrompt } from "../generation/prompt_rules.ts";
import { isConflict, isStorageError } from "./record.ts";
import { nearestSiblings, type Target } from "../targets.ts";
import { generateCandidates, newCandidate } from "../generation/candidates.ts";
import { byCategory, promptKey } from "../evaluation/metrics.ts";
import { tooFewPrompts } from "../evaluation/verdict.ts";

export interface Preparation {
  prompts: GoldenPrompt[];
  siblingPrompts: GoldenPrompt[];
  candidates: ToolCandidate[];
  warnings: string[];
}

/** Takes what is saved, and has what is missing written. CANNOT_GENERATE where nothing can be tested. */
export async function prepareTool(context: JobContext, target: Target): Promise<Preparation> {
  const { server, name } = target;
  await preparePromptsOfServer(context, server);
  const { prompts, warnings: said } = await preparePrompts(context, target);
  const saved = await context.options.prompts.list(server);
  const own = saved.filter(({ toolName }) => toolName === name);
  const { options } = context.record.job;
  const checked = { server, tool: name, prompts, wanted: wantedPrompts(options, own) };
  const problem = prompts.length === 0 ? undefined : knownToWriters(checked);
  if (problem) throw problem;
  const held = prompts.length === 0 ? [] : heldOutWarnings(checked);
  const chosen = new Set(prompts.map(({ id }) => id));
  const shown = own.filter(({ id, heldOut }) => chosen.has(id) && !heldOut);
  const { candidates, warnings: more } = await prepareCandidates(context, target, shown);
  const warnings = [...said, ...held, ...more];
  const lacking = [
    ...(prompts.length === 0 ? ["prompts"] : []),
    ...(candidates.length === 0 ? ["candidates"] : []),
  ];
  if (lacking.length > 0) {
    throw new GatewayError("CANNOT_GENERATE", {
      message: `Cannot test "${server}.${name}": there are no ${lacking.join(" and no ")}` +
        (warnings.length === 0 ? "" : `. ${warnings.join(". ")}`),
    });
  }
  const siblingPrompts = chooseSiblingPrompts(
    saved,
    nearestSiblings(target).map((sibling) => sibling.name),
  );
  const few = options.depth === "thorough"
    ? tooFewPrompts(prompts.filter(({ heldOut }) => heldOut).length, candidates.length)
    : undefined;
  return {
    prompts,
    siblingPrompts,
    candidates,
    warnings: few === undefined ? warnings : [...warnings, few.replace("only", "Only")],
  };
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
  return {
    prompts: plan.prompts.flatMap((one) => {
      const found = find(one);
      return found ? [{ ...found, heldOut: one.heldOut }] : [];
    }),
    siblingPrompts: plan.siblingPrompts.flatMap((one) => find(one) ?? []).map(asSiblingPrompt),
    candidates: await Promise.all(
      plan.candidateIds.map((id) => options.candidates.resolve(server, id)),
    ),
    warnings: plan.warnings,
  };
}

export function planOf({ prompts, siblingPrompts, candidates, warnings }: Preparation): TestPlan {
  return {
    candidateIds: candidates.map(({ id }) => id),
    prompts: prompts.map(({ id, version, heldOut }) => ({ id, version, heldOut })),
    siblingPrompts: siblingPrompts.map(({ id, version }) => ({ id, version })),
    warnings,
  };
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

async function prepareCandidates(
  context: JobContext,
  target: Target,
  prompts: readonly GoldenPrompt[],
): Promise<{ candidates: ToolCandidate[]; warnings: string[] }> {
  const { candidates: repository } = context.options;
  const { options } = context.record.job;
  const { server, name } = target;
  const { saved, candidates, missing } = await candidatesOf(context, target);
  if (!options.generate || missing === 0) return { candidates, warnings: [] };
  const warnings = await writeForJob(context, "Cannot generate candidates", async (model) => {
    const written = await generateCandidates({
      model,
      target,
      count: missing,
      existing: saved.map(({ description }) => description),
      prompts,
      signal: context.signal,
    });
    for (const text of written.descriptions) {
      await repository.save(newCandidate({ server, toolName: name, origin: "generated", ...text }));
    }
    return written;
  });
  return { candidates: (await candidatesOf(context, target)).candidates, warnings };
}

/** The prompts that a tool is tested with: held out where they are so from its candidates. */
async function preparePrompts(
  context: JobContext,
  target: Target,
): Promise<{ prompts: GoldenPrompt[]; warnings: string[] }> {
  const { prompts: repository } = context.options;
  const { options } = context.record.job;
  const { server, name } = target;
  const list = () => repository.list(server, name);
  const wanted = wantedPrompts(options, await list());
  const known = await candidatesOf(context, target);
  const candidates = writtenInView(known.saved, known.candidates);
  const writtenAt = firstWritten(await repository.all(server, name));
  const heldOutOf = (prompts: readonly GoldenPrompt[]) =>
    heldOutFrom(prompts, candidates, writtenAt);

  // Somebody edits one of them at this moment: the next job can hold it out.
  await repository.save(heldOutVersions(heldOutOf(await list()), wanted, candidates, writtenAt))
    .catch((error) => {
      if (!isConflict(error)) throw error;
    });
  const saved = await list();
  const missing = missingPrompts(heldOutOf(saved), wanted);
  const isMissing = CATEGORIES.some((category) => missing[category].all > 0);
  const key = `${server}.${name}`;
  if (options.generate && isMissing && !context.written.has(key)) {
    const said = await writeForJob(context, "Cannot generate prompts", async (model) => {
      const written = await generatePrompts({
        model,
        target,
        counts: byCategory((category) => missing[category].all),
        existing: saved.map(({ prompt }) => prompt),
        signal: context.signal,
      });
      await repository.save(toGoldenPrompts(written.prompts, target, missing));
      return written;
    });
    context.written.set(key, said);
  }
  const prompts = choosePrompts(heldOutOf(await list()), wanted);
  return { prompts, warnings: context.written.get(key) ?? [] };
}

async function candidatesOf(
  { options: { candidates, evaluations, promotions }, record }: JobContext,
  { server, name, canonicalDescription }: Target,
) {
  const saved = await candidates.list(server, name);
  const chosen = chooseCandidates({
    saved,
    canonical: canonicalDescription ?? "",
    options: record.job.options,
    inForce: promotions.of(server, name)?.candidateId,
    evaluations: await evaluations.list(server, name),
  });
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
async function writeForJob(
  context: JobContext,
  failure: string,
  write: (model: TextModel) => Promise<{ warnings: string[] }>,
): Promise<string[]> {
  const { budget, record, signal } = context;
  const refusal = budget.refuse();
  if (refusal !== undefined) return [`${failure}: ${refusal}`];
  const costs: RunCost[] = [];
  try {
    return (await write(metered(await context.textModel(), costs))).warnings;
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

/** The cost of each answer is kept as it comes: whoever asked may throw on what it says. */
function metered(model: TextModel, costs: RunCost[]): TextModel {
  return {
    kind: model.kind,
    async complete(request) {
      const answer = await model.complete(request);
      costs.push(answer.cost);
      return answer;
    },
  };
}
