import { GatewayError } from "../core/errors.ts";
import type { GoldenPrompt, TestPlan, ToolCandidate } from "../core/optimization.ts";
import { chooseCandidates } from "./candidate_selection.ts";
import { generateCandidates } from "./generation/generate_candidates.ts";
import { heldOutWarnings, knownToWriters } from "./held_out_check.ts";
import type { JobContext } from "./job_context.ts";
import { writeForJob } from "./job_writing.ts";
import { promptKey } from "./metrics.ts";
import { newCandidate } from "./new_candidate.ts";
import { preparePrompts } from "./prompt_preparation.ts";
import { wantedPrompts } from "./prompt_selection.ts";
import { asSiblingPrompt, chooseSiblingPrompts, nearestSiblings } from "./sibling_prompts.ts";
import type { Subject } from "./subjects.ts";
import { tooFewWords } from "./verdict.ts";

/** What a tool is tested with. */
export interface Preparation {
  prompts: GoldenPrompt[];
  siblingPrompts: GoldenPrompt[];
  candidates: ToolCandidate[];
  warnings: string[];
}

/** Takes what is saved, and has what is missing written. CANNOT_GENERATE where nothing can be tested. */
export async function prepareTool(context: JobContext, subject: Subject): Promise<Preparation> {
  const { server, name } = subject;
  await preparePromptsOfServer(context, server);
  const { prompts, warnings: said } = await preparePrompts(context, subject);
  const saved = await context.options.prompts.list(server);
  const own = saved.filter(({ toolName }) => toolName === name);
  const { options } = context.record.job;
  const checked = { server, tool: name, prompts, wanted: wantedPrompts(options, own) };
  const problem = prompts.length === 0 ? undefined : knownToWriters(checked);
  if (problem) throw problem;
  const held = prompts.length === 0 ? [] : heldOutWarnings(checked);
  const chosen = new Set(prompts.map(({ id }) => id));
  const shown = own.filter(({ id, heldOut }) => chosen.has(id) && !heldOut);
  const { candidates, warnings: more } = await prepareCandidates(context, subject, shown);
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
  const siblingPrompts = chooseSiblingPrompts(saved, nearestSiblings(subject));
  const few = options.depth === "thorough"
    ? tooFewWords(prompts.filter(({ heldOut }) => heldOut).length, candidates.length)
    : undefined;
  return {
    prompts,
    siblingPrompts,
    candidates,
    warnings: few === undefined ? warnings : [...warnings, few.replace("only", "Only")],
  };
}

/** The same as was chosen before a restart, whatever was saved since. */
export async function restorePlan(
  { options }: JobContext,
  { server }: Subject,
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
  const { subjects } = context.options;
  for (const tool of context.record.job.tools) {
    const isAhead = tool.phase === "queued" || tool.phase === "generating";
    if (tool.server !== server || !isAhead) continue;
    const subject = subjects.find(server, tool.toolName);
    if (subject?.enabled) await preparePrompts(context, subject);
    context.signal.throwIfAborted();
  }
}

async function prepareCandidates(
  context: JobContext,
  subject: Subject,
  /** None that is held out. */
  prompts: readonly GoldenPrompt[],
): Promise<{ candidates: ToolCandidate[]; warnings: string[] }> {
  const { candidates: repository, evaluations, promotions } = context.options;
  const { options } = context.record.job;
  const { server, name } = subject;
  const choose = async () =>
    chooseCandidates({
      saved: await repository.list(server, name),
      canonical: subject.canonicalDescription ?? "",
      options,
      inForce: promotions.of(server, name)?.candidateId,
      evaluations: await evaluations.list(server, name),
    });
  const { candidates, missing } = await choose();
  if (!options.generate || missing === 0) return { candidates, warnings: [] };
  const existing = await repository.list(server, name);
  const warnings = await writeForJob(context, "Cannot write candidates", async (model) => {
    const written = await generateCandidates({
      model,
      subject,
      count: missing,
      existing: existing.map(({ description }) => description),
      prompts,
      signal: context.signal,
    });
    for (const text of written.descriptions) {
      await repository.save(newCandidate({ server, toolName: name, origin: "generated", ...text }));
    }
    return written;
  });
  return { candidates: (await choose()).candidates, warnings };
}
