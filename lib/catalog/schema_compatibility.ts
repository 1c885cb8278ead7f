import { isObject } from "../core/rpc.ts";
import { shortened } from "../core/text.ts";
import { canonicalJson } from "./catalog_tool.ts";

type SchemaSide = "input" | "output";

type Schema = Record<string, unknown>;

/** What a schema takes now compared with before; "gone" and "unclear" are bad for both sides. */
type Effect = "narrower" | "wider" | "gone" | "unclear";
type Report = (effect: Effect, reason: string) => void;

const MAX_DEPTH = 40;

/** They tell a reader something and refuse nothing. */
const NOTES = new Set([
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "$comment",
  "$schema",
  "$id",
]);
/** Maps of names to schemas: a name in them is no keyword. */
const MAPS = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
/** Their content is data, not a schema. */
const LITERALS = new Set(["const", "enum", "required"]);

const LOWER_BOUNDS = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const UPPER_BOUNDS = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
const FILTERS = ["pattern", "format", "multipleOf", "uniqueItems", "contentEncoding"];
/** Keywords whose changes can be detected, but not classified. */
const OPAQUE = [
  "$ref",
  "$dynamicRef",
  "allOf",
  "not",
  "if",
  "then",
  "else",
  "prefixItems",
  "contains",
  "minContains",
  "maxContains",
  "propertyNames",
  "patternProperties",
  "dependencies",
  "dependentRequired",
  "dependentSchemas",
  "unevaluatedItems",
  "unevaluatedProperties",
];

/** Describes each way in which a new schema can break callers of the old one. */
export function schemaBreaks(before: unknown, after: unknown, side: SchemaSide): string[] {
  const reasons = new Set<string>();
  const harmless = side === "input" ? "wider" : "narrower";
  compare(asSchema(before), asSchema(after), "", 0, (effect, reason) => {
    if (effect !== harmless) reasons.add(reason);
  });
  return [...reasons];
}

function compare(before: Schema, after: Schema, path: string, depth: number, report: Report): void {
  if (essence(before) === essence(after)) return;
  const place = placeOf(path);
  if (depth > MAX_DEPTH) return report("unclear", `${place} has deeply nested rules that changed`);
  compareTypes(before, after, place, report);
  compareValues(before, after, place, report);
  compareLimits(before, after, place, report);
  compareForms(before, after, place, report);
  compareMembers(before, after, path, depth, report);
  const inner: [unknown, unknown, string][] = [[before.items, after.items, `${path}[]`]];
  if (isObject(before.additionalProperties) || isObject(after.additionalProperties)) {
    inner.push([before.additionalProperties, after.additionalProperties, child(path, "*")]);
  }
  for (const [one, other, where] of inner) {
    compare(asSchema(one), asSchema(other), where, depth + 1, report);
  }
  for (const keyword of ["$defs", "definitions"]) {
    const [olds, news] = [asMap(before[keyword]), asMap(after[keyword])];
    // One that came or went matters only where it is referred to, and is seen there.
    for (const [name, schema] of olds) {
      if (!news.has(name)) continue;
      compare(asSchema(schema), asSchema(news.get(name)), name, depth + 1, report);
    }
  }
  for (const keyword of OPAQUE) {
    if (essence(before[keyword], keyword) !== essence(after[keyword], keyword)) {
      report("unclear", `${place} has changed rules (${keyword})`);
    }
  }
}

function compareTypes(before: Schema, after: Schema, place: string, report: Report): void {
  const [old, fresh] = [typesOf(before), typesOf(after)];
  const takes = (types: string[] | undefined, type: string) =>
    types === undefined || types.includes(type) || type === "integer" && types.includes("number");
  const lacks = (one: string[] | undefined, other: string[] | undefined) =>
    one === undefined ? other !== undefined : one.some((type) => !takes(other, type));
  const [isNarrower, isWider] = [lacks(old, fresh), lacks(fresh, old)];
  if (!isNarrower && !isWider) return;
  const words = (types: string[] | undefined) => types?.join(" or ") ?? "of any type";
  const reason = `${place} is now ${words(fresh)}, was ${words(old)}`;
  if (isNarrower) report("narrower", reason);
  if (isWider) report("wider", reason);
}

function typesOf(schema: Schema): string[] | undefined {
  const { type } = schema;
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.map(String).sort();
  const forms = formsOf(schema);
  if (forms === undefined) return undefined;
  const types = forms.map((form) => typesOf(asSchema(form)));
  return types.every((found) => found !== undefined)
    ? [...new Set(types.flat())].sort()
    : undefined;
}

function compareValues(before: Schema, after: Schema, place: string, report: Report): void {
  const [old, fresh] = [valuesOf(before), valuesOf(after)];
  if (old === undefined && fresh === undefined) return;
  if (old === undefined) return report("narrower", `${place} now accepts only certain values`);
  if (fresh === undefined) {
    return report("wider", `${place} is no longer limited to certain values`);
  }
  const lost = old.filter((value) => !fresh.includes(value));
  const won = fresh.filter((value) => !old.includes(value));
  if (lost.length > 0) report("narrower", `${place} no longer accepts ${few(lost)}`);
  if (won.length > 0) report("wider", `${place} can now be ${few(won)}`);
}

function valuesOf(schema: Schema): string[] | undefined {
  if (Object.hasOwn(schema, "const")) return [canonicalJson(schema.const)];
  return Array.isArray(schema.enum) ? schema.enum.map(canonicalJson) : undefined;
}

function few(values: string[]): string {
  const shown = values.slice(0, 5).map((value) => shortened(value, 60));
  const more = values.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}

function compareLimits(before: Schema, after: Schema, place: string, report: Report): void {
  for (const [keywords, sign] of [[LOWER_BOUNDS, 1], [UPPER_BOUNDS, -1]] as const) {
    for (const keyword of keywords) {
      const [old, fresh] = [before[keyword], after[keyword]];
      if (canonicalJson(old) === canonicalJson(fresh)) continue;
      const none = -sign * Infinity;
      const [from, to] = [old, fresh].map((limit) => typeof limit === "number" ? limit : none);
      const reason = `${place} has a different limit: ${keyword} ${said(old)} -> ${said(fresh)}`;
      report(sign * ((to ?? none) - (from ?? none)) > 0 ? "narrower" : "wider", reason);
    }
  }
  for (const keyword of FILTERS) {
    const [old, fresh] = [before[keyword], after[keyword]]
      .map((value) => value === false ? undefined : value);
    if (canonicalJson(old) === canonicalJson(fresh)) continue;
    const reason = `${place} has a different limit: ${keyword} ${said(old)} -> ${said(fresh)}`;
    if (fresh !== undefined) report("narrower", reason);
    if (old !== undefined) report("wider", reason);
  }
}

function said(value: unknown): string {
  return shortened(value === undefined ? "none" : canonicalJson(value), 60);
}

function compareForms(before: Schema, after: Schema, place: string, report: Report): void {
  const [old, fresh] = [formsOf(before), formsOf(after)];
  if (old === undefined && fresh === undefined) return;
  // A plain schema is the one form of itself.
  const oldForms = new Set((old ?? [before]).map((form) => essence(form)));
  const newForms = new Set((fresh ?? [after]).map((form) => essence(form)));
  const [isLost, isWon] = [!oldForms.isSubsetOf(newForms), !newForms.isSubsetOf(oldForms)];
  if (isLost && isWon) report("unclear", `${place} has different alternatives`);
  else if (isLost) report("narrower", `${place} has fewer alternatives`);
  else if (isWon) report("wider", `${place} has more alternatives`);
}

function formsOf(schema: Schema): unknown[] | undefined {
  const forms = schema.anyOf ?? schema.oneOf;
  return Array.isArray(forms) ? forms : undefined;
}

function compareMembers(
  before: Schema,
  after: Schema,
  path: string,
  depth: number,
  report: Report,
): void {
  const [old, fresh] = [asMap(before.properties), asMap(after.properties)];
  const [needed, needs] = [namesIn(before.required), namesIn(after.required)];
  for (const name of needs.difference(needed)) {
    const isNew = !old.has(name) && fresh.has(name);
    report("narrower", `"${child(path, name)}" is ${isNew ? "new and " : ""}required`);
  }
  for (const name of needed.difference(needs)) {
    if (fresh.has(name)) report("wider", `"${child(path, name)}" is now optional`);
  }
  for (const [name, schema] of old) {
    const where = child(path, name);
    if (!fresh.has(name)) report("gone", `"${where}" was removed`);
    else compare(asSchema(schema), asSchema(fresh.get(name)), where, depth + 1, report);
  }
  // Callers that send only named fields are not affected; if none was named, all are.
  const isClosed = after.additionalProperties === false && before.additionalProperties !== false;
  if (isClosed && old.size === 0) {
    report("narrower", `${placeOf(path)} no longer accepts additional fields`);
  }
}

function placeOf(path: string): string {
  return path === "" ? "the schema" : `"${path}"`;
}

function child(path: string, name: string): string {
  const short = shortened(name, 80);
  return path === "" ? short : `${path}.${short}`;
}

function asSchema(value: unknown): Schema {
  if (isObject(value)) return value;
  return value === false ? { not: {} } : {};
}

function asMap(value: unknown): Map<string, unknown> {
  return new Map(isObject(value) ? Object.entries(value) : []);
}

function namesIn(value: unknown): Set<string> {
  return new Set(Array.isArray(value) ? value.filter((name) => typeof name === "string") : []);
}

/** A schema as text without what only tells a reader something, the same for any order of keys. */
function essence(value: unknown, keyword?: string): string {
  if (keyword !== undefined && LITERALS.has(keyword)) {
    return canonicalJson(Array.isArray(value) ? value.map(canonicalJson).sort() : value);
  }
  if (Array.isArray(value)) return `[${value.map((item) => essence(item)).join()}]`;
  if (!isObject(value)) return canonicalJson(value);
  const isMap = keyword !== undefined && MAPS.has(keyword);
  const members = Object.entries(value)
    .filter(([key]) => isMap || !NOTES.has(key))
    .sort(([a], [b]) => a < b ? -1 : 1)
    .map(([key, item]) => `${JSON.stringify(key)}:${essence(item, isMap ? undefined : key)}`);
  return `{${members.join()}}`;
}
