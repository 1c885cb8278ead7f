import { eachMember, elementSpans, memberText, type Span } from "../../core/rpc.ts";

/** A text in a message: its place as `content[0].text`, and where it stands with its quotes. */
export interface JsonString extends Span {
  path: string;
  text: string;
  /** Whether it may be changed: data and names that programs go by may not. */
  isProse: boolean;
}

/** Neither read by a model nor text: binary data, states that only the server understands, ids. */
const SKIPPED = new Set([
  ...["blob", "cursor", "jsonrpc", "method", "mimeType", "nextCursor", "progressToken"],
  ...["requestState", "resultType", "role", "taskId", "type"],
]);
/** What programs go by; a model may read it, too. */
const FIXED = new Set([
  ...["_meta", "input", "name", "requestedSchema", "structuredContent", "tools", "uri", "url"],
]);
/** Deeper values are looked at as one text. */
const DEEPEST = 32;

/** Visits the texts of a JSON value in the order in which they stand. */
export function visitStrings(
  json: string,
  span: Span,
  path: string,
  visit: (found: JsonString) => void,
  isProse = true,
  depth = 0,
): void {
  const first = json[span.start];
  if (first === '"') {
    const text: string = JSON.parse(json.slice(span.start, span.end));
    if (text !== "") visit({ ...span, path, text, isProse });
  } else if (first === "{" || first === "[") {
    if (depth >= DEEPEST) {
      visit({ ...span, path, text: json.slice(span.start, span.end), isProse: false });
    } else if (first === "[") {
      const part = json.slice(span.start, span.end);
      elementSpans(part).forEach(({ start, end }, index) => {
        const inner = { start: span.start + start, end: span.start + end };
        visitStrings(json, inner, `${path}[${index}]`, visit, isProse, depth + 1);
      });
    } else {
      const isBinary = isMedia(json.slice(span.start, span.end));
      eachMember(json, span.start, (name, inner) => {
        if (SKIPPED.has(name) || isBinary && name === "data") return;
        const place = path === "" ? name : `${path}.${name}`;
        visitStrings(json, inner, place, visit, isProse && !FIXED.has(name), depth + 1);
      });
    }
  }
}

function isMedia(object: string): boolean {
  if (!object.includes('"image"') && !object.includes('"audio"')) return false;
  const type = memberText(object, "type");
  return type === '"image"' || type === '"audio"';
}
