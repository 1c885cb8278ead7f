import { DETECTOR, SCHEMA_WORDS } from "./data/words.ts";

/** What a definition stands among. */
export interface ScanContext {
  server: string;
  /** Names of tools of other servers, original names. */
  otherTools: ReadonlySet<string>;
  otherServers: ReadonlySet<string>;
  reserved: ReadonlySet<string>;
  /** Names of this server's tools: mentioning its own `read_file` is not a cross reference. */
  ownTools?: ReadonlySet<string>;
}

interface DefinitionText {
  where: string;
  text: string;
  /** `key` for the names of fields: a model reads those too. */
  kind: "value" | "key";
}

/** Far above what real definitions have, and little enough to be read in some milliseconds. */
export const LIMITS = { characters: 32_000, nodes: 20_000, depth: 40 };

/** Every text of a definition, name and description first, up to the limits. */
export function textsOf(
  definition: Record<string, unknown>,
): { texts: DefinitionText[]; isCut: boolean } {
  const texts: DefinitionText[] = [];
  let characters = 0;
  let nodes = 0;
  let isCut = false;
  const take = (text: string, where: string, kind: DefinitionText["kind"]) => {
    if (SCHEMA_WORDS.has(text)) return;
    const room = LIMITS.characters - characters;
    if (text.length > room) isCut = true;
    if (room <= 0) return;
    texts.push({ where, text: text.slice(0, room), kind });
    characters += text.length;
  };
  // A stack of its own: a definition nested ten thousand levels deep must not end the program.
  const waiting: { value: unknown; where: string; depth: number }[] = [];
  const { name, title, description, ...rest } = definition;
  waiting.push({ value: rest, where: "", depth: 0 });
  for (const [where, value] of Object.entries({ description, title, name })) {
    if (value !== undefined) waiting.push({ value, where, depth: 0 });
  }
  while (waiting.length > 0) {
    const { value, where, depth } = waiting.pop()!;
    if (typeof value === "string") take(value, where, "value");
    if (typeof value !== "object" || value === null) continue;
    if (depth >= LIMITS.depth || characters >= LIMITS.characters) {
      isCut = true;
      continue;
    }
    const children: typeof waiting = [];
    for (const key in value) {
      if (++nodes > LIMITS.nodes) {
        isCut = true;
        break;
      }
      const path = Array.isArray(value)
        ? `${where}[${key}]`
        : where === ""
        ? key
        : `${where}.${key}`;
      if (!Array.isArray(value)) take(key, path, "key");
      children.push({ value: Reflect.get(value, key), where: path, depth: depth + 1 });
    }
    // In their own order, since the last one pushed is the next one taken.
    for (let i = children.length - 1; i >= 0; i--) waiting.push(children[i]!);
  }
  return { texts, isCut };
}

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

/** One text of a definition, and how a model reads it. */
export interface Reading {
  where: string;
  text: string;
  read: string;
  topic: ReadonlySet<string>;
}

const NOTHING: ReadonlySet<string> = new Set();
/** A sentence in one word: `pick_this_after_sending_the_file`. */
const ONE_WORD = /^[a-z][a-z0-9]*(?:_[a-z0-9.-]+){3,30}$/;

/** Every text of a tool's definition; names are read as words, since a model does so. */
export function readingsOf(
  definition: Record<string, unknown>,
  server: string,
): { readings: Reading[]; isCut: boolean } {
  const topic = topicOf(definition.name, server);
  const { texts, isCut } = textsOf(definition);
  const readings = texts.map(({ where, text, kind }): Reading => ({
    where,
    text,
    read: kind === "key" || where === "name" || ONE_WORD.test(text) ? spelledOut(text) : text,
    // A name is not about itself.
    topic: where === "name" ? NOTHING : topic,
  }));
  return { readings, isCut };
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
