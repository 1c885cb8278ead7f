import { DESCRIBED } from "../../lib/trust/scanner/data/signs.ts";
import type { Weights } from "./fit.ts";

/** Weights are learned around even odds at four; in points everything is twice that. */
const SCALE = 2;
const WIDTH = 84;

/** The source of data/weights.ts. */
export function weightsSource(weights: Weights): string {
  const points = [...weights].map(([name, weight]) => [name, half(weight * SCALE)] as const);
  const signs = DESCRIBED.map(({ id, phrases }) => {
    const learned = phrases.map((_, i) => half(weights.get(`s:${id} ${i}`)! * SCALE));
    return `  [${JSON.stringify(id)}, ${JSON.stringify(learned.join(" "))}],`;
  }).sort();
  const words = Map.groupBy(
    points.filter(([name, value]) => name.startsWith("w:") && value !== 0),
    ([, value]) => value,
  );
  const rows = [...words].sort(([a], [b]) => b - a).map(([value, list]) =>
    `  [${value}, ${linesOf(list.map(([name]) => name.slice(2)).sort())}],`
  );
  const place = (name: string) => half((weights.get(name) ?? 0) * SCALE);
  return `/**
 * Written by bench/scanner/train.ts, see docs/adr/0012. Points of the phrases of
 * each sign, in their order, and how much a word speaks
 * for an order to a model (above zero) or for plain documentation (below); of words the beginnings,
 * seven letters at most. No word is telling by itself: a sentence is judged by all of them, and only
 * where it has signs as well.
 */
export const POINTS: ReadonlyMap<string, string> = new Map([
${signs.join("\n")}
]);

/** What a tool does is said first, orders come later; and some places are none for sentences. */
export const PLACES = { later: ${place("later")}, aside: ${place("aside")}, odd: ${
    place("odd")
  }, parameter: ${place("parameter")} };

const BY_WEIGHT: readonly (readonly [number, string])[] = [
${rows.join("\n")}
];

export const WEIGHTS: ReadonlyMap<string, number> = new Map(
  BY_WEIGHT.flatMap(([weight, words]) =>
    words.split(" ").map((word): [string, number] => [word, weight])
  ),
);
`;
}

function half(value: number): number {
  return Math.round(value * 2) / 2 + 0;
}

function linesOf(words: readonly string[]): string {
  const lines: string[] = [];
  let line = "";
  for (const word of words) {
    if (line.length + word.length + 1 > WIDTH) {
      lines.push(`${line} `);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].map((it) => JSON.stringify(it)).join(" +\n    ");
}
