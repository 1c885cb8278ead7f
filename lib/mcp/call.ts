import type { Access } from "../auth/access.ts";
import type { Grants } from "../auth/grants.ts";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import { type ResolveContext as ToolScope, resolveTool } from "../catalog/resolve.ts";
import type { Client, McpRequest } from "../core/client.ts";
import { GatewayError } from "../core/errors.ts";
import { eachMember, isObject, memberText, replaceSpan, type Span } from "../core/rpc.ts";
import { FOLLOW_TASK } from "../core/stateless.ts";
import type { CallRecord } from "../telemetry/call_recorder.ts";
import {
  type CallControl,
  type PendingCall,
  refusedCall,
  type ServerUse,
} from "../trust/call_control/control.ts";
import type { Answer } from "./view.ts";

/** What exists for a caller, and what it may do. */
export type CallerRights =
  & Pick<Access, "admits" | "admitsServer" | "admitsToolset" | "demand">
  & { grants(principal: string): Pick<Grants, "isWhole" | "may"> };

/** Limits and approvals of calls, and the sizes of their results; trials need only a part. */
export type CallPolicy =
  & Pick<CallControl, "enter">
  & Partial<
    Pick<
      CallControl,
      | "countRequest"
      | "ended"
      | "enterBuiltin"
      | "enterUse"
      | "hasPages"
      | "leave"
      | "read"
      | "refused"
    >
  >;

/** What decides about calls at an endpoint; without either, all calls are allowed. */
export interface CallChecks {
  rights?: Pick<CallerRights, "demand"> | undefined;
  policy?: CallPolicy | undefined;
}

/** The parts of a call that differ between endpoints, once the tool is resolved. */
interface CallSteps {
  /** The params for the server; throws INVALID_PARAMS. */
  params(): string;
  /** Throws if the tool changed or went away while the call waited for approval. */
  checkUnchanged(): void;
  relay(params: string): Promise<string>;
}

/**
 * The one way to call a server's tool, at every endpoint and from the console: rights, limits and
 * approval, then the relay. The caller has resolved the tool. Rejects without the right to call.
 */
export async function callTool(
  { rights, policy }: CallChecks,
  call: PendingCall,
  steps: CallSteps,
): Promise<Answer> {
  checkMayCall(rights, policy, call);
  const record: CallRecord = { server: call.tool.server, tool: call.tool.name };
  call.request.onFindings = (found) => (record.findings ??= []).push(...found);
  try {
    const params = steps.params();
    const approval = policy?.enter(call);
    if (approval) {
      await approval;
      steps.checkUnchanged();
      checkMayCall(rights, policy, call);
    }
    record.sentAt = performance.now();
    let response;
    try {
      response = await steps.relay(params);
    } finally {
      record.serverMs = performance.now() - record.sentAt;
    }
    const shown = policy?.leave ? policy.leave(call, response) : response;
    return { text: typeof shown === "string" ? shown : await shown, call: record };
  } catch (error) {
    return { error, call: record };
  } finally {
    policy?.ended?.(call.request);
  }
}

/** Throws ACCESS_DENIED if the caller has no right to call, and notes that. */
function checkMayCall(
  rights: Pick<CallerRights, "demand"> | undefined,
  policy: CallPolicy | undefined,
  call: PendingCall,
): void {
  try {
    rights?.demand(call.client.principal, "call", "Calling a tool");
  } catch (error) {
    policy?.refused?.(refusedCall(call), error);
    throw error;
  }
}

/** Throws ACCESS_DENIED if the caller may not make use of servers, and notes that. */
export function checkMayUse(
  rights: Pick<CallerRights, "demand"> | undefined,
  policy: CallPolicy | undefined,
  { method, server, client }: { method: string; server?: string; client: Client },
): void {
  const { principal } = client;
  const isNamed = USES.has(method);
  try {
    rights?.demand(principal, "call", isNamed ? method : "This request");
  } catch (error) {
    const use = isNamed ? method : "request";
    const subject = server === undefined ? use : `${server}.${use}`;
    policy?.refused?.({ subject, principal, client, isRequest: true }, error);
    throw error;
  }
}

/** Calls of methods other than `tools/call` count like tool calls until they are answered. */
export async function useServer(
  policy: CallPolicy | undefined,
  use: ServerUse,
  ask: () => Promise<string>,
): Promise<string> {
  if (!policy?.enterUse || isLooking(use.method)) return await ask();
  const counted = policy.enterUse(use);
  if (counted) await counted;
  try {
    return await ask();
  } finally {
    policy.ended?.(use.request);
  }
}

/** Methods that are noted by name: a client may send any text as a method. */
const USES: ReadonlySet<string> = new Set([
  "completion/complete",
  "prompts/get",
  "resources/directory/read",
  "resources/read",
  "resources/subscribe",
  "resources/unsubscribe",
  "skills/get",
  "tasks/cancel",
  "tasks/get",
  "tasks/result",
  "tasks/update",
]);

/** Whether a method only reads lists or sets up; all others make use of a server. */
export function isLooking(method: string): boolean {
  return method === FOLLOW_TASK || /\/list$|^ping$|^logging\/setLevel$/.test(method);
}

/** Throws if a tool changed, or went away for the caller, since somebody approved its call. */
export function checkUnchanged(
  tool: CatalogTool,
  { table, admits }: Pick<ToolScope, "table" | "admits">,
): void {
  const found = resolveTool({ table, naming: "original", server: tool.server, admits }, tool.name);
  if (found.fingerprint === tool.fingerprint) return;
  throw new GatewayError("CONFLICT", {
    message: `Not called: the server changed ${tool.server}.${tool.name} while the call waited`,
    recoveryAction: "List the tools again, then call the tool again if it still fits",
    recoverySteps: ["List the tools again", "Call the tool again if it still fits"],
  });
}

/** The gateway's own lists have one page. */
export function checkCursor({ params: { cursor } }: McpRequest): void {
  if (typeof cursor !== "string" || cursor === "") return;
  throw new GatewayError("INVALID_PARAMS", {
    message: "Unknown cursor: list again from the start",
    recoveryAction: "List the tools without a cursor",
  });
}

export function toolNameOf({ name }: Record<string, unknown>): string {
  if (typeof name === "string") return name;
  throw new GatewayError("INVALID_PARAMS", { message: "tools/call requires the name of a tool" });
}

/** The parts of a request that decisions are based on. */
const DECIDING = new Set(
  [
    "_meta",
    "argument",
    "arguments",
    "context",
    "cursor",
    "level",
    "name",
    "ref",
    "task",
    "taskId",
    "uri",
  ],
);
const DECIDING_REF = new Set(["type", "name", "uri"]);

/**
 * The params of a request, undefined where it has none. Servers take a member that comes twice, or in
 * other letters, for what they please: what is checked here must be what they read, so that throws
 * INVALID_PARAMS.
 */
export function requestParams(message: string) {
  const text = memberText(message, "params");
  if (text === undefined || text === "null") return undefined;
  return { text, members: unambiguousMembers(text, 0, DECIDING) };
}

export interface ContentRef {
  kind: "prompt" | "resource";
  name: string;
}

/**
 * What a completion is of, as `params` has it. Servers may go by the type or by what is there: where
 * the two could differ, that throws INVALID_PARAMS.
 */
export function completionRef(message: string, { ref }: Record<string, unknown>): ContentRef {
  const sent = requestParams(message);
  const span = sent?.members.get("ref");
  if (!isObject(ref) || !sent || !span || !sent.text.startsWith("{", span.start)) throw noRef();
  unambiguousMembers(sent.text, span.start, DECIDING_REF);
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
function unambiguousMembers(
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
    // As readers have it that ignore case, with the odd forms of k and s.
    const plain = name.toUpperCase().toLowerCase();
    if (deciding.has(plain) || (plain !== name && members.has(plain))) throw ambiguous(name);
  }
  return members;
}

/** The params of a tools/call under a tool's own name, the rest as it came; throws INVALID_PARAMS. */
export function callParams(
  { text, params: { name: sent } }: Pick<McpRequest, "text" | "params">,
  name: string,
): string {
  const params = requestParams(text);
  const span = params?.members.get("name");
  if (!params || !span) throw new GatewayError("INVALID_PARAMS");
  if (sent === name) return params.text;
  return replaceSpan(params.text, span, JSON.stringify(name));
}

function noRef(): GatewayError {
  return new GatewayError("INVALID_PARAMS", {
    message: "Cannot complete: the ref is neither a prompt nor a resource",
    recoverySteps: [
      'Send {"type":"ref/prompt","name":"..."} or {"type":"ref/resource","uri":"..."} as the ref',
    ],
  });
}

function ambiguous(name: string): GatewayError {
  return new GatewayError("INVALID_PARAMS", {
    message: `The params are ambiguous: ${JSON.stringify(name.slice(0, 40))} ` +
      "appears twice or in different case",
    recoverySteps: ["Send each member once, spelled as in the MCP specification"],
  });
}
