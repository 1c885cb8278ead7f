import { scanAddresses, scanMarkers } from "./markers.ts";
import { excerptOf, fold, scanCharacters } from "./characters.ts";
import { decodedIn, fromTags, respelled } from "./encoded.ts";
import type { Finding } from "../../catalog/tool_guard.ts";
import { scanName, scanParameters } from "./names.ts";
import {
  LIMITS,
  type Reading,
  readingsOf,
  type ScanContext,
  topicOf,
  unquoted,
} from "./definition.ts";
import { scanPhrases } from "./phrase_scan.ts";

export type { Finding } from "../../catalog/tool_guard.ts";
export type { ScanContext } from "./definition.ts";

const LONGEST_WHERE = 200;
/** A definition that trips more than this is understood without the rest. */
const MOST = 50;

/** What is doubtful in a tool's definition: every text that a model may read is looked at. */
export function scanTool(definition: Record<string, unknown>, around: ScanContext): Finding[] {
  const found = scanDefinition(definition, around);
  const description = unquoted(definition.description);
  if (description === undefined || verdictOf(found) !== "quarantine") return found;
  // A tool that looks for attacks may quote some: what is grave only there is a warning.
  const grave = new Set(
    scanDefinition({ ...definition, description }, around)
      .filter(({ severity }) => severity === "high").map(({ rule, where }) => `${rule} ${where}`),
  );
  return found.map((finding) =>
    finding.severity !== "high" || grave.has(`${finding.rule} ${finding.where}`)
      ? finding
      : { ...finding, severity: "medium" }
  );
}

function scanDefinition(definition: Record<string, unknown>, around: ScanContext): Finding[] {
  const findings: Finding[] = [];
  const { name } = definition;
  if (typeof name === "string") findings.push(...scanName(name.slice(0, 1_000), around));
  findings.push(...scanParameters(definition));
  const own = typeof name === "string" ? withOwn(around, name) : around;
  const { readings, isCut } = readingsOf(definition, around.server);
  for (const reading of readings) {
    if (findings.length < MOST) findings.push(...scanPiece(reading, own));
  }
  if (isCut) findings.push(tooLarge("definition"));
  return unique(findings);
}

/** What is doubtful in a text that is not a tool: instructions, texts of resources and prompts. */
export function scanText(where: string, text: string, around: ScanContext): Finding[] {
  const seen = text.slice(0, LIMITS.characters);
  const topic = topicOf(around.server);
  const findings = scanPiece({ where, text: seen, read: seen, topic }, around);
  if (text.length > LIMITS.characters) findings.push(tooLarge(where));
  return unique(findings);
}

/** A high finding quarantines the tool, a medium one is shown, low ones only on request. */
export function verdictOf(findings: readonly Finding[]): "clean" | "warn" | "quarantine" {
  if (findings.some(({ severity }) => severity === "high")) return "quarantine";
  return findings.some(({ severity }) => severity === "medium") ? "warn" : "clean";
}

function scanPiece({ where, text, read, topic }: Reading, around: ScanContext): Finding[] {
  const findings = scanCharacters(where, text);
  // The rest is about words, and most values of a schema are a single plain one.
  if (/^[\w-]{0,24}$/.test(text)) return findings;
  findings.push(...scanWords(where, read, around, topic));
  findings.push(...scanAddresses(where, text));
  const note = (severity: Finding["severity"], excerpt: string, why: string) =>
    findings.push({ rule: "encoded", severity, where, excerpt: excerptOf(excerpt), why });
  for (const { text: inner, how } of decodedIn(text)) {
    const inside = scanWords(where, inner, around, topic);
    const isHostile = inside.some(({ severity }) => severity !== "low");
    if (!isHostile) note("medium", `${how}: ${inner}`, `It hides readable text as ${how}`);
    else note("high", `${how}: ${inner}`, hides(how, inside[0]!));
  }
  for (const { text: inner, how } of respelled(text)) {
    const worst = scanWords(where, inner, around, topic).find(({ severity }) => severity !== "low");
    if (worst === undefined || findings.some(({ rule }) => rule === worst.rule)) continue;
    note("high", inner, hides(how, worst));
  }
  const tagged = fromTags(text);
  if (tagged !== "") findings.push(...scanWords(where, tagged, around, topic));
  return findings;
}

function hides(how: string, { why }: Finding): string {
  return `It hides instructions as ${how}: ${why.toLowerCase()}`;
}

function scanWords(
  where: string,
  text: string,
  around: ScanContext,
  topic: ReadonlySet<string>,
): Finding[] {
  const folded = fold(text);
  return [...scanPhrases(where, text, folded, around, topic), ...scanMarkers(where, text, folded)];
}

/** A tool that speaks of itself refers to nobody else. */
function withOwn(around: ScanContext, name: string): ScanContext {
  if (!around.otherTools.has(name) || around.ownTools?.has(name) === true) return around;
  return { ...around, ownTools: new Set([...around.ownTools ?? [], name]) };
}

function tooLarge(where: string): Finding {
  const why = `It is longer than the ${LIMITS.characters} characters that are scanned`;
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
