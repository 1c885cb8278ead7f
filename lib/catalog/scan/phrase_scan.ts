import { excerptOf, type Finding } from "./finding.ts";
import { type Folded } from "./fold.ts";
import { type Phrase, PHRASES } from "./phrases.ts";
import { type Surroundings } from "./surroundings.ts";
import { tokensOf } from "./tokens.ts";
import { CLASSES } from "./words.ts";

interface Slot {
  phrase: Compiled;
  position: number;
}
interface Compiled {
  source: Phrase;
  id: number;
  /** For each element, how many words may stand between it and the one before. */
  gaps: number[];
}

let compiled: Map<string, Slot[]> | undefined;

/** The phrases by the words they wait for, so that a word costs only what it can match. */
function slotsOf(): Map<string, Slot[]> {
  if (compiled !== undefined) return compiled;
  compiled = new Map();
  let id = 0;
  for (const source of PHRASES) {
    for (const text of source.phrases) compile(compiled, { source, id: id++, gaps: [] }, text);
  }
  return compiled;
}

function compile(slots: Map<string, Slot[]>, phrase: Compiled, text: string): void {
  let gap = 0;
  for (const part of text.split(" ")) {
    if (part.startsWith("~")) {
      gap = Number(part.slice(1));
      continue;
    }
    const position = phrase.gaps.push(gap) - 1;
    gap = 0;
    for (const word of new Set(part.split("|").flatMap(membersOf))) {
      const waiting = slots.get(word);
      if (waiting === undefined) slots.set(word, [{ phrase, position }]);
      else waiting.push({ phrase, position });
    }
  }
}

function membersOf(word: string): string[] {
  return Object.entries(CLASSES).find(([name]) => name === word)?.[1].split(" ") ?? [word];
}

/**
 * Finds every phrase in one walk over the words. For each phrase it remembers where each of its
 * beginnings was last complete: the latest place is the best one for what may still follow, so
 * there is nothing to go back for, whatever the text is.
 */
export function scanPhrases(
  where: string,
  original: string,
  folded: Folded,
  around: Surroundings,
): Finding[] {
  const latest: (number[] | undefined)[] = [];
  const starts: (number[] | undefined)[] = [];
  const found = new Map<Phrase, number>();
  const slots = slotsOf();
  const denying = new Set(CLASSES.DENIED.split(" "));
  let denied = -Infinity;
  const isParameter = /^(input|output)Schema\./.test(where);
  for (const { words, index, at } of tokensOf(folded, around)) {
    const matching = words.length === 1
      ? slots.get(words[0]!)
      : words.flatMap((word) => slots.get(word) ?? []).sort((a, b) => a.position - b.position);
    if (words.some((word) => denying.has(word))) denied = index;
    if (matching === undefined) continue;
    // From the last element to the first: one word must not be two elements of a phrase.
    for (let i = matching.length - 1; i >= 0; i--) {
      const { phrase, position } = matching[i]!;
      if (phrase.source.inParameters === true && !isParameter) continue;
      if (found.has(phrase.source)) continue;
      if (phrase.source.unlessDenied === true && index > denied && index - denied <= 2) continue;
      const ends = latest[phrase.id] ??= [];
      const begins = starts[phrase.id] ??= [];
      if (position > 0) {
        const before = ends[position - 1];
        if (before === undefined || before >= index) continue;
        if (index - before - 1 > phrase.gaps[position]!) continue;
        begins[position] = begins[position - 1]!;
      } else begins[0] = at;
      ends[position] = index;
      if (position === phrase.gaps.length - 1) found.set(phrase.source, begins[position]!);
    }
  }
  return [...found].map(([{ rule, severity, why }, at]) => ({
    rule,
    severity,
    where,
    excerpt: excerptOf(original, at),
    why,
  }));
}
