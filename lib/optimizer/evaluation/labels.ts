import * as z from "zod";
import { type EvalRun, type GoldenPrompt, PromptCategory } from "../../core/optimization.ts";
import { counted } from "../../core/text.ts";
import { promptKey } from "./metrics.ts";

/** One description says little: it may be the one that is wrong. */
const LEAST_DESCRIPTIONS = 2;

/** A prompt whose label may be wrong, so that it counts against every description. */
export const SuspectPrompt = z.object({
  id: z.string(),
  prompt: z.string(),
  category: PromptCategory,
  why: z.string(),
  /** The label that the runs speak for. */
  proposal: z.object({ category: PromptCategory, expectedTool: z.string().exactOptional() }),
});
export type SuspectPrompt = z.infer<typeof SuspectPrompt>;

/** Prompts that every description fails, or that models disagree on, and that nobody confirmed. */
export function suspectPrompts(
  prompts: readonly GoldenPrompt[],
  runs: readonly EvalRun[],
): SuspectPrompt[] {
  const byPrompt = Map.groupBy(
    runs.filter(({ status }) => status === "ok"),
    ({ promptId, promptVersion }) => promptKey(promptId, promptVersion),
  );
  return prompts.flatMap((prompt) => {
    if (prompt.isConfirmed) return [];
    const own = byPrompt.get(promptKey(prompt.id, prompt.version)) ?? [];
    const why = failsAlways(prompt, own) ?? modelsDisagree(own);
    if (why === undefined) return [];
    const { id, category } = prompt;
    return [{ id, prompt: prompt.prompt, category, why, proposal: proposedLabel(prompt, own) }];
  });
}

function failsAlways(prompt: GoldenPrompt, runs: readonly EvalRun[]): string | undefined {
  const descriptions = new Set(runs.map(({ descriptionHash }) => descriptionHash)).size;
  if (descriptions < LEAST_DESCRIPTIONS || runs.some(({ result }) => result.correct)) {
    return undefined;
  }
  const tried = `in ${counted(runs.length, "run")} with ${descriptions} descriptions`;
  if (!prompt.expectedBehavior.shouldCallTool) {
    return runs.every(({ result }) => result.toolCalled)
      ? `the tool was always called, ${tried}`
      : `it was never right, ${tried}`;
  }
  if (runs.some(({ result }) => result.toolCalled)) {
    return `it was never called with the expected arguments, ${tried}`;
  }
  const instead = mostCalled(runs);
  return `the tool was never called, ${tried}` + (instead ? `; mostly ${instead} was` : "");
}

/** One model is right with every description, another with none. */
function modelsDisagree(runs: readonly EvalRun[]): string | undefined {
  const models = Array.from(
    Map.groupBy(runs, ({ askedModel, model }) => askedModel ?? model ?? "unknown"),
    ([model, own]) => ({
      model,
      right: own.filter(({ result }) => result.correct).length,
      of: own.length,
    }),
  ).filter(({ of }) => of >= LEAST_DESCRIPTIONS);
  const isSplit = models.some(({ right, of }) => right === of) &&
    models.some(({ right }) => right === 0);
  if (!isSplit) return undefined;
  return `models disagree: ${
    models.map(({ model, right, of }) => `${model} ${right}/${of} right`).join(", ")
  }`;
}

/** The other label; for another tool, the one that most runs of this version called. */
export function proposedLabel(
  { id, version, expectedBehavior: { shouldCallTool } }: GoldenPrompt,
  runs: readonly EvalRun[],
): SuspectPrompt["proposal"] {
  if (!shouldCallTool) return { category: "direct" };
  const expectedTool = mostCalled(
    runs.filter((run) => run.promptId === id && run.promptVersion === version),
  );
  return { category: "negative", ...(expectedTool === undefined ? {} : { expectedTool }) };
}

/** The other tool that most runs called, as prompts name it. */
function mostCalled(runs: readonly EvalRun[]): string | undefined {
  const names = runs.flatMap(({ calls, server, toolName }) =>
    calls.flatMap((call) => {
      if (call.tool === undefined || call.server === undefined) return [];
      if (call.server !== server) return [`${call.server}.${call.tool}`];
      return call.tool === toolName ? [] : [call.tool];
    })
  );
  const [most] = [...Map.groupBy(names, (name) => name)]
    .sort(([, one], [, other]) => other.length - one.length);
  return most && most[1].length * 2 > runs.length ? most[0] : undefined;
}
