import type { Finding } from "../../catalog/tool_guard.ts";
import { excerptOf, type Folded } from "./characters.ts";
import { LANGUAGES } from "./data/languages.ts";
import { type Phrase, PHRASES } from "./data/phrases.ts";
import { PassageScore, type Sentence, type Weighed } from "./passage.ts";
import { WEIGHTS } from "./data/weights.ts";
import { type ScanContext, topicStem } from "./definition.ts";
import { type Sign, SIGNS } from "./data/signs.ts";
import { tokenize } from "./tokens.ts";
import { CLASSES } from "./data/words.ts";

interface Slot {
  phrase: Phrase | undefined;
  sign: Sign | undefined;
  unlessDenied: boolean;
  isObject: boolean;
  inParameters: boolean;
  position: number;
  isLast: boolean;
  /** Where it is among the elements of all phrases. */
  cell: number;
  /** How many words may stand between it and the element before. */
  gap: number;
}
interface Meaning extends Weighed {
  slots: Slot[];
}
interface Index {
  words: Map<string, Slot[]>;
  /** By the first letters of a word: `conceal*`. */
  stems: Map<string, Slot[]>;
  known: Map<string, Meaning>;
  joined: Map<string, Slot[]>;
  /** By cell: in which walk, and at which word of it, it was last complete; where it began. */
  walk: number;
  walks: Int32Array;
  ends: Int32Array;
  begins: Int32Array;
}

/** The shortest and the longest beginning of a word that stands for all its forms. */
const STEM = { shortest: 3, longest: 10 };
/** As many letters of a word as are weighed. */
const LETTERS = 7;
const MOST_KNOWN = 20_000;
const NONE: Slot[] = [];
const MEMBERS = new Map<string, string>(Object.entries({ ...CLASSES, ...LANGUAGES }));
const DENYING: ReadonlySet<string> = new Set(CLASSES.DENIED.split(" "));
const NOTHING: ReadonlySet<string> = new Set();

let compiled: Index | undefined;

/** The phrases by the words they wait for, so that a word costs only what it can match. */
function indexOf(): Index {
  if (compiled !== undefined) return compiled;
  const maps = { words: new Map(), stems: new Map(), known: new Map(), joined: new Map() };
  let cells = 0;
  for (const source of [...PHRASES, ...SIGNS]) {
    for (const text of source.phrases) cells += compile(maps, source, text, cells);
  }
  // Kept from text to text, since most texts are shorter than it takes to make them.
  const [walks, ends, begins] = [cells, cells, cells].map((size) => new Int32Array(size));
  return compiled = { ...maps, walk: 0, walks: walks!, ends: ends!, begins: begins! };
}

/** Answers how many elements the phrase has; its first one gets the cell. */
function compile(
  index: Pick<Index, "words" | "stems">,
  source: Phrase | Sign,
  text: string,
  cell: number,
): number {
  const parts = text.split(" ");
  const size = parts.filter((part) => !part.startsWith("~")).length;
  let [gap, position] = [0, 0];
  for (const part of parts) {
    if (part.startsWith("~")) {
      gap = Number(part.slice(1));
      continue;
    }
    const slot: Slot = {
      phrase: "severity" in source ? source : undefined,
      sign: "severity" in source ? undefined : source,
      unlessDenied: source.unlessDenied === true,
      isObject: "isObject" in source && source.isObject === true,
      inParameters: source.inParameters === true,
      position,
      isLast: position === size - 1,
      cell: cell + position,
      gap,
    };
    position++;
    gap = 0;
    const words = part.split("|").flatMap((word) => MEMBERS.get(word)?.split(" ") ?? [word]);
    for (const word of new Set(words)) {
      const isStem = word.endsWith("*");
      const slots = isStem ? index.stems : index.words;
      const key = isStem ? word.slice(0, -1) : word;
      const waiting = slots.get(key);
      if (waiting === undefined) slots.set(key, [slot]);
      else waiting.push(slot);
    }
  }
  return size;
}

function meaningOf({ words, stems, known }: Index, word: string): Meaning {
  let meaning = known.get(word);
  if (meaning !== undefined) return meaning;
  const found = [...words.get(word) ?? NONE];
  for (let i = STEM.shortest; i <= Math.min(word.length, STEM.longest); i++) {
    const more = stems.get(word.slice(0, i));
    if (more !== undefined) found.push(...more);
  }
  const stem = word.slice(0, LETTERS);
  const slots = found.length === 0 ? NONE : byPosition(found);
  meaning = { slots, stem, weight: WEIGHTS.get(stem) ?? 0 };
  if (known.size < MOST_KNOWN) known.set(word, meaning);
  return meaning;
}

function slotsOfAll(index: Index, words: readonly string[]): Slot[] {
  const key = words.join(" ");
  let slots = index.joined.get(key);
  if (slots !== undefined) return slots;
  slots = byPosition(words.flatMap((word) => meaningOf(index, word).slots));
  if (index.joined.size < MOST_KNOWN) index.joined.set(key, slots);
  return slots;
}

/** From the last element to the first: one word must not be two elements of a phrase. */
function byPosition(slots: Slot[]): Slot[] {
  return slots.sort((a, b) => b.position - a.position);
}

const PARAMETER = /^(input|output)Schema\./;
/** A title or a value is no place for sentences: fewer signs are enough there. */
const ODD = /(^|\.)(title|name|\$comment|pattern|const|default)$|^annotations|\.(enum|examples)\[/;

/**
 * Finds every phrase in one walk over the words. For each phrase it remembers where each of its
 * beginnings was last complete: the latest place is the best one for what may still follow, so
 * there is nothing to go back for, whatever the text is.
 */
export function scanPhrases(
  where: string,
  original: string,
  folded: Folded,
  around: ScanContext,
  topic: ReadonlySet<string> = NOTHING,
  listen?: (sentence: Sentence) => void,
): Finding[] {
  const found = new Map<Phrase, [number, number]>();
  const tokens = tokenize(folded, around);
  const isParameter = PARAMETER.test(where);
  const passage = new PassageScore({
    place: ODD.test(where) ? "odd" : isParameter ? "parameter" : undefined,
    isSuspect: around.isSuspect,
    text: original,
    listen,
  });
  const index = indexOf();
  const { walks, ends, begins } = index;
  const walk = index.walk = (index.walk + 1) & 0x7FFFFFFF;
  let denied = -Infinity;
  for (const { words, index: place, at } of tokens) {
    const isTopic = topic.size > 0 && topic.has(topicStem(words[0]!));
    passage.step(place, at);
    if (isTopic) passage.touch();
    for (let i = 0; i < words.length; i++) {
      if (i > 0 || !isTopic) passage.weigh(meaningOf(index, words[i]!));
      if (DENYING.has(words[i]!)) denied = place;
    }
    const matching = words.length === 1
      ? meaningOf(index, words[0]!).slots
      : slotsOfAll(index, words);
    const isDenied = place > denied && place - denied <= 2;
    for (const slot of matching) {
      const { cell } = slot;
      let begin = at;
      if (slot.position > 0) {
        const before = cell - 1;
        if (walks[before] !== walk || ends[before]! >= place) continue;
        if (place - ends[before]! - 1 > slot.gap) continue;
        begin = begins[before]!;
      }
      if (slot.inParameters && !isParameter) continue;
      if (slot.unlessDenied && isDenied) continue;
      const { phrase, sign } = slot;
      if (isTopic && slot.isObject) continue;
      if (!slot.isLast) {
        walks[cell] = walk;
        ends[cell] = place;
        begins[cell] = begin;
      } else if (sign !== undefined) passage.add(sign, begin);
      else if (phrase !== undefined && !found.has(phrase)) found.set(phrase, [begin, at]);
    }
  }
  const findings = [...found].map(([{ rule, severity, why }, span]): Finding => ({
    rule,
    severity,
    where,
    excerpt: excerptOf(original, span[0]),
    why,
    span,
  }));
  const gravest = passage.gravest();
  if (gravest !== undefined) {
    findings.push({ ...gravest, where, excerpt: excerptOf(original, gravest.span[0]) });
  }
  return findings;
}
