import type { OwnParameterTexts, ParameterTexts } from "../core/tool_text.ts";
import { memberSpans, type Span } from "../core/rpc.ts";
import { type TextSegment, wordDiff } from "./word_diff.ts";

/** What lies deeper, or beyond so many parameters, has no text that can be replaced. */
const DEEPEST = 8;
const MOST = 200;
const PLAIN_NAME = /^[^.=[\]"]+$/;

interface ParameterPlace {
  /** Of the description, where there is one. */
  description: Span | undefined;
  /** Where to insert a missing description, and whether it would be the first member. */
  end: number;
  isFirst: boolean;
}

/** The server's own text of each parameter in a tool's definition, by path; null: it has none. */
export function parameterTextsIn(definition: string): OwnParameterTexts {
  return Object.fromEntries(
    Array.from(placesIn(definition), ([path, { description }]) => [
      path,
      description ? JSON.parse(definition.slice(description.start, description.end)) : null,
    ]),
  );
}

/**
 * A definition's text with other descriptions of parameters, and each other character as it came.
 * A path that the schema does not have is passed over: its server has changed since.
 */
export function withParameterTexts(definition: string, texts: ParameterTexts): string {
  const places = placesIn(definition);
  const edits = Object.entries(texts).flatMap(([path, text]) => {
    const place = places.get(path);
    if (!place) return [];
    const { description, end, isFirst } = place;
    const written = JSON.stringify(text);
    return description
      ? [{ ...description, text: written }]
      : [{ start: end, end, text: `${isFirst ? "" : ","}"description":${written}` }];
  }).sort((one, other) => other.start - one.start);
  return edits.reduce(
    (whole, { start, end, text }) => whole.slice(0, start) + text + whole.slice(end),
    definition,
  );
}

export interface ParameterDiff {
  path: string;
  segments: TextSegment[];
}

/** How texts for parameters differ from the server's own, by word. */
export function parameterDiffs(
  texts: ParameterTexts | undefined,
  own: OwnParameterTexts,
): ParameterDiff[] {
  return Object.entries(texts ?? {}).map(([path, text]) => ({
    path,
    segments: wordDiff((Object.hasOwn(own, path) ? own[path] : null) ?? "", text),
  }));
}

function placesIn(definition: string): Map<string, ParameterPlace> {
  const places = new Map<string, ParameterPlace>();
  const schema = memberSpans(definition).get("inputSchema");
  if (schema && definition[schema.start] === "{") {
    addPlaces(definition, memberSpans(definition, schema.start), "", 0, places);
  }
  return places;
}

/** Those of an object's properties and of an array's items; what `$ref` names may have other uses. */
function addPlaces(
  text: string,
  schema: ReadonlyMap<string, Span>,
  path: string,
  depth: number,
  places: Map<string, ParameterPlace>,
): void {
  if (depth > DEEPEST) return;
  const properties = schema.get("properties");
  const named = properties && text[properties.start] === "{"
    ? memberSpans(text, properties.start)
    : [];
  const items = path === "" ? undefined : schema.get("items");
  const inner: [string, Span][] = [
    ...Array.from(named, ([name, span]): [string, Span] => [joined(path, name), span]),
    ...(items ? [[`${path}[]`, items] as [string, Span]] : []),
  ];
  for (const [own, { start }] of inner) {
    // A schema can be true or false.
    if (text[start] !== "{" || places.size >= MOST) continue;
    const members = memberSpans(text, start);
    const description = members.get("description");
    const isText = description !== undefined && text[description.start] === '"';
    // Many readers of schemas refuse or ignore what stands beside a reference.
    if (isText || (description === undefined && !members.has("$ref"))) {
      const end = Math.max(start + 1, ...Array.from(members.values(), (span) => span.end));
      places.set(own, { description, end, isFirst: members.size === 0 });
    }
    addPlaces(text, members, own, depth + 1, places);
  }
}

/** `filter.since`; a name with one of `. = [ ] "` is written `filter["a.b"]`. */
function joined(path: string, name: string): string {
  if (!PLAIN_NAME.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === "" ? name : `${path}.${name}`;
}
