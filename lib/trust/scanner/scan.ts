import { createHash } from "node:crypto";
import { MARKS, takeOut } from "../../catalog/tool_redaction.ts";
import { isObject } from "../../core/rpc.ts";
import { scanAddresses, scanMarkers } from "./markers.ts";
import { excerptOf, fold, scanCharacters } from "./characters.ts";
import { decodedIn, fromTags, respelled } from "./encoded.ts";
import type { Finding } from "../../catalog/tool_guard.ts";
import { scanName, scanParameters } from "./names.ts";
import {
  LIMITS,
  passageAround,
  piecesOfText,
  type Reading,
  readingsOf,
  type ScanContext,
  shortWhere,
  topicOf,
  unquoted,
} from "./definition.ts";
import { scanPhrases } from "./phrase_scan.ts";
import { HARD_RULES } from "./data/rules.ts";

export type { Finding } from "../../catalog/tool_guard.ts";
export type { ScanContext } from "./definition.ts";

/** A definition that trips more than this is understood without the rest. */
const MOST = 50;
/** What remains is read again so often; then the texts with findings go as a whole. */
const ROUNDS = { passages: 4, texts: 2 };
const LONGEST_PASSAGE = 1_000;

/** Yields between pieces, so that whoever runs it can let others run. */
export type Scanning = Generator<undefined, Finding[]>;

/** What is doubtful in a tool's definition: every text that a model may read is looked at. */
export function scanTool(definition: Record<string, unknown>, around: ScanContext): Finding[] {
  return finish(scanningTool(definition, around));
}

export function* scanningTool(
  definition: Record<string, unknown>,
  around: ScanContext,
): Scanning {
  return yield* thorough(definition, around, scanQuoting);
}

/** What is doubtful in an entry of another list: a prompt, a resource, a skill. */
export function scanEntry(entry: Record<string, unknown>, around: ScanContext): Finding[] {
  return finish(
    thorough(entry, around, (rest, around, only) => scanTexts(rest, around, { only })),
  );
}

/** What is doubtful in a text by itself, such as instructions. */
export function scanText(where: string, text: string, around: ScanContext): Finding[] {
  return finish(
    thorough(
      { [where]: text },
      around,
      (rest, around, only) => scanTexts(rest, around, { only, topic: topicOf(around.server) }),
    ),
  );
}

/** The places to look at; all if there are none. */
type Places = ReadonlySet<string>;

function finish(scanning: Scanning): Finding[] {
  for (;;) {
    const { value, done } = scanning.next();
    if (done) return value;
  }
}

/**
 * Reads what is left again once what was found is taken out, until there is nothing more: what is
 * served in its place must be clean. How grave it is was decided by the first look; whoever wrote
 * something hostile is trusted less with the rest.
 */
function* thorough(
  definition: Record<string, unknown>,
  around: ScanContext,
  scan: (definition: Record<string, unknown>, around: ScanContext, only?: Places) => Scanning,
): Scanning {
  const first = yield* scan(definition, around);
  const verdict = verdictOf(first);
  if (verdict === "clean") return first.map((finding) => withPassage(definition, finding));
  const findings = first.map((finding) => widened(definition, finding));
  let rest = masked(definition, findings);
  for (let round = 0; round < ROUNDS.passages + ROUNDS.texts; round++) {
    // All of it once; elsewhere there is nothing to find after that.
    const places = round === 0 ? undefined : new Set(findings.map(({ where }) => where));
    const more = (yield* scan(rest, { ...around, isSuspect: true }, places)).filter(isTakenOut)
      .filter(({ rule }) => rule !== "oversized");
    if (more.length === 0) break;
    const found = more.map((finding): Finding => ({
      ...widened(definition, finding, round >= ROUNDS.passages),
      severity: verdict === "quarantine" ? finding.severity : "medium",
    }));
    findings.push(...found);
    rest = masked(rest, found);
  }
  const kept = united(findings).map((finding) => withPassage(definition, finding));
  const places = new Set(["description"]);
  for (const { where } of kept) places.add(where).add(`${where}.description`);
  const left = yield* scan(unmarked(takeOut(definition, kept)), around, places);
  return left.some(isTakenOut) ? [...kept, entangled(left.find(isTakenOut)!)] : kept;
}

/** Our own marks are no part of what is judged. */
function unmarked(definition: Record<string, unknown>): Record<string, unknown> {
  const text = MARKS.reduce((text, mark) => text.replaceAll(mark, ""), JSON.stringify(definition));
  return JSON.parse(text);
}

/** Low findings are for the record, and a tool's name stays. */
function isTakenOut({ severity, where }: Finding): boolean {
  return severity !== "low" && where !== "name";
}

function entangled({ excerpt }: Finding): Finding {
  const why = "It has something that cannot be taken out of the definition";
  return { rule: "entangled", severity: "high", where: "definition", excerpt, why };
}

/** Its span as far as the passage goes. */
function widened(
  definition: Record<string, unknown>,
  { span, ...finding }: Finding,
  isWhole = false,
): Finding {
  const text = textAt(definition, finding.where);
  if (span === undefined) return finding;
  // A place with dots of its own is not found by its path.
  if (text === undefined) return { ...finding, passage: finding.excerpt };
  const [from, to] = isWhole ? [0, text.length] : passageAround(text, span);
  const parameter = PARAMETER.exec(finding.where)?.[1];
  // Nothing of it is left to say what it is for: then the parameter goes.
  if (parameter !== undefined && text.slice(0, from).trim() + text.slice(to).trim() === "") {
    return { ...finding, where: parameter, passage: `${nameAt(parameter)}: ${text}` };
  }
  return { ...finding, span: [from, to] };
}

/** Not of the output: a client could not accept what the server answers. */
const PARAMETER = /^(inputSchema\..*\.?properties\.[^.]+)\.description$/;

function nameAt(where: string): string {
  return where.slice(where.lastIndexOf(".") + 1);
}

/** Of one rule in one text, passages that touch are one. */
function united(findings: readonly Finding[]): Finding[] {
  const kept: Finding[] = [];
  for (const finding of findings) {
    const { rule, where, span, severity, passage } = finding;
    const same = kept.find((other) =>
      other.rule === rule && other.where === where &&
      (other.severity === "low") === (severity === "low") &&
      (span && other.span
        ? span[0] <= other.span[1] + 1 && other.span[0] <= span[1] + 1
        : other.passage === passage)
    );
    if (!same) {
      kept.push({ ...finding });
      continue;
    }
    if (RANK[severity] > RANK[same.severity]) same.severity = severity;
    if (span && same.span) {
      same.span = [Math.min(span[0], same.span[0]), Math.max(span[1], same.span[1])];
    }
  }
  return kept.slice(0, 2 * MOST);
}

function withPassage(definition: Record<string, unknown>, finding: Finding): Finding {
  const { where, span } = finding;
  if (span === undefined && finding.passage === undefined) {
    return { ...finding, passage: nameAt(where) };
  }
  const passage = finding.passage ?? textAt(definition, where)?.slice(...span ?? []) ?? "";
  if (passage.length <= LONGEST_PASSAGE) return { ...finding, passage };
  const hash = createHash("sha256").update(passage).digest("hex").slice(0, 16);
  return { ...finding, passage: `${passage.slice(0, LONGEST_PASSAGE).toWellFormed()}… #${hash}` };
}

/** The text at a place; undefined where there is none, or its path has dots of its own. */
function textAt(value: unknown, where: string): string | undefined {
  let found = value;
  for (const key of where.match(/[^.[\]]+/g) ?? []) {
    if (typeof found !== "object" || found === null) return undefined;
    found = Reflect.get(found, key);
  }
  return typeof found === "string" ? found : undefined;
}

/** The definition with commas in the place of what was found, so that all else keeps its place. */
function masked(
  definition: Record<string, unknown>,
  findings: readonly Finding[],
): Record<string, unknown> {
  const places = Map.groupBy(findings.filter(isTakenOut), ({ where }) => where);
  const walk = (value: unknown, where: string): unknown => {
    if (typeof value === "string") {
      let text = value;
      for (const { span } of places.get(where) ?? []) {
        if (!span) continue;
        const [from, to] = span;
        text = `${text.slice(0, from)}${filler(to - from)}${text.slice(to)}`;
      }
      return text;
    }
    if (Array.isArray(value)) return value.map((item, index) => walk(item, `${where}[${index}]`));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, item]) => {
        const place = where === "" ? key : `${where}.${key}`;
        const isGone = places.get(place)?.some(({ span }) => span === undefined);
        return isGone ? [] : [[key, walk(item, place)]];
      }),
    );
  };
  const rest = walk(definition, "");
  return isObject(rest) ? rest : {};
}

/** Reads as nothing, and parts what is before it from what is behind. */
function filler(length: number): string {
  return length < 4 ? "\n".repeat(length) : `\n\n${",".repeat(length - 4)}\n\n`;
}

function* scanQuoting(
  definition: Record<string, unknown>,
  around: ScanContext,
  only?: Places,
): Scanning {
  const found = yield* scanDefinition(definition, around, only);
  const description = unquoted(definition.description);
  if (description === undefined || verdictOf(found) !== "quarantine") return found;
  // A tool that looks for attacks may quote some: what is grave only there is a warning.
  const grave = new Set(
    (yield* scanDefinition({ ...definition, description }, around, only))
      .filter(({ severity }) => severity === "high").map(({ rule, where }) => `${rule} ${where}`),
  );
  return found.map((finding) =>
    finding.severity !== "high" || grave.has(`${finding.rule} ${finding.where}`)
      ? finding
      : { ...finding, severity: "medium" }
  );
}

function* scanDefinition(
  definition: Record<string, unknown>,
  around: ScanContext,
  only?: Places,
): Scanning {
  const findings: Finding[] = [];
  const { name } = definition;
  if (typeof name === "string") {
    findings.push(...scanName(name.slice(0, 1_000), around, definition.description));
  }
  findings.push(...scanParameters(definition));
  const own = typeof name === "string" ? withOwn(around, name) : around;
  findings.push(...yield* scanTexts(definition, own, { only }));
  return unique(findings);
}

function* scanTexts(
  definition: Record<string, unknown>,
  around: ScanContext,
  { topic, only }: { topic?: ReadonlySet<string>; only?: Places | undefined },
): Scanning {
  const findings: Finding[] = [];
  const { readings, unread } = readingsOf(definition, around);
  for (const reading of readings) {
    if (findings.length >= MOST) break;
    if (only && !only.has(shortWhere(reading.where))) continue;
    if (reading.read.length <= LIMITS.piece || reading.lead > 0) {
      const found = scanPiece(topic ? { ...reading, topic } : reading, around);
      for (const finding of found) findings.push(moved(finding, reading, 0));
      continue;
    }
    for (const { piece, at } of piecesOfText(reading.text)) {
      const read = reading.read === reading.text ? piece : reading.read;
      const part = { ...reading, text: piece, read, topic: topic ?? reading.topic };
      for (const finding of scanPiece(part, around)) findings.push(moved(finding, reading, at));
      yield;
    }
  }
  const why =
    `It is beyond the ${LIMITS.characters} characters and ${LIMITS.depth} levels that are read`;
  for (const { where, span } of unread) {
    findings.push({
      rule: "oversized",
      severity: "medium",
      where,
      excerpt: "",
      why,
      ...(span ? { span } : {}),
    });
  }
  return unique(findings);
}

/** In the whole text; a name, and what was read in another spelling, goes as a whole. */
function moved(
  { span, ...finding }: Finding,
  { text, read, isName }: Reading,
  at: number,
): Finding {
  if (isName) return finding;
  if (span === undefined || !read.endsWith(text)) return { ...finding, span: [0, text.length] };
  return { ...finding, span: [span[0] + at, span[1] + at] };
}

/**
 * A trick quarantines the tool, and so does a high finding beside one of another rule; anything else
 * is taken out. Low findings are for the record.
 */
export function verdictOf(findings: readonly Finding[]): "clean" | "warn" | "quarantine" {
  const high = findings.filter(({ severity }) => severity === "high");
  const rules = new Set(
    findings.filter(({ severity }) => severity !== "low").map(({ rule }) => rule),
  );
  if (high.some(({ rule }) => HARD_RULES.has(rule)) || (high.length > 0 && rules.size > 1)) {
    return "quarantine";
  }
  return rules.size > 0 ? "warn" : "clean";
}

function scanPiece({ where, text, read, lead, topic }: Reading, around: ScanContext): Finding[] {
  const findings = scanCharacters(where, text);
  // The rest is about words, and most values of a schema are a single plain one.
  if (lead === 0 && /^[\w-]{0,24}$/.test(text)) return findings;
  for (const { span, ...finding } of scanWords(where, read, around, topic)) {
    const [from, to] = span?.map((at) => Math.max(0, at - lead)) ?? [];
    findings.push(from === undefined ? finding : { ...finding, span: [from, to!] });
  }
  findings.push(...scanAddresses(where, text));
  for (const { text: inner, how, span } of decodedIn(text)) {
    const worst = scanWords(where, inner, around, topic).find(({ severity }) => severity !== "low");
    const excerpt = excerptOf(`${how}: ${inner}`);
    const why = worst ? hides(how, worst) : `It hides readable text as ${how}`;
    findings.push({
      rule: "encoded",
      severity: worst ? "high" : "medium",
      where,
      excerpt,
      why,
      span,
    });
  }
  for (const { text: inner, how, span } of respelled(text)) {
    const worst = scanWords(where, inner, around, topic).find(({ severity }) => severity !== "low");
    if (worst === undefined || findings.some(({ rule }) => rule === worst.rule)) continue;
    const excerpt = excerptOf(inner);
    findings.push({
      rule: "encoded",
      severity: "high",
      where,
      excerpt,
      why: hides(how, worst),
      span,
    });
  }
  const tagged = fromTags(text);
  if (tagged !== "") {
    const hidden = scanWords(where, tagged, around, topic);
    findings.push(...hidden.map((each): Finding => ({ ...each, span: [0, text.length] })));
  }
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

/** One finding a rule and place, the gravest. */
function unique(findings: readonly Finding[]): Finding[] {
  const kept = new Map<string, Finding>();
  for (const finding of findings) {
    const where = shortWhere(finding.where);
    const { span, ...rest } = finding;
    const key = `${finding.rule} ${where}`;
    const before = kept.get(key);
    if (before === undefined || RANK[finding.severity] > RANK[before.severity]) {
      // Of a place too deep to be named, all that is around it goes.
      kept.set(
        key,
        where === finding.where && span ? { ...rest, where, span } : { ...rest, where },
      );
    }
  }
  return [...kept.values()].slice(0, MOST);
}

const RANK = { low: 0, medium: 1, high: 2 };
