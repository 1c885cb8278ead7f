import type { GoldenPrompt } from "../core/optimization.ts";

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
    .map((prompt) => ({
      ...prompt,
      category: "negative",
      expectedBehavior: { shouldCallTool: false, expectedTool: prompt.toolName },
    }));
}
