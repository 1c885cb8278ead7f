import { GatewayError } from "../core/errors.ts";
import {
  CATEGORIES,
  type GoldenPrompt,
  newId,
  type PromptCategory,
  type ToolCandidate,
} from "../core/optimization.ts";
import { chooseCandidates } from "./candidate_selection.ts";
import { generatePrompts, type WrittenPrompt } from "./generation/generate_prompts.ts";
import type { JobContext } from "./job_context.ts";
import { isConflict } from "./job_record.ts";
import { writeForJob } from "./job_writing.ts";
import {
  chooseHeldOut,
  choosePrompts,
  firstWritten,
  heldOutFrom,
  heldOutVersions,
  missingPrompts,
  type WantedPrompts,
  wantedPrompts,
} from "./prompt_selection.ts";
import type { Subject } from "./subjects.ts";

/** The prompts that a tool is tested with: held out where they are so from its candidates. */
export async function preparePrompts(
  context: JobContext,
  subject: Subject,
): Promise<{ prompts: GoldenPrompt[]; warnings: string[] }> {
  const { prompts: repository } = context.options;
  const { options } = context.record.job;
  const { server, name } = subject;
  const list = () => repository.list(server, name);
  const wanted = wantedPrompts(options, await list());
  const candidates = await knownCandidates(context, subject);
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
    const said = await writeForJob(context, "Cannot write prompts", async (model) => {
      const written = await generatePrompts({
        model,
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
    context.written.set(key, said);
  }
  const prompts = choosePrompts(heldOutOf(await list()), wanted);
  return { prompts, warnings: context.written.get(key) ?? [] };
}

/**
 * In words where fewer prompts are held out than should be. CANNOT_EVALUATE where a category has
 * none at all: what whoever wrote the candidates knew decides nothing.
 */
export function heldOutWarnings(
  subject: Subject,
  prompts: readonly GoldenPrompt[],
  wanted: Record<PromptCategory, WantedPrompts>,
): string[] {
  const counts = CATEGORIES.map((category) => ({
    category,
    wanted: wanted[category].heldOut,
    count: prompts.filter((prompt) => prompt.heldOut && prompt.category === category).length,
  })).filter((one) => one.count < one.wanted);
  const none = counts.filter(({ count }) => count === 0).map(({ category }) => category);
  if (none.length === 0) {
    return counts.map(({ category, wanted, count }) =>
      `Only ${count} of the ${wanted} ${category} prompts that should decide were held out from ` +
      "whoever wrote the candidates"
    );
  }
  throw new GatewayError("CANNOT_EVALUATE", {
    message: `Cannot test "${subject.server}.${subject.name}" thoroughly: whoever wrote the ` +
      `candidates may have known every ${none.join(" and every ")} prompt. Let prompts be ` +
      "written, save some after the candidates, or test at the depth quick",
  });
}

/** All that a model was shown prompts for, and all that is tested. */
async function knownCandidates(
  { options: { candidates, evaluations, promotions }, record }: JobContext,
  { server, name, canonicalDescription }: Subject,
): Promise<ToolCandidate[]> {
  const saved = await candidates.list(server, name);
  const tested = chooseCandidates({
    saved,
    canonical: canonicalDescription ?? "",
    options: record.job.options,
    inForce: promotions.of(server, name)?.candidateId,
    evaluations: await evaluations.list(server, name),
  });
  return saved.filter((one) => one.origin === "generated" || tested.candidates.includes(one));
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
