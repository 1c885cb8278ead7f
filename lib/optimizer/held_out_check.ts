import { GatewayError } from "../core/errors.ts";
import { CATEGORIES, type GoldenPrompt, type PromptCategory } from "../core/optimization.ts";
import type { WantedPrompts } from "./prompt_selection.ts";

interface Checked {
  server: string;
  tool: string;
  /** Those that would be asked. */
  prompts: readonly GoldenPrompt[];
  wanted: Record<PromptCategory, WantedPrompts>;
}

/** In words where fewer prompts are held out than should be. */
export function heldOutWarnings(checked: Checked): string[] {
  return lackingOf(checked).map(({ category, wanted, count }) =>
    `Only ${count} of the ${wanted} ${category} prompts that should decide were held out from ` +
    "whoever wrote the candidates"
  );
}

/**
 * CANNOT_EVALUATE where a category has no prompt that is held out: what whoever wrote the candidates
 * knew decides nothing.
 */
export function knownToWriters(checked: Checked): GatewayError | undefined {
  const none = lackingOf(checked).filter(({ count }) => count === 0)
    .map(({ category }) => category);
  if (none.length === 0) return undefined;
  const name = `${checked.server}.${checked.tool}`;
  return new GatewayError("CANNOT_EVALUATE", {
    message: `Cannot test "${name}" thoroughly: whoever wrote the candidates may have known ` +
      `every ${none.join(" and every ")} prompt`,
    recoveryAction:
      "Let prompts be written, save some after the candidates, or test at the depth quick",
    recoverySteps: [
      `Save further prompts for "${name}": nobody who wrote the candidates knew what is saved ` +
      "after them",
      "Or start an optimization that may write prompts",
      "Or test at the depth quick, where prompts that were known count too",
    ],
  });
}

function lackingOf({ prompts, wanted }: Checked) {
  return CATEGORIES.map((category) => ({
    category,
    wanted: wanted[category].heldOut,
    count: prompts.filter((prompt) => prompt.heldOut && prompt.category === category).length,
  })).filter((one) => one.count < one.wanted);
}
