import { GatewayError } from "../core/errors.ts";
import { eachMember, replaceSpan, type Span } from "../core/json_spans.ts";
import { isObject, memberText } from "../core/rpc.ts";

/** What a request is decided by. */
const DECIDING = new Set(
  ["_meta", "argument", "arguments", "context", "cursor", "level", "name", "ref", "task", "uri"],
);

/** What a completion is asked for by. */
const DECIDING_REF = new Set(["type", "name", "uri"]);

/** The params of a request as they came. */
export interface SoundParams {
  text: string;
  members: ReadonlyMap<string, Span>;
}

/**
 * The params of a request, undefined where it has none. Servers take a member that comes twice, or in
 * other letters, for what they please: what is checked here must be what they read, so that throws
 * INVALID_PARAMS.
 */
export function soundParams(message: string): SoundParams | undefined {
  const text = memberText(message, "params");
  if (text === undefined) return undefined;
  return { text, members: soundMembers(text, 0, DECIDING) };
}

/** What a completion is of. */
export interface CompletionRef {
  kind: "prompt" | "resource";
  /** Its name, or its URI. */
  name: string;
}

/**
 * What a completion is of, as `params` has it. Servers may go by the type or by what is there: where
 * the two could differ, that throws INVALID_PARAMS.
 */
export function completionRef(message: string, { ref }: Record<string, unknown>): CompletionRef {
  const sent = soundParams(message);
  const span = sent?.members.get("ref");
  if (!isObject(ref) || !sent || !span || !sent.text.startsWith("{", span.start)) throw noRef();
  soundMembers(sent.text, span.start, DECIDING_REF);
  const { type, name, uri } = ref;
  if (type === "ref/prompt" && typeof name === "string" && uri === undefined) {
    return { kind: "prompt", name };
  }
  if (type === "ref/resource" && typeof uri === "string" && name === undefined) {
    return { kind: "resource", name: uri };
  }
  throw noRef();
}

/** The members of an object in the text, which all readers find the same. */
function soundMembers(
  text: string,
  start: number,
  deciding: ReadonlySet<string>,
): Map<string, Span> {
  const members = new Map<string, Span>();
  eachMember(text, start, (name, span) => {
    if (members.has(name)) throw ambiguous(name);
    members.set(name, span);
  });
  for (const name of members.keys()) {
    if (deciding.has(name)) continue;
    const plain = folded(name);
    if (deciding.has(plain) || (plain !== name && members.has(plain))) throw ambiguous(name);
  }
  return members;
}

/** A tools/call as it came, and as it was read. */
interface SentCall {
  text: string;
  params: Record<string, unknown>;
}

/** The params of a tools/call under a tool's own name, the rest as it came; throws INVALID_PARAMS. */
export function callParams({ text, params: { name: sent } }: SentCall, name: string): string {
  const params = soundParams(text);
  const span = params?.members.get("name");
  if (!params || !span) throw new GatewayError("INVALID_PARAMS");
  if (sent === name) return params.text;
  return replaceSpan(params.text, span, JSON.stringify(name));
}

/** As readers that do not tell large letters from small ones have it, the odd forms of k and s too. */
function folded(name: string): string {
  return name.toUpperCase().toLowerCase();
}

function noRef(): GatewayError {
  return new GatewayError("INVALID_PARAMS", {
    message: "Cannot complete: the ref is neither that of a prompt nor that of a resource",
    recoverySteps: [
      'Send {"type":"ref/prompt","name":"..."} or {"type":"ref/resource","uri":"..."} as the ref',
    ],
  });
}

function ambiguous(name: string): GatewayError {
  return new GatewayError("INVALID_PARAMS", {
    message: `The params can be read in two ways: ${JSON.stringify(name.slice(0, 40))} ` +
      "comes twice or is written in other letters",
    recoverySteps: ["Send each member once, as the protocol writes it"],
  });
}
