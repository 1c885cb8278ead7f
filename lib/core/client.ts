import type {
  ClientCapabilities,
  CreateMessageRequestParams,
  CreateMessageResult,
  Implementation,
  InitializeRequestParams,
} from "@modelcontextprotocol/sdk/types";
import type { ContentFinding } from "./content_finding.ts";
import type { CancelSignal } from "./async.ts";
import {
  exactId,
  isObject,
  memberSpans,
  type MessageId,
  nestedText,
  replaceSpan,
  type Unchecked,
} from "./rpc.ts";
import { shortened } from "./text.ts";

/** What a client said of itself when it initialized. */
export interface ClientProfile extends Pick<InitializeRequestParams, "protocolVersion"> {
  capabilities: Unchecked<ClientCapabilities>;
  clientInfo?: Unchecked<Implementation> | undefined;
}

/** From this revision on there are no sessions: every request says by itself whose it is. */
export const STATELESS_VERSION = "2026-07-28";

export function isStateless({ protocolVersion }: Pick<ClientProfile, "protocolVersion">): boolean {
  return protocolVersion >= STATELESS_VERSION;
}

/** Tokens of tool lists and answers in one session. */
export interface SentTokens {
  /** Of a list of all tools that the client may use. */
  baseline: number;
  /** Of the list that the client was last sent. */
  listed: number;
  /** Of all answers of the gateway's own tools. */
  answered: number;
}

/** A connected MCP client, as views and servers reach it. */
export interface Client {
  readonly profile: ClientProfile;
  readonly principal: string;
  /** Key of the endpoint it connected to, if it did. */
  readonly endpoint?: string;
  /** The address it connected from when its session was made, or `stdio`. */
  readonly from?: string | undefined;
  /** Stays the same through a session: what a live A/B assigns by. */
  readonly unit?: string;
  /** The same at all gateways; clients without sessions share one if nothing tells them apart. */
  readonly sessionId?: string;
  /** What it was sent so far; missing if that is not counted. */
  readonly sent?: SentTokens;
  /** Sends a notification outside of any request. */
  push(text: string): void;
  /**
   * Makes a server's request known under an id that no other question has, at any instance; the
   * client's answer comes back under the server's own id, at most once. Returns the text to send.
   */
  ask(text: string, id: MessageId, onAnswer: (text: string) => void): string;
}

/** Samples the client's model; throws CANNOT_GENERATE. */
export type SampleModel = (
  params: CreateMessageRequestParams,
) => Promise<Unchecked<CreateMessageResult>>;

/** Whether a slow call continues as a task of the gateway, which its client asks about. */
export interface Deferral {
  readonly isDeferred: boolean;
  /** The server decides by itself which calls become tasks. */
  forbid(): void;
  /** What the server says about the state of the call. */
  note(message: string): void;
}

export interface McpRequest {
  id: MessageId;
  method: string;
  params: Record<string, unknown>;
  text: string;
  /** Aborts when the client cancels or goes away. */
  signal: CancelSignal;
  /** Of a call that may outlive its request. */
  deferral?: Deferral | undefined;
  /** A header of the HTTP request, if headers have to repeat what the body says. */
  header?: ((name: string) => string | null) | undefined;
  /** Asks the client as `Client.ask` does, if the client made the request at another gateway. */
  ask?: Client["ask"] | undefined;
  /** Hears what the content guard found in the request and in what the server said during it. */
  onFindings?(findings: readonly ContentFinding[]): void;
  /** Sends what belongs to this request, before its answer. */
  send(text: string): void;
}

/** Cursor sends no more tools than this to its model. */
export const MANY_TOOLS = 40;

/** How many tools clients take, by how they name themselves; only documented limits. */
const TOOL_LIMITS: [name: RegExp, tools: number][] = [
  [/^cursor/i, MANY_TOOLS],
  [/^visual studio code/i, 128],
];

export function toolLimitOf({ clientInfo }: Pick<ClientProfile, "clientInfo">): number | undefined {
  return TOOL_LIMITS.find(([name]) => name.test(String(clientInfo?.name)))?.[1];
}

/** The token under which a request asks for progress notifications. */
export function progressTokenOf(
  { params: { _meta: meta }, text }: Pick<McpRequest, "params" | "text">,
): MessageId | undefined {
  const token = isObject(meta) ? meta.progressToken : undefined;
  return exactId(token, () => nestedText(text, "params", "_meta", "progressToken"));
}

/** The same at all gateways for what a client owns with its session; undefined if it has none. */
export function sessionKeyOf({ sessionId, endpoint, principal }: Client): string | undefined {
  return sessionId === undefined ? undefined : JSON.stringify([sessionId, endpoint, principal]);
}

const CLIENT_LENGTH = 80;

/** What a client calls itself; empty if it gave no name. */
export function clientLabel({ profile: { clientInfo } }: Client): string {
  const { name, version } = isObject(clientInfo) ? clientInfo : {};
  const label = [name, version].filter((part) => typeof part === "string").join(" ").trim();
  return shortened(label, CLIENT_LENGTH);
}

/**
 * Where a client's call comes from, for a person who decides about it or looks back: its endpoint,
 * what it calls itself, and the address it connected from. The name is in quotes: the client chose it,
 * and it must not pass for an address.
 */
export function originOf(client: Client): string {
  const { endpoint, from } = client;
  const label = clientLabel(client);
  return [
    endpoint === undefined ? "MCP" : `MCP at /${endpoint.replace(/\?$/, "")}`,
    ...(label === "" ? [] : [`client ${JSON.stringify(label)}`]),
    ...(from === undefined ? [] : [`from ${from}`]),
  ].join(", ");
}

const IDLE_MS = 5 * 60_000;

/** Whether a client has been away so long that it has probably closed. */
export function isIdle(
  { idleSince, endedAt }: { idleSince?: number | undefined; endedAt?: number | undefined },
  now = Date.now(),
): boolean {
  return endedAt === undefined && idleSince !== undefined && now - idleSince >= IDLE_MS;
}

/** A server's withdrawal of a question under the id that the client knows it by, if it asked it. */
export function withdrawal(
  text: string,
  id: unknown,
  questions: Map<MessageId, string> | undefined,
): string | undefined {
  if (typeof id !== "string" && typeof id !== "number") return undefined;
  const asked = questions?.get(id);
  questions?.delete(id);
  const params = memberSpans(text).get("params");
  if (asked === undefined || !params) return undefined;
  const span = memberSpans(text, params.start).get("requestId");
  return span && replaceSpan(text, span, asked);
}
