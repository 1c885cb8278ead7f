import { isObject } from "../core/rpc.ts";
import { ToolDefinition } from "../core/tool.ts";
import type { CatalogTool } from "./catalog_tool.ts";
import type { Finding } from "./tool_guard.ts";

/** Stands where a passage was taken out; a model must not take the rest for the whole text. */
export const REMOVED = "[passage withheld by Quartermaster]";
const REMOVED_ELSEWHERE = "[part of this definition withheld by Quartermaster]";
const LOOKALIKE = "[Quartermaster: another server has a tool of nearly the same name]";
export const MARKS: readonly string[] = [REMOVED, REMOVED_ELSEWHERE, LOOKALIKE];
/** Places for a mark: anywhere else a model would take it for a value. */
const PROSE = /(^|\.)(description|instructions)$/;
const ICON = /(^|\.)icons\[\d+\]$/;
/** What has no passage: a name, and a definition that could not be scanned. */
const WHOLE: ReadonlySet<string> = new Set(["name", "definition"]);

/** Whether all that these findings object to can be taken out: a name cannot. */
export function isRemovable(findings: readonly Finding[]): boolean {
  return findings.every(({ severity, where, span }) =>
    severity === "low" || span !== undefined || !WHOLE.has(where)
  );
}

/**
 * The tool as a model may read it: what was found is taken out, and a mark says so. Undefined where
 * the rest is not a valid tool.
 */
export function withoutFindings(
  tool: CatalogTool,
  findings: readonly Finding[],
): CatalogTool | undefined {
  const { data } = ToolDefinition.safeParse(takeOut(tool.definition, findings));
  if (!data) return undefined;
  return { ...tool, definition: data, text: JSON.stringify(data), sent: tool.sent ?? tool.text };
}

/** A definition, or an entry of another list, without the passages that were found. */
export function takeOut(
  definition: Record<string, unknown>,
  findings: readonly Finding[],
): Record<string, unknown> {
  const places = Map.groupBy(
    findings.filter(({ severity }) => severity !== "low"),
    ({ where }) => where,
  );
  const rest = withoutPlaces(definition, "", places);
  if (!isObject(rest)) return {};
  const description = typeof rest.description === "string" ? rest.description : "";
  const isMarked = description.includes(REMOVED);
  const marks = [...places.keys()].map((where) => where === "name" ? LOOKALIKE : REMOVED_ELSEWHERE)
    .filter((mark) => mark === LOOKALIKE || !isMarked);
  const parts = [description, ...new Set(marks)].filter((part) => part !== "");
  return marks.length === 0 ? rest : { ...rest, description: parts.join("\n\n") };
}

/** A text with a mark in the place of each passage; empty if it is not known where they are. */
export function withoutSpans(text: string, findings: readonly Finding[]): string {
  const spans = findings.flatMap(({ severity, span }) => span && severity !== "low" ? [span] : [])
    .sort(([a], [b]) => a - b);
  if (spans.length === 0) return "";
  let rest = "";
  let end = 0;
  for (const [from, to] of spans) {
    if (from > end || end === 0) {
      const kept = text.slice(end, from).trimEnd();
      rest += kept === "" && rest.endsWith(REMOVED)
        ? ""
        : `${kept}${kept === "" ? "" : " "}${REMOVED}`;
    }
    end = Math.max(end, to);
  }
  const tail = text.slice(end);
  return tail.trim() === "" ? rest : `${rest}${/^\s/.test(tail) ? "" : " "}${tail}`;
}

function withoutPlaces(
  value: unknown,
  where: string,
  places: ReadonlyMap<string, readonly Finding[]>,
): unknown {
  if (typeof value === "string") {
    const found = places.get(where)?.filter(({ span }) => span !== undefined) ?? [];
    if (found.length === 0) return value;
    return PROSE.test(where) ? withoutSpans(value, found) : undefined;
  }
  if (Array.isArray(value)) {
    const items = value.map((item, index) => withoutPlaces(item, `${where}[${index}]`, places));
    return items.includes(undefined) ? items.filter((item) => item !== undefined) : items;
  }
  if (!isObject(value)) return value;
  const gone = new Set<string>();
  const members = Object.entries(value).flatMap(([key, item]) => {
    const place = where === "" ? key : `${where}.${key}`;
    const isGone = places.get(place)?.some(({ span }) => span === undefined) === true;
    const rest = isGone && place !== "name" ? undefined : withoutPlaces(item, place, places);
    if (rest !== undefined) return [[key, rest] as const];
    gone.add(key);
    return [];
  });
  if (gone.size > 0 && ICON.test(where)) return undefined;
  const rest = Object.fromEntries(members);
  return { ...rest, ...withoutRequired(where, value, rest, places) };
}

/** A parameter that was taken out is not required either. */
function withoutRequired(
  where: string,
  before: Record<string, unknown>,
  rest: Record<string, unknown>,
  places: ReadonlyMap<string, readonly Finding[]>,
) {
  if (places.size === 0 || !isObject(before.properties) || !isObject(rest.properties)) return {};
  const { properties } = rest;
  const { required } = before;
  if (!Array.isArray(required)) return {};
  const isHere = [...places.keys()].some((place) => place.startsWith(`${where}.properties.`));
  return isHere
    ? { required: required.filter((name) => Object.hasOwn(properties, String(name))) }
    : {};
}
