import { scanAddresses } from "./addresses.ts";
import { scanCharacters } from "./characters.ts";
import { decodedIn, fromTags } from "./encoded.ts";
import { excerptOf, type Finding } from "./finding.ts";
import { fold } from "./fold.ts";
import { scanMarkers } from "./markers.ts";
import { scanName } from "./names.ts";
import { scanParameters } from "./parameters.ts";
import { scanPhrases } from "./phrase_scan.ts";
import type { Surroundings } from "./surroundings.ts";
import { LIMITS, textsOf } from "./texts.ts";

export { RULES } from "./rules.ts";
export type { Finding } from "./finding.ts";
export type { Surroundings } from "./surroundings.ts";

const LONGEST_WHERE = 200;
/** A definition that trips more than this is understood without the rest. */
const MOST = 50;

/** What is doubtful in a tool's definition: every text that a model may read is looked at. */
export function scanTool(definition: Record<string, unknown>, around: Surroundings): Finding[] {
  const findings: Finding[] = [];
  const { name } = definition;
  if (typeof name === "string") findings.push(...scanName(name.slice(0, 1_000), around));
  findings.push(...scanParameters(definition));
  const own = typeof name === "string" ? withOwn(around, name) : around;
  const { texts, isCut } = textsOf(definition);
  for (const { where, text, kind } of texts) {
    // Names of fields are read as words: `content_from_ssh_id_rsa` is a sentence to a model.
    const read = kind === "key" || where === "name" ? spelledOut(text) : text;
    if (findings.length < MOST) findings.push(...scanPiece(where, text, read, own));
  }
  if (isCut) findings.push(tooLarge("definition"));
  return unique(findings);
}

/** What is doubtful in a text that is not a tool: instructions, texts of resources and prompts. */
export function scanText(where: string, text: string, around: Surroundings): Finding[] {
  const seen = text.slice(0, LIMITS.characters);
  const findings = scanPiece(where, seen, seen, around);
  if (text.length > LIMITS.characters) findings.push(tooLarge(where));
  return unique(findings);
}

/** Any high finding holds the tool back, a medium one is shown, low ones are for whoever asks. */
export function verdictOf(findings: readonly Finding[]): "clean" | "warn" | "quarantine" {
  if (findings.some(({ severity }) => severity === "high")) return "quarantine";
  return findings.some(({ severity }) => severity === "medium") ? "warn" : "clean";
}

function scanPiece(
  where: string,
  text: string,
  read: string,
  around: Surroundings,
): Finding[] {
  const findings = scanCharacters(where, text);
  // The rest is about words, and most values of a schema are a single plain one.
  if (/^[\w-]{0,24}$/.test(text)) return findings;
  findings.push(...scanWords(where, read, around));
  findings.push(...scanAddresses(where, text));
  for (const { text: inner, how } of decodedIn(text)) {
    const inside = scanWords(where, inner, around);
    const isHostile = inside.some(({ severity }) => severity !== "low");
    findings.push({
      rule: "encoded",
      severity: isHostile ? "high" : "medium",
      where,
      excerpt: excerptOf(`${how}: ${inner}`),
      why: isHostile
        ? `It hides instructions as ${how}: ${inside[0]!.why.toLowerCase()}`
        : `It hides readable text as ${how}`,
    });
  }
  const tagged = fromTags(text);
  if (tagged !== "") findings.push(...scanWords(where, tagged, around));
  return findings;
}

function scanWords(where: string, text: string, around: Surroundings): Finding[] {
  const folded = fold(text);
  return [...scanPhrases(where, text, folded, around), ...scanMarkers(where, text, folded)];
}

function spelledOut(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/id_(rsa|ed25519)/g, "id\0$1")
    .replace(/_/g, " ").replaceAll("\0", "_");
}

/** A tool that speaks of itself refers to nobody else. */
function withOwn(around: Surroundings, name: string): Surroundings {
  if (!around.otherTools.has(name) || around.ownTools?.has(name) === true) return around;
  return { ...around, ownTools: new Set([...around.ownTools ?? [], name]) };
}

function tooLarge(where: string): Finding {
  const why = `Only the first ${LIMITS.characters} characters are looked at, and this has more`;
  return { rule: "oversized", severity: "high", where, excerpt: "", why };
}

/** One finding a rule and place, the gravest. */
function unique(findings: readonly Finding[]): Finding[] {
  const kept = new Map<string, Finding>();
  for (const finding of findings) {
    const where = finding.where.slice(0, LONGEST_WHERE);
    const key = `${finding.rule} ${where}`;
    const before = kept.get(key);
    if (before === undefined || RANK[finding.severity] > RANK[before.severity]) {
      kept.set(key, { ...finding, where });
    }
  }
  return [...kept.values()].slice(0, MOST);
}

const RANK = { low: 0, medium: 1, high: 2 };
