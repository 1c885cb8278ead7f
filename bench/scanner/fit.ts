import { DESCRIBED } from "../../lib/trust/scanner/data/signs.ts";
import type { Sentence } from "../../lib/trust/scanner/passage.ts";

/** A definition or text as the sentences in it, any of which may be the hostile one. */
export interface Bag {
  sentences: readonly Sentence[];
  isAttack: boolean;
}

/** Signs by `s:`, words by `w:`, and `later`, `aside`, `odd` and `parameter` for the place of a sentence. */
export type Weights = Map<string, number>;

interface Row {
  /** Places of its signs and of its words among the weights. */
  signs: number[];
  words: number[];
  scale: number;
}

const EPOCHS = 30;
/** The weights of so many last epochs are averaged: single ones jump. */
const AVERAGED = 12;
const RATE = 0.12;
const DECAY = 0.0003;
/** Few attacks stand against many ordinary texts. */
const REPEATED = 2;
const BIAS = -4;
/** As in passage.ts, where points are twice these. */
const MANNER = { many: 2.5, one: 1 };
const CAP = { sign: 4, place: 1.5, word: 2.2 };
const PULL = { sign: 0.3, word: 0.25 };
/** How many texts what is usual of a sign counts as, and what a sign counts that no text has. */
const USUAL = 300;
const UNSEEN = 0.25;
/** A word must have been seen in so many attacks, or ordinary texts, to get a weight. */
const LEAST = { attacks: 4, ordinary: 16 };

/**
 * Learns what each sign and each word speaks for. Of an attack, only its gravest sentence has to be
 * over the bar; of an ordinary text, all have to be under it. The same input gives the same weights.
 */
export function fit(bags: readonly Bag[]): Weights {
  const known = knownWords(bags);
  const places = new Map<string, number>();
  const placeOf = (name: string) => {
    const place = places.get(name) ?? places.size;
    places.set(name, place);
    return place;
  };
  const items = bags.flatMap(({ sentences, isAttack }) => {
    const rows = sentences.filter(({ signs }) => signs.length > 0).map((sentence): Row => ({
      signs: namesOf(sentence).map(placeOf),
      words: sentence.stems.filter((stem) => known.has(stem)).map((stem) => placeOf(`w:${stem}`)),
      scale: Math.sqrt(Math.max(sentence.stems.length, 10) / 10),
    }));
    if (rows.length === 0) return [];
    return Array.from({ length: isAttack ? REPEATED : 1 }, () => ({ rows, isAttack }));
  });
  const kinds = [...places.keys()].map((name) => name.startsWith("s:") ? "sign" : "place");
  const weights = Float64Array.from(kinds, (kind) => kind === "sign" ? 0.2 : 0);
  const sums = new Float64Array(weights.length);
  const random = randomFrom(7);
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    shuffle(items, random);
    const rate = RATE / (1 + epoch / 8);
    for (const { rows, isAttack } of items) {
      const { row, points } = gravest(rows, weights);
      const error = 1 / (1 + Math.exp(-points)) - (isAttack ? 1 : 0);
      if (Math.abs(error) < 0.005) continue;
      for (const i of row.signs) {
        const next = weights[i]! * (1 - rate * DECAY * 0.3) - rate * error * PULL.sign;
        weights[i] = kinds[i] === "sign"
          ? clamp(next, 0, CAP.sign)
          : clamp(next, -CAP.place, CAP.place);
      }
      for (const i of row.words) {
        const next = weights[i]! * (1 - rate * DECAY) - rate * error * PULL.word / row.scale;
        weights[i] = clamp(next, -CAP.word, CAP.word);
      }
    }
    if (epoch >= EPOCHS - AVERAGED) weights.forEach((weight, i) => sums[i]! += weight / AVERAGED);
  }
  return shrunk(new Map([...places].map(([name, i]) => [name, sums[i]!])), items);
}

/** Draws what a phrase has learned toward what others of its sign have: the more, the rarer it is. */
function shrunk(weights: Weights, items: readonly { rows: Row[] }[]): Weights {
  const places = [...weights.keys()];
  const seen = new Map<string, number>();
  for (const { rows } of items) {
    for (const place of new Set(rows.flatMap(({ signs }) => signs))) {
      const name = places[place]!;
      seen.set(name, (seen.get(name) ?? 0) + 1);
    }
  }
  for (const { id, phrases } of DESCRIBED) {
    const names = phrases.map((_, i) => `s:${id} ${i}`);
    const learned = names.flatMap((name) => weights.get(name) ?? []).toSorted((a, b) => a - b);
    const usual = learned[learned.length >> 1] ?? UNSEEN;
    for (const name of names) {
      const times = seen.get(name) ?? 0;
      weights.set(name, (times * (weights.get(name) ?? 0) + USUAL * usual) / (times + USUAL));
    }
  }
  return weights;
}

/** The points of a sample's gravest sentence, zero being even odds. */
export function judge(sentences: readonly Sentence[], weights: Weights): number {
  let most = -Infinity;
  for (const sentence of sentences) {
    if (sentence.signs.length === 0) continue;
    let words = 0;
    for (const stem of sentence.stems) words += weights.get(`w:${stem}`) ?? 0;
    words /= Math.sqrt(Math.max(sentence.stems.length, 10) / 10);
    const manner = sentence.signs.length > 1 ? MANNER.many : MANNER.one;
    let [signed, place] = [0, 0];
    for (const name of namesOf(sentence)) {
      const weight = weights.get(name) ?? 0;
      if (name.startsWith("s:")) signed += weight;
      else place += weight;
    }
    most = Math.max(most, BIAS + place + signed + Math.min(words, signed + manner));
  }
  return most;
}

function namesOf({ signs, isLater, isAside, place }: Sentence): string[] {
  return [
    ...signs.map((id) => `s:${id}`),
    ...isLater ? ["later"] : [],
    ...isAside ? ["aside"] : [],
    ...place ? [place] : [],
  ];
}

function knownWords(bags: readonly Bag[]): Set<string> {
  const counts = new Map<string, { attacks: number; ordinary: number }>();
  for (const { sentences, isAttack } of bags) {
    for (const stem of new Set(sentences.flatMap(({ stems }) => stems))) {
      const count = counts.get(stem) ?? { attacks: 0, ordinary: 0 };
      count[isAttack ? "attacks" : "ordinary"]++;
      counts.set(stem, count);
    }
  }
  const isKnown = ([stem, { attacks, ordinary }]: [string, typeof LEAST]) =>
    !/[0-9_]/.test(stem) && (attacks >= LEAST.attacks || ordinary >= LEAST.ordinary);
  return new Set([...counts].filter(isKnown).map(([stem]) => stem));
}

function gravest(rows: readonly Row[], weights: Float64Array): { row: Row; points: number } {
  let best = { row: rows[0]!, points: -Infinity };
  for (const row of rows) {
    let words = 0;
    for (const i of row.words) words += weights[i]!;
    let points = BIAS + words / row.scale;
    for (const i of row.signs) points += weights[i]!;
    if (points > best.points) best = { row, points };
  }
  return best;
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}

function shuffle<T>(items: T[], random: () => number): void {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [items[i], items[j]] = [items[j]!, items[i]!];
  }
}

function randomFrom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) & 0x7FFFFFFF) / 0x7FFFFFFF;
}
