import type { Finding } from "../../catalog/tool_guard.ts";
import { isObject } from "../../core/rpc.ts";
import { excerptOf, skeleton } from "./characters.ts";
import { PARAMETERS, VERSION_WORDS } from "./data/parameters.ts";
import type { ScanContext } from "./definition.ts";

type Names = ScanContext["otherTools"];

interface KnownNames {
  size: number;
  skeletons: Map<string, string>;
  /** By what is left of a name without "new", "v2" and the like, and by the text of a description. */
  bases: Map<string, string>;
  texts: Map<string, string>;
}

/** What other servers' tools are known by; thousands of tools are compared with the same ones. */
const remembered = new WeakMap<Names, KnownNames>();

function knownNames(names: Names): KnownNames {
  const known = remembered.get(names);
  if (known !== undefined && known.size === names.size) return known;
  const fresh: KnownNames = {
    size: names.size,
    skeletons: new Map(),
    bases: new Map(),
    texts: new Map(),
  };
  for (const [name, other] of names.entries()) {
    fresh.skeletons.set(skeleton(name), name);
    fresh.bases.set(baseOf(name), name);
    const text = other === name ? "" : textKey(other);
    if (text !== "") fresh.texts.set(text, name);
  }
  remembered.set(names, fresh);
  return fresh;
}

/** A name in words, without those that only claim to be another version of it. */
function baseOf(name: string): string {
  const words = name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase().split(/[^a-z0-9]+/)
    .map((word) => word.replace(/(?<=[a-z]{3})\d{1,2}$/, ""));
  return words.filter((word) => word !== "" && !VERSION_WORDS.test(word)).join(" ");
}

/** Letters and digits of a description long enough to be copied rather than common. */
function textKey(description: string): string {
  const letters = description.slice(0, 400).toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
  return letters.length < SHORTEST_COPY ? "" : letters.slice(0, 200);
}

const SHORTEST_COPY = 60;
/** Some part of every name that is looked for: most parameters have none. */
const TELLING =
  /prompt|instruct|convers|chat|messag|histor|dialog|context|tool|thought|reason|llm|model|note|channel|exfil|hidden|key|rsa|cred|env|cookie|passw|transcr|turns|quer|previous|prior|past|user|agent|assist|caller|ai_|dot|shell|terminal|passwd|phrase|codes|token|memor|scratch|clip|open|brows|inbox|mailbox|stroke/i;

export function scanName(name: string, around: ScanContext, description?: unknown): Finding[] {
  const found = (rule: string, severity: Finding["severity"], why: string): Finding[] => [
    { rule, severity, where: "name", excerpt: excerptOf(name), why },
  ];
  // Whoever writes in plain letters may be the one who is imitated: a warning is enough for it, and
  // routing tells equal names apart.
  const lookalike = /^[\x21-\x7e]+$/.test(name) ? "medium" : "high";
  const bones = skeleton(name);
  const reserved = knownNames(around.reserved).skeletons.get(bones);
  if (reserved !== undefined) {
    return found(
      "reserved-name",
      lookalike,
      `It uses the name of the gateway's own tool "${reserved}"`,
    );
  }
  if (around.otherTools.has(name)) {
    return found("shadowing", "low", "Another server has a tool with the same name");
  }
  const other = knownNames(around.otherTools).skeletons.get(bones);
  // `Search` beside `search` is another server's habit, `Read_File` beside `read_file` is not.
  if (
    other !== undefined && /^[A-Za-z]+$/.test(name) && other.toLowerCase() === name.toLowerCase()
  ) {
    return found("shadowing", "low", `Another server has "${other}", which differs only in case`);
  }
  if (other !== undefined) {
    return found("shadowing", lookalike, `It looks like "${other}", a tool of another server`);
  }
  const misspelled = neighborsOf(name).find((it) => around.otherTools.has(it));
  if (misspelled !== undefined) {
    return found("shadowing", "medium", `It is a misspelling of "${misspelled}" of another server`);
  }
  return scanCopy(name, description, around).flatMap(([severity, why]) =>
    found("shadowing", severity, why)
  );
}

/** Whether it is made to be taken for another server's tool: nearly its name, or its text. */
function scanCopy(
  name: string,
  description: unknown,
  { otherTools, ownTools }: ScanContext,
): [Finding["severity"], string][] {
  const { bases, texts } = knownNames(otherTools);
  const text = typeof description === "string" ? textKey(description) : "";
  const copied = text === "" ? undefined : texts.get(text);
  const base = baseOf(name);
  const near = base === "" ? undefined : bases.get(base);
  if (near === undefined && copied === undefined) return [];
  // `search_2` beside the server's own `search` is a sibling.
  for (const own of ownTools ?? []) if (own !== name && baseOf(own) === base) return [];
  if (near !== undefined && near !== name) {
    // `create-project` beside `create_project` is a matter of style, unless the text is the same.
    const isSimilar = copied === near ||
      (plainly(name) !== plainly(near) && isSimilarText(description, otherTools, near));
    return [[
      isSimilar ? "medium" : "low",
      `Its name is nearly that of "${near}" of another server${
        isSimilar ? ", and so is its text" : ""
      }`,
    ]];
  }
  return copied === undefined || copied === name
    ? []
    : [["low", `Its text is that of "${copied}" of another server`]];
}

function plainly(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, "");
}

function isSimilarText(description: unknown, others: Names, name: string): boolean {
  const other = "get" in others ? others.get(name) : undefined;
  // Where nobody knows what the other one says, the name is what there is to go by.
  if (other === undefined || typeof description !== "string") return true;
  const [words, theirs] = [wordsIn(description), wordsIn(other)];
  const shared = words.intersection(theirs).size;
  return shared >= 2 && 2 * shared >= 0.6 * (words.size + theirs.size);
}

function wordsIn(text: string): Set<string> {
  return new Set(text.slice(0, 2_000).toLowerCase().match(/[\p{L}\p{N}]{3,}/gu));
}

/** The names of which this one is a slip: two letters exchanged, or one doubled. */
function neighborsOf(name: string): string[] {
  if (name.length < 8 || name.length > 64) return [];
  const neighbors: string[] = [];
  for (let i = 1; i < name.length; i++) {
    const [before, letter] = [name[i - 1]!, name[i]!];
    if (letter === before) neighbors.push(name.slice(0, i) + name.slice(i + 1));
    else neighbors.push(name.slice(0, i - 1) + letter + before + name.slice(i + 1));
  }
  return neighbors;
}

/** Beyond these, names are read as the texts that they are. */
const MOST_PARAMETERS = 1_000;
const LONGEST_NAME = 100;

/** Finds parameters that ask for what the model knows rather than for what the tool needs. */
export function scanParameters(definition: Record<string, unknown>): Finding[] {
  const { name, title, description, inputSchema } = definition;
  const purpose = [name, title, description].filter((text) => typeof text === "string").join(" ")
    .replaceAll("_", " ").replace(/([a-z])([A-Z])/g, "$1 $2").slice(0, 4_000);
  const parameters = [...parametersOf(inputSchema, "inputSchema").take(MOST_PARAMETERS)];
  return parameters.flatMap(({ parameter, where }): Finding[] => {
    const name = parameter.slice(0, LONGEST_NAME);
    if (!TELLING.test(name)) return [];
    const plain = name.replace(/([a-z])([A-Z])/g, "$1_$2").replace(/[^A-Za-z0-9]+/g, "_")
      .toLowerCase();
    const known = PARAMETERS.find((each) => each.name.test(plain));
    if (known === undefined) return [];
    return [{
      rule: "exfiltration-parameter",
      severity: known.honest?.test(purpose) ? "low" : "medium",
      where,
      excerpt: excerptOf(parameter),
      why: known.why,
    }];
  });
}

/** Parameters, and those inside them; not so deep that it matters how deep. */
function* parametersOf(
  schema: unknown,
  where: string,
  depth = 0,
): Generator<{ parameter: string; where: string }> {
  if (!isObject(schema) || depth > 4) return;
  const properties = isObject(schema.properties) ? schema.properties : {};
  for (const [parameter, inner] of Object.entries(properties)) {
    const place = `${where}.properties.${parameter}`;
    yield { parameter, where: place };
    yield* parametersOf(inner, place, depth + 1);
  }
  yield* parametersOf(schema.items, `${where}.items`, depth + 1);
}
