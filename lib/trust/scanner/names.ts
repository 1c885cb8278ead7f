import type { Finding } from "../../catalog/tool_guard.ts";
import { isObject } from "../../core/rpc.ts";
import { excerptOf, skeleton } from "./characters.ts";
import { PARAMETERS } from "./data/parameters.ts";
import type { ScanContext } from "./definition.ts";

/** Skeletons of a set of names; thousands of tools are compared with the same set. */
const remembered = new WeakMap<ReadonlySet<string>, { size: number; names: Map<string, string> }>();

function skeletonsOf(names: ReadonlySet<string>): Map<string, string> {
  const known = remembered.get(names);
  if (known !== undefined && known.size === names.size) return known.names;
  const fresh = new Map(Array.from(names, (name) => [skeleton(name), name]));
  remembered.set(names, { size: names.size, names: fresh });
  return fresh;
}

export function scanName(name: string, around: ScanContext): Finding[] {
  const found = (rule: string, severity: Finding["severity"], why: string): Finding[] => [
    { rule, severity, where: "name", excerpt: excerptOf(name), why },
  ];
  // Whoever writes in plain letters may be the one who is imitated: a warning is enough for it, and
  // routing tells equal names apart.
  const lookalike = /^[\x21-\x7e]+$/.test(name) ? "medium" : "high";
  const bones = skeleton(name);
  const reserved = skeletonsOf(around.reserved).get(bones);
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
  const other = skeletonsOf(around.otherTools).get(bones);
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
  return misspelled === undefined
    ? []
    : found("shadowing", "medium", `It is a misspelling of "${misspelled}" of another server`);
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

/** Finds parameters that ask for what the model knows rather than for what the tool needs. */
export function scanParameters(definition: Record<string, unknown>): Finding[] {
  const { name, title, description, inputSchema } = definition;
  const schema = isObject(inputSchema) ? inputSchema : {};
  const properties = isObject(schema.properties) ? schema.properties : {};
  const purpose = [name, title, description].filter((text) => typeof text === "string").join(" ")
    .replaceAll("_", " ").replace(/([a-z])([A-Z])/g, "$1 $2").slice(0, 4_000);
  return Object.keys(properties).slice(0, 1_000).flatMap((parameter): Finding[] => {
    const known = PARAMETERS.find(({ name }) => name.test(parameter));
    if (known === undefined) return [];
    return [{
      rule: "exfiltration-parameter",
      severity: known.honest?.test(purpose) ? "low" : "medium",
      where: `inputSchema.properties.${parameter}`,
      excerpt: excerptOf(parameter),
      why: known.why,
    }];
  });
}
