import { GatewayError } from "../core/errors.ts";
import {
  CATEGORIES,
  type EvalRun,
  type GoldenPrompt,
  newId,
  type PromptCategory,
  type RunCost,
  type ToolCandidate,
} from "../core/optimization.ts";
import { chooseCandidates } from "./candidate_selection.ts";
import { generateCandidates } from "./generation/generate_candidates.ts";
import { generatePrompts, type WrittenPrompt } from "./generation/generate_prompts.ts";
import type { JobContext } from "./job_context.ts";
import { isConflict } from "./job_record.ts";
import {
  chooseHeldOut,
  choosePrompts,
  heldOutVersions,
  missingPrompts,
  type WantedPrompts,
  wantedPrompts,
} from "./prompt_selection.ts";
import { addCosts } from "./run_cost.ts";
import { chooseSiblingPrompts } from "./sibling_prompts.ts";
import { isStorageError } from "./storage_error.ts";
import type { Subject } from "./subjects.ts";

export interface Preparation {
  prompts: GoldenPrompt[];
  siblingPrompts: GoldenPrompt[];
  candidates: ToolCandidate[];
  warnings: string[];
}

export interface PreparationInput {
  subject: Subject;
  /** Whether what is missing may be written. */
  mayWrite: boolean;
  /** Runs of the evaluation that there are. */
  finished: readonly EvalRun[];
}

/** Takes what is saved, and has what is missing written. CANNOT_GENERATE where nothing can be tested. */
export async function prepareTool(
  context: JobContext,
  input: PreparationInput,
): Promise<Preparation> {
  const warnings: string[] = [];
  const prompts = await preparePrompts(context, input, warnings);
  const candidates = await prepareCandidates(context, input, prompts, warnings);
  const { server, name, siblings } = input.subject;
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
    await context.options.prompts.list(server),
    siblings.map((sibling) => sibling.name),
  );
  return { prompts, siblingPrompts, candidates, warnings };
}

async function preparePrompts(
  context: JobContext,
  { subject, mayWrite }: PreparationInput,
  warnings: string[],
): Promise<GoldenPrompt[]> {
  const { prompts: repository, candidates } = context.options;
  const { server, name } = subject;
  const list = () => repository.list(server, name);
  const options = context.record.job.options;
  const wanted = wantedPrompts(options, await list());
  const generated = (await candidates.list(server, name))
    .filter(({ origin }) => origin === "generated").map(({ createdAt }) => createdAt);
  const heldOut = heldOutVersions(await list(), wanted, generated);
  // Somebody edits one of them at this moment: the next job can hold it out.
  await repository.save(heldOut).catch((error) => {
    if (!isConflict(error)) throw error;
  });
  const saved = await list();
  const missing = missingPrompts(saved, wanted);
  if (mayWrite && CATEGORIES.some((category) => missing[category].all > 0)) {
    await attempt(context, "Cannot write prompts", warnings, async () => {
      const written = await generatePrompts({
        model: await context.textModel(),
        subject,
        counts: {
          direct: missing.direct.all,
          indirect: missing.indirect.all,
          negative: missing.negative.all,
        },
        existing: saved.map(({ prompt }) => prompt),
        signal: context.signal,
      });
      await repository.save(toGoldenPrompts(written.prompts, subject, missing));
      return written;
    });
  }
  return choosePrompts(await list(), wanted);
}

async function prepareCandidates(
  context: JobContext,
  { subject, mayWrite, finished }: PreparationInput,
  prompts: readonly GoldenPrompt[],
  warnings: string[],
): Promise<ToolCandidate[]> {
  const { candidates: repository, evaluations, promotions } = context.options;
  const { server, name } = subject;
  const canonical = subject.canonicalDescription ?? "";
  const choose = async () =>
    chooseCandidates({
      saved: await repository.list(server, name),
      canonical,
      options: context.record.job.options,
      begun: new Set(finished.map(({ candidateId }) => candidateId)),
      inForce: promotions.of(server, name)?.candidateId,
      evaluations: await evaluations.list(server, name),
    });
  const { missing } = await choose();
  if (mayWrite && missing > 0) {
    const existing = await repository.list(server, name);
    await attempt(context, "Cannot write candidates", warnings, async () => {
      const written = await generateCandidates({
        model: await context.textModel(),
        subject,
        count: missing,
        existing: existing.map(({ description }) => description),
        prompts: prompts.filter(({ heldOut }) => !heldOut),
        signal: context.signal,
      });
      for (const { description, example } of written.descriptions) {
        await repository.save({
          id: newId("candidate"),
          server,
          toolName: name,
          description,
          ...(example === undefined ? {} : { example }),
          charCount: description.length,
          createdAt: new Date().toISOString(),
          origin: "generated",
        });
      }
      return written;
    });
  }
  return (await choose()).candidates;
}

/** What cannot be written is said; what there is may be enough to go on. */
async function attempt(
  { budget, record, signal }: JobContext,
  failure: string,
  warnings: string[],
  write: () => Promise<{ cost: RunCost; warnings: string[] }>,
): Promise<void> {
  const refusal = budget.refuse();
  if (refusal !== undefined) {
    warnings.push(`${failure}: ${refusal}`);
    return;
  }
  try {
    const written = await write();
    warnings.push(...written.warnings);
    budget.spend(written.cost);
    await record.step((job) => ({ ...job, cost: addCosts(job.cost, written.cost) }));
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof GatewayError) || isStorageError(error)) throw error;
    warnings.push(error.message);
  }
}

function toGoldenPrompts(
  written: readonly WrittenPrompt[],
  { server, name }: Subject,
  missing: Record<PromptCategory, WantedPrompts>,
): GoldenPrompt[] {
  const createdAt = new Date().toISOString();
  const prompts = written.map(({ category, prompt, expectedBehavior }): GoldenPrompt => ({
    id: newId("prompt"),
    version: 1,
    server,
    toolName: name,
    category,
    prompt,
    expectedBehavior,
    createdAt,
    origin: "generated",
    heldOut: false,
    retired: false,
  }));
  const heldOut = CATEGORIES.flatMap((category) =>
    chooseHeldOut(
      prompts.filter((prompt) => prompt.category === category),
      missing[category].heldOut,
    )
  );
  return prompts.map((prompt) => ({ ...prompt, heldOut: heldOut.includes(prompt) }));
}
