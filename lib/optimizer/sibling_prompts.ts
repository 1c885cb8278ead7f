import type { GoldenPrompt } from "../core/optimization.ts";
import { stemsOf } from "../search/words.ts";
import type { SubjectTool } from "./generation/subject_tool.ts";

const MOST_SIBLINGS = 5;
const PROMPTS_EACH = 2;

/**
 * Direct prompts that siblings have for themselves, as this tool should see them: not its business.
 * They show whether a description takes what is meant for others.
 */
export function chooseSiblingPrompts(
  /** All prompts of the server. */
  saved: readonly GoldenPrompt[],
  /** Own names, those that matter most first; without the tool itself. */
  siblings: readonly string[],
): GoldenPrompt[] {
  const chosen = siblings.map((sibling) =>
    saved.filter(({ toolName, category, expectedBehavior }) =>
      toolName === sibling && category === "direct" && expectedBehavior.shouldCallTool
    ).slice(0, PROMPTS_EACH)
  );
  return chosen.filter(({ length }) => length > 0).slice(0, MOST_SIBLINGS).flat()
    .map(asSiblingPrompt);
}

/** How many there are at most, of so many siblings that have prompts. */
export function mostSiblingPrompts(siblings: number): number {
  return Math.min(MOST_SIBLINGS, siblings) * PROMPTS_EACH;
}

/** A sibling's prompt as this tool should see it. */
export function asSiblingPrompt(prompt: GoldenPrompt): GoldenPrompt {
  return {
    ...prompt,
    category: "negative",
    expectedBehavior: { shouldCallTool: false, expectedTool: prompt.toolName },
  };
}

/** The names of a tool's siblings, those first that are most likely confused with it. */
export function nearestSiblings(
  { name, description, siblings }: Pick<SubjectTool, "name" | "description" | "siblings">,
): string[] {
  const own = new Set(stemsOf(`${name} ${description}`));
  const nearness = (sibling: { name: string; description: string }) => {
    const words = new Set(stemsOf(`${sibling.name} ${sibling.description}`));
    // By its root, so that neither a long description wins by its length nor a short one.
    return own.intersection(words).size / Math.sqrt(Math.max(1, words.size));
  };
  return siblings.map((sibling) => ({ name: sibling.name, near: nearness(sibling) }))
    .sort((one, other) => other.near - one.near)
    .map((sibling) => sibling.name);
}
