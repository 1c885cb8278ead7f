import { textsOf } from "./texts.ts";
import { topicOf } from "./topic.ts";

/** One text of a definition, and how a model reads it. */
export interface Reading {
  where: string;
  text: string;
  read: string;
  /** What it may speak of freely. */
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
