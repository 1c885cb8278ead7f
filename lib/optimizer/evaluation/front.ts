import type { TrialPrompt } from "./procedure.ts";

/** The share of correct runs, where there is one. */
type Score = (description: string, prompt: TrialPrompt) => number | null | undefined;

export interface FrontMember {
  description: string;
  /** The prompts that no other does better on. */
  best: TrialPrompt[];
}

/**
 * The Pareto front over prompts: descriptions that are best on at least one, and that no other equals
 * or beats on all of theirs. Each has something that the others could learn from. The one that is best
 * on most prompts comes first; of equals, as given.
 */
export function paretoFront(
  descriptions: readonly string[],
  prompts: readonly TrialPrompt[],
  score: Score,
): FrontMember[] {
  const best = new Map(descriptions.map((one): [string, TrialPrompt[]] => [one, []]));
  for (const prompt of prompts) {
    const scores = descriptions.map((one) => score(one, prompt) ?? -1);
    const most = Math.max(...scores);
    // A prompt that nobody gets right prefers nobody.
    if (most <= 0) continue;
    descriptions.forEach((one, at) => scores[at] === most && best.get(one)!.push(prompt));
  }
  const front: FrontMember[] = [];
  const byCount = descriptions.map((description) => ({
    description,
    best: best.get(description)!,
  })).sort((one, other) => other.best.length - one.best.length);
  for (const member of byCount) {
    const isCovered = front.some((other) =>
      member.best.every((prompt) => other.best.includes(prompt))
    );
    if (member.best.length > 0 && !isCovered) front.push(member);
  }
  return front;
}

/** The prompts that a description was put to and got wrong. */
export function failuresOf(
  description: string,
  prompts: readonly TrialPrompt[],
  score: Score,
): TrialPrompt[] {
  return prompts.filter((prompt) => (score(description, prompt) ?? 1) < 1);
}
