import { DETECTOR, SCHEMA_WORDS } from "./data/words.ts";

/** What a definition stands among. */
export interface ScanContext {
  server: string;
  /** Names of tools of other servers, original names; with their descriptions where known. */
  otherTools: ReadonlySet<string> | ReadonlyMap<string, string>;
  otherServers: ReadonlySet<string>;
  reserved: ReadonlySet<string>;
  /** Something was found in the definition: the rest is read with less good faith. */
  isSuspect?: true;
  /** Names of this server's tools: mentioning its own `read_file` is not a cross reference. */
  ownTools?: ReadonlySet<string>;
}

interface DefinitionText {
  where: string;
  text: string;
  /** `key` for the names of fields: a model reads those too. */
  kind: "value" | "key";
  /** The parameter that it describes. */
  parameter?: string | undefined;
}

/** From where to where something goes in a text. */
export type PassageSpan = [number, number];

/**
 * What is read of a definition; what lies beyond is taken out, since nobody has looked at it. A
 * piece is what is read in one go.
 */
export const LIMITS = { characters: 200_000, nodes: 100_000, depth: 60, piece: 16_000 };
/** Pieces share so much, or a sentence could hide between two of them. */
const OVERLAP = 600;
/** More places are named by what they are in. */
const MOST_UNREAD = 20;

/** A place that was not read: a part of a text, or all that is there. */
interface Unread {
  where: string;
  span?: PassageSpan;
}

/** Every text of a definition, name and description first, up to the limits. */
export function textsOf(
  definition: Record<string, unknown>,
): { texts: DefinitionText[]; unread: Unread[] } {
  const texts: DefinitionText[] = [];
  const unread: Unread[] = [];
  let characters = 0;
  let nodes = 0;
  const take = (text: string, where: string, kind: DefinitionText["kind"], parameter?: string) => {
    if (SCHEMA_WORDS.has(text)) return;
    const room = Math.max(0, LIMITS.characters - characters);
    if (text.length > room) {
      unread.push(kind === "key" || room === 0 ? { where } : { where, span: [room, text.length] });
    }
    if (room === 0) return;
    texts.push({ where, text: text.slice(0, room), kind, parameter });
    characters += text.length;
  };
  // A stack of its own: a definition nested ten thousand levels deep must not end the program.
  const waiting: {
    value: unknown;
    where: string;
    depth: number;
    holds?: "parameters";
    /** The parameter whose schema, or whose description, it is. */
    parameter?: string | undefined;
  }[] = [];
  const { name, title, description, ...rest } = definition;
  waiting.push({ value: rest, where: "", depth: 0 });
  for (const [where, value] of Object.entries({ description, title, name })) {
    if (value !== undefined) waiting.push({ value, where, depth: 0 });
  }
  while (waiting.length > 0) {
    const { value, where, depth, holds, parameter } = waiting.pop()!;
    if (typeof value === "string") take(value, where, "value", parameter);
    if (typeof value !== "object" || value === null) continue;
    if (depth >= LIMITS.depth || characters >= LIMITS.characters || nodes >= LIMITS.nodes) {
      // All that is not name, title or description has no name of its own.
      const places = where === "" ? Object.keys(value) : [where];
      unread.push(...places.map((where) => ({ where })));
      continue;
    }
    const children: typeof waiting = [];
    for (const key in value) {
      if (++nodes > LIMITS.nodes) {
        unread.push({ where });
        break;
      }
      const path = Array.isArray(value)
        ? `${where}[${key}]`
        : where === ""
        ? key
        : `${where}.${key}`;
      if (!Array.isArray(value)) take(key, path, "key");
      const child = { value: Reflect.get(value, key), where: path, depth: depth + 1 };
      if (holds) children.push({ ...child, parameter: key });
      else if (key === "properties") children.push({ ...child, holds: "parameters" });
      else children.push(key === "description" ? { ...child, parameter } : child);
    }
    // In their own order, since the last one pushed is the next one taken.
    for (let i = children.length - 1; i >= 0; i--) waiting.push(children[i]!);
  }
  return { texts, unread: coarse(unread) };
}

/** Few places that hold all of these. */
function coarse(unread: readonly Unread[]): Unread[] {
  const spans = unread.filter(({ span }) => span !== undefined);
  let places = new Set(unread.filter(({ span }) => !span).map(({ where }) => shortWhere(where)));
  while (places.size > MOST_UNREAD) {
    const longest = Math.max(...Array.from(places, (where) => where.length));
    if (!/[.[]/.test([...places].find((where) => where.length === longest) ?? "")) break;
    places = new Set(
      Array.from(places, (where) => where.length > longest / 2 ? parentOf(where) : where),
    );
  }
  return [...spans.slice(0, MOST_UNREAD), ...Array.from(places, (where) => ({ where }))];
}

const LONGEST_WHERE = 200;

/** The place, or the innermost one around it whose name is short enough to be shown. */
export function shortWhere(where: string): string {
  let short = where;
  while (short.length > LONGEST_WHERE && /[.[]/.test(short)) short = parentOf(short);
  return short.slice(0, LONGEST_WHERE);
}

function parentOf(where: string): string {
  const at = Math.max(where.lastIndexOf("."), where.lastIndexOf("["));
  return at <= 0 ? where : where.slice(0, at);
}

/** Pieces of a long text, and where each begins. */
export function piecesOfText(text: string): { piece: string; at: number }[] {
  if (text.length <= LIMITS.piece) return [{ piece: text, at: 0 }];
  const pieces: { piece: string; at: number }[] = [];
  for (let at = 0; at < text.length;) {
    const end = at + LIMITS.piece;
    pieces.push({ piece: text.slice(at, end), at });
    if (end >= text.length) break;
    // At the beginning of a word, or half of one could be read.
    const space = text.slice(end - OVERLAP, end - OVERLAP / 2).search(/\s/);
    at = end - OVERLAP + Math.max(space, 0);
  }
  return pieces;
}

const ENDS = ".!?";
const WIDE_ENDS = "。！？；।";

/**
 * The whole passage around a place: from the beginning of its sentence to the end of its paragraph,
 * since what follows an order belongs to it.
 */
export function passageAround(text: string, [from, to]: PassageSpan): PassageSpan {
  let start = Math.min(from, text.length);
  while (start > 0 && !isBreak(text, start - 1)) start--;
  while (start < from && /\s/.test(text[start]!)) start++;
  const rest = text.slice(to).search(/\r?\n[ \t\r]*\n/);
  return [start, rest < 0 ? text.length : to + rest];
}

/** Whether a sentence or an item ends with this character. */
function isBreak(text: string, at: number): boolean {
  const character = text[at]!;
  if (WIDE_ENDS.includes(character)) return true;
  if (character === "\n") {
    return /^[ \t\r]*(\n|[-*•#|<]|\d+[.)] )/.test(text.slice(at + 1, at + 40));
  }
  return (character === " " || character === "\t") && at > 0 && ENDS.includes(text[at - 1]!);
}

const NOTHING: ReadonlySet<string> = new Set();

/** As much of a word as its forms have in common, roughly. */
export function topicStem(word: string): string {
  return word.slice(0, 5);
}

/** What a definition is about, by the words of its names: of these it may speak freely. */
export function topicOf(...names: readonly unknown[]): Set<string> {
  const words = names.filter((name) => typeof name === "string").join(" ").slice(0, 2_000)
    .replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase().match(/[a-z0-9]{3,}/g) ?? [];
  return new Set(words.map(topicStem));
}

/** Tools whose names share a word, for it to be their server's subject. */
const SHARED = 3;
const subjects = new WeakMap<ReadonlySet<string>, ReadonlySet<string>>();

/** What a server is about: words that several of its tools have in their names. */
function subjectOf(ownTools: ReadonlySet<string> = NOTHING): ReadonlySet<string> {
  const known = subjects.get(ownTools);
  if (known !== undefined) return known;
  const counts = new Map<string, number>();
  for (const name of ownTools) {
    for (const stem of topicOf(name)) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  }
  const subject = new Set([...counts.keys()].filter((stem) => counts.get(stem)! >= SHARED));
  subjects.set(ownTools, subject);
  return subject;
}

/** One text of a definition, and how a model reads it. */
export interface Reading {
  where: string;
  text: string;
  read: string;
  /** As many characters of what is read stand before the text: the name of a parameter. */
  lead: number;
  topic: ReadonlySet<string>;
  /** A name: it goes as a whole or not at all. */
  isName: boolean;
}

/** A sentence in one word: `pick_this_after_sending_the_file`. */
const ONE_WORD = /^[a-z][a-z0-9]*(?:_[a-z0-9.-]+){3,30}$/;
/** As much of a parameter's name is read together with its description, which says what is asked for. */
const LONGEST_NAME = 100;

/** Every text of a tool's definition; names are read as words, since a model does so. */
export function readingsOf(
  definition: Record<string, unknown>,
  { server, ownTools }: Pick<ScanContext, "server" | "ownTools">,
): { readings: Reading[]; unread: Unread[] } {
  const topic = topicOf(definition.name, server).union(subjectOf(ownTools));
  const { texts, unread } = textsOf(definition);
  const readings = texts.map(({ where, text, kind, parameter }): Reading => {
    const isName = kind === "key" || where === "name";
    const plain = isName || ONE_WORD.test(text) ? spelledOut(text) : text;
    const lead = parameter !== undefined && text.length < LIMITS.piece
      ? `${spelledOut(parameter.slice(0, LONGEST_NAME)).replace(/[^\w$]+/g, " ")} `
      : "";
    return {
      where,
      text,
      read: `${lead}${plain}`,
      lead: lead.length,
      // A name is not about itself.
      topic: where === "name" ? NOTHING : topic,
      isName,
    };
  });
  return { readings, unread };
}

function spelledOut(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/id_(rsa|ed25519)/g, "id\0$1")
    .replace(/_/g, " ").replaceAll("\0", "_");
}

/** Pairs of quotes on one line, with no more between them than an example has. */
const QUOTED =
  /"[^"\n]{1,300}"|“[^”\n]{1,300}”|`[^`\n]{1,300}`|(?<=[\s(,])'[^'\n]{1,300}'(?=[\s),.])/g;

/** The description without what it quotes, where the tool has a reason to quote attacks. */
export function unquoted(description: unknown): string | undefined {
  if (typeof description !== "string" || !DETECTOR.test(description.slice(0, 300))) {
    return undefined;
  }
  const rest = description.replace(QUOTED, "");
  return rest === description ? undefined : rest;
}
