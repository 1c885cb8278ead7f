import { GatewayError } from "../core/errors.ts";
import { eachMember, replaceSpan, type Span } from "../core/json_spans.ts";
import { memberText } from "../core/rpc.ts";

/** What a request is decided by. */
const DECIDING = new Set([
  ...["_meta", "argument", "arguments", "context", "cursor", "level", "name", "ref", "task", "uri"],
]);

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
  const members = new Map<string, Span>();
  eachMember(text, 0, (name, span) => {
    if (members.has(name)) throw ambiguous(name);
    members.set(name, span);
  });
  for (const name of members.keys()) {
    if (DECIDING.has(name)) continue;
    const plain = folded(name);
    if (DECIDING.has(plain) || (plain !== name && members.has(plain))) throw ambiguous(name);
  }
  return { text, members };
}

/** The params of a tools/call under a tool's own name, the rest as it came; throws INVALID_PARAMS. */
export function callParams(message: string, name: string): string {
  const params = soundParams(message);
  const span = params?.members.get("name");
  if (!params || !span) throw new GatewayError("INVALID_PARAMS");
  return replaceSpan(params.text, span, JSON.stringify(name));
}

/** As readers that do not tell large letters from small ones have it, the odd forms of k and s too. */
function folded(name: string): string {
  return name.toUpperCase().toLowerCase();
}

function ambiguous(name: string): GatewayError {
  return new GatewayError("INVALID_PARAMS", {
    message: `The params can be read in two ways: ${JSON.stringify(name.slice(0, 40))} ` +
      "comes twice or is written in other letters",
    recoverySteps: ["Send each member once, as the protocol writes it"],
  });
}
