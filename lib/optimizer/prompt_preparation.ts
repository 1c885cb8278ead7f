import {
  CATEGORIES,
  type GoldenPrompt,
  newId,
  type PromptCategory,
  type ToolCandidate,
} from "../core/optimization.ts";
import { chooseCandidates, writtenInView } from "./candidate_selection.ts";
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

/** Those that prompts have to be held out from. */
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
  return writtenInView(saved, tested.candidates);
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
