import type { EvalRun, GoldenPrompt } from "../../core/optimization.ts";
import { promptKey, scoresByPrompt } from "./metrics.ts";

export const NONE = "(none)";

/** [should be called][was called]: in how many runs. */
export type Confusion = Record<string, Record<string, number>>;

/** How many of the prompts that are meant for a sibling this tool takes only with the candidate. */
export interface Theft {
  tool: string;
  stolen: number;
  /** How many it took before and leaves alone now. */
  returned?: number;
  of: number;
  /** Where there are several. */
  model?: string;
}

/** One count per run that counts; `tool` is the own name of the tool on trial. */
export function confusionOf(
  runs: readonly EvalRun[],
  prompts: readonly GoldenPrompt[],
  tool: string,
): Confusion {
  const byKey = new Map(prompts.map((prompt) => [promptKey(prompt.id, prompt.version), prompt]));
  return sumOf(runs.flatMap((run): Tally[] => {
    const prompt = byKey.get(promptKey(run.promptId, run.promptVersion));
    if (run.status !== "ok" || !prompt) return [];
    const { shouldCallTool, expectedTool } = prompt.expectedBehavior;
    const should = shouldCallTool ? tool : expectedTool ?? NONE;
    return [[should, calledIn(run, tool, should), 1]];
  }));
}

/** Siblings' prompts that most runs take now and did not take before, and the other way round. */
export function theftsOf(
  candidate: readonly EvalRun[],
  baseline: readonly EvalRun[],
  prompts: readonly GoldenPrompt[],
): Theft[] {
  const taken = takenPrompts(candidate);
  const takenBefore = takenPrompts(baseline);
  const thefts = new Map<string, Theft & { returned: number }>();
  for (const prompt of prompts) {
    const { id, version, expectedBehavior: { expectedTool: sibling } } = prompt;
    if (!showsTheft(prompt) || sibling === undefined) continue;
    const after = taken.get(promptKey(id, version));
    const before = takenBefore.get(promptKey(id, version));
    if (after === undefined || before === undefined) continue;
    const theft = thefts.get(sibling) ?? { tool: sibling, stolen: 0, returned: 0, of: 0 };
    theft.of++;
    if (after && !before) theft.stolen++;
    if (before && !after) theft.returned++;
    thefts.set(sibling, theft);
  }
  return [...thefts.values()];
}

/** Whether a prompt is not for the tool and says whose it is, so that it shows what is taken. */
export function showsTheft({ category, expectedBehavior }: GoldenPrompt): boolean {
  const { shouldCallTool, expectedTool } = expectedBehavior;
  return category === "negative" && !shouldCallTool && expectedTool !== undefined &&
    expectedTool !== "";
}

export function addConfusions(confusions: readonly Confusion[]): Confusion {
  return sumOf(
    confusions.flatMap((confusion) =>
      Object.entries(confusion).flatMap(([should, row]) =>
        Object.entries(row).map(([called, count]): Tally => [should, called, count])
      )
    ),
  );
}

type Tally = [should: string, called: string, count: number];

function sumOf(counts: readonly Tally[]): Confusion {
  // Maps, since a server may name a tool "__proto__".
  const sums = new Map<string, Map<string, number>>();
  for (const [should, called, count] of counts) {
    const row = sums.get(should) ?? new Map<string, number>();
    sums.set(should, row.set(called, (row.get(called) ?? 0) + count));
  }
  return Object.fromEntries([...sums].map(([should, row]) => [should, Object.fromEntries(row)]));
}

/** Of several calls, the one that decided: this tool's own, else the wanted one, else the first. */
function calledIn(run: EvalRun, tool: string, should: string): string {
  if (run.result.toolCalled) return tool;
  const names = run.calls.map((call) => {
    const name = call.tool ?? call.name;
    // Another server's tool may have the same name as this one.
    return call.server === undefined || call.server === run.server
      ? name
      : `${call.server}.${name}`;
  });
  return names.includes(should) ? should : names[0] ?? NONE;
}

function takenPrompts(runs: readonly EvalRun[]): Map<string, boolean> {
  const calls = scoresByPrompt(runs, ({ result }) => result.toolCalled);
  return new Map([...calls].map(([key, { correct, total }]) => [key, correct * 2 > total]));
}
