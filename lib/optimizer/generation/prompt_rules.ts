import type { PromptCategory } from "../../core/optimization.ts";
import { shortened } from "../../core/shortened.ts";
import { flatten, namespacedName } from "../../routing/names.ts";
import { isStopWord } from "../../search/stop_words.ts";
import { KnownTexts } from "./near_duplicate.ts";

export { isNearDuplicate } from "./near_duplicate.ts";

export const MIN_PROMPT = 10;
export const MAX_PROMPT = 4_000;
/** Scripts in which a name stands inside a sentence without a space around it. */
const UNSPACED =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]/u;

/** A golden prompt as it is written, before it is kept. */
export interface WrittenPrompt {
  category: PromptCategory;
  prompt: string;
  expectedBehavior: {
    shouldCallTool: boolean;
    notes?: string | undefined;
    /** For a prompt that is meant for a sibling: the sibling's own name. */
    expectedTool?: string | undefined;
  };
}

/** Why a prompt cannot be one of a tool's golden prompts, in words; undefined where it can. */
export function promptProblem(
  prompt: WrittenPrompt,
  tool: { name: string; server: string },
  existing: readonly string[],
): string | undefined {
  return promptProblemAmong(prompt, tool, new KnownTexts(existing));
}

/** The same for many prompts of one tool. */
export function promptProblemAmong(
  { category, prompt }: WrittenPrompt,
  tool: { name: string; server: string },
  existing: KnownTexts,
): string | undefined {
  const { length } = prompt.trim();
  if (length < MIN_PROMPT) return `It has ${length} characters; at least ${MIN_PROMPT} are needed`;
  if (length > MAX_PROMPT) return `It has ${length} characters; at most ${MAX_PROMPT} are allowed`;
  if (category === "indirect" && namesTool(prompt, tool)) {
    const name = shortened(tool.name, 60);
    return `It contains the tool's name "${name}"; an indirect prompt must not, in any form`;
  }
  const near = existing.findNear(prompt);
  if (near !== undefined) return `It is nearly the same as "${shortened(near, 80)}"`;
  return undefined;
}

/** Whether a text contains a tool's name, however it is spelled: `get_weather`, `Get Weather`. */
export function namesTool(text: string, { name, server }: { name: string; server: string }) {
  const flat = flatten(namespacedName(server, name));
  if (text.toLowerCase().includes(flat.toLowerCase())) return true;
  const nameWords = wordsOf(name);
  if (nameWords.length === 0) return text.includes(name);
  const words = wordsOf(text);
  const compact = nameWords.join("");
  if (hasRun(words, wordsOf(server).join("") + compact)) return true;
  // Nobody could write a sentence without the name of a tool that is called `a` or `do`.
  if (nameWords.every((word) => word.length === 1 || isStopWord(word))) return false;
  return UNSPACED.test(compact) ? words.join("").includes(compact) : hasRun(words, compact);
}

/** Whether some words in a row give this when written as one. */
function hasRun(words: readonly string[], compact: string): boolean {
  return words.some((_, start) => {
    let rest = compact;
    for (let at = start; at < words.length && rest.startsWith(words[at]!); at++) {
      rest = rest.slice(words[at]!.length);
      if (rest === "") return true;
    }
    return false;
  });
}

function wordsOf(text: string): string[] {
  return text.normalize("NFKC")
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
}
