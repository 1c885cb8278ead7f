import { LANGUAGES } from "./data/languages.ts";
import type { Folded } from "./characters.ts";
import type { ScanContext } from "./definition.ts";
import { ACTS, COMMANDS, JOINED, SHAPES, TOOL_VERBS } from "./data/shapes.ts";
import { CLASSES, MERGED } from "./data/words.ts";

/** One word of a text, or what it is by its shape (`§url`). */
export interface Token {
  words: readonly string[];
  /** Counts words; a new sentence is far away, so that no phrase reaches over its end. */
  index: number;
  at: number;
}

const SENTENCE = 1_000;

/** Words that no shape can match: the common case, decided without the expressions above. */
const PLAIN = /^[a-z]+$/;
/** What follows one of these is an example for a person, not an address to send to. */
const EXAMPLES = new Set(
  ("eg e.g ex example examples like such see docs documentation reference specification spec " +
    "guide formatted").split(" "),
);
const OPENING = new Set(
  "so thus therefore hence then please kindly just and always simply".split(" "),
);
const ADDRESSES = new Set(["§url", "§email", "§host", "§number"]);

type Merges = Map<string, { rest: string[]; word: string }[]>;
let knownMerges: Merges | undefined;

/** What can be merged, by its first word, the longest first. */
function mergesOf(): Merges {
  if (knownMerges !== undefined) return knownMerges;
  knownMerges = new Map();
  for (const [phrase, word] of MERGED) {
    const [first = "", ...rest] = phrase.split(" ");
    const list = knownMerges.get(first) ?? [];
    list.push({ rest, word });
    knownMerges.set(first, list.sort((a, b) => b.rest.length - a.rest.length));
  }
  return knownMerges;
}

export function tokenize(folded: Folded, around: ScanContext): Token[] {
  const raw: { word: string; index: number; at: number; opens?: boolean }[] = [];
  let index = 0;
  /** Whether a sentence or clause begins here. */
  let opens = false;
  const hasJoined = isJoined(folded.text);
  for (const match of folded.text.matchAll(/\n|[^\s,()|]+/g)) {
    if (match[0] === "\n") {
      index += SENTENCE;
      opens = true;
      continue;
    }
    if (hasJoined && isJoined(match[0])) {
      for (const { word, at } of piecesOf(match[0])) {
        raw.push({ word, index: index++, at: folded.at[match.index + at] ?? 0 });
      }
      opens = false;
      continue;
    }
    const at = folded.at[match.index] ?? 0;
    if (PLAIN.test(match[0])) raw.push({ word: match[0], index: index++, at, opens });
    else for (const word of wordsOf(match[0])) raw.push({ word, index: index++, at, opens });
    opens = folded.text[match.index + match[0].length] === "," || match[0].endsWith(":") ||
      OPENING.has(match[0]);
  }
  const merges = mergesOf();
  const tokens: Token[] = [];
  let exampleUntil = -1;
  /** Words that were merged away: a phrase's gap counts what is left. */
  let merged = 0;
  for (let i = 0; i < raw.length; i++) {
    const { word, index: place, at, opens } = raw[i]!;
    const index = place - merged;
    const merge = merges.get(word)?.find(({ rest }) =>
      rest.every((next, j) =>
        raw[i + 1 + j]?.word === next && raw[i + 1 + j]!.index === place + 1 + j
      )
    );
    if (merge !== undefined) {
      i += merge.rest.length;
      merged += merge.rest.length;
      tokens.push({ words: [merge.word], index, at });
      continue;
    }
    if (EXAMPLES.has(word)) exampleUntil = index + 4;
    const words = shapesOf(word, around);
    if (opens && ACTS.has(word)) words.push("§act");
    if (isCode(folded.original, at)) words.push(COMMANDS.has(word) ? "§cmd" : "§code");
    tokens.push({
      words: index <= exampleUntil ? words.filter((it) => !ADDRESSES.has(it)) : words,
      index,
      at,
    });
  }
  return tokens;
}

/** Set apart by a quote, as the names of parameters are. */
function isCode(original: string, at: number): boolean {
  const before = original[at - 1];
  return before === "`" || before === "'" || before === '"' || original[at] === "`";
}

function wordsOf(chunk: string): string[] {
  // The dot of `.env` is part of the name.
  const keepDot = (prefix: string) => prefix.endsWith(".") ? "." : "";
  const bare = chunk.replace(/^[[\](){}<:;!?.…#-]{1,20}(?=[\w~/§*+.])/, keepDot)
    .replace(/[\](){}>:;!?.…]{1,20}$/, "");
  if (/^[a-z]+(\/[a-z]+)+$/.test(bare)) return bare.split("/");
  if (/^[a-z]+(-[a-z]+)+$/.test(bare)) return [bare.replaceAll("-", "")];
  return bare === "" ? [] : [bare];
}

/** A name like `export_context`: of a tool, and where it is none of the server's own, of another one. */
const TOOL_NAME = new RegExp(`^(${TOOL_VERBS})(_[a-z0-9]+){1,5}$`);

/** The word, and what it is by its shape. */
function shapesOf(word: string, around: ScanContext): string[] {
  const shapes = [word];
  if (!PLAIN.test(word)) {
    for (const [shape, expression] of SHAPES) if (expression.test(word)) shapes.push(shape);
    if (isForeign(word, around)) shapes.push("§foreign");
    else if (isQualified(word, around)) shapes.push("§qualified");
    else if (around.ownTools?.has(word) === false && TOOL_NAME.test(word)) shapes.push("§tool");
  }
  if (around.ownTools?.has(word) === true) shapes.push("§own");
  if (around.otherServers.has(word)) shapes.push("§server");
  return shapes;
}

/** A tool of another server, and no word that merely happens to be one (`search`, `think`). */
function isForeign(word: string, around: ScanContext): boolean {
  const [, server, tool] = /^(?:mcp__)?([\w-]+?)(?:__|\.)([\w-]+)$/.exec(word) ?? [];
  if (server !== undefined && around.otherServers.has(server) && around.otherTools.has(tool!)) {
    return true;
  }
  if (!/[a-z0-9][_-][a-z0-9]/.test(word) || around.ownTools?.has(word) === true) return false;
  // Folding leaves the s of `send_email's`.
  return around.otherTools.has(word) ||
    (word.endsWith("s") && around.otherTools.has(word.slice(0, -1)));
}

const BRANDS: ReadonlySet<string> = new Set(CLASSES.BRAND.split(" "));

/** Written like a tool of a named server, `bank.transfer`, whether or not that is connected. */
function isQualified(word: string, around: ScanContext): boolean {
  const [, server, tool] = /^(?:mcp__)?([a-z][a-z0-9-]{1,30})(?:\.|__)([a-z]+(?:_[a-z0-9]+){0,6})$/
    .exec(word) ?? [];
  if (server === undefined || server === around.server || around.ownTools?.has(tool!) === true) {
    return false;
  }
  if (tool!.includes("_")) return true;
  // Short ends are those of files and hosts.
  return tool!.length > 4 && (BRANDS.has(server) || around.otherServers.has(server));
}

let knownPieces: Map<string, string[]> | undefined;

export function isJoined(text: string): boolean {
  return JOINED.test(text);
}

/** The known words in a row of letters that does not part them, and where each begins. */
export function piecesOf(chunk: string): { word: string; at: number }[] {
  const words = knownPieces ??= byFirstLetter();
  const found: { word: string; at: number }[] = [];
  for (let at = 0; at < chunk.length; at++) {
    const word = words.get(chunk[at]!)?.find((each) => chunk.startsWith(each, at));
    if (word === undefined) continue;
    found.push({ word, at });
    at += word.length - 1;
  }
  return found;
}

/** The longest first, since a short word may begin a long one. */
function byFirstLetter(): Map<string, string[]> {
  const words = Object.values(LANGUAGES).flatMap((list) => list.split(" ")).filter(isJoined);
  const longestFirst = [...new Set(words)].sort((a, b) => b.length - a.length);
  return Map.groupBy(longestFirst, (word) => word[0]!);
}
