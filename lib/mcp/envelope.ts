import { Buffer } from "node:buffer";
import { type ClientProfile, STATELESS_VERSION } from "../core/client.ts";
import {
  CAPABILITIES_KEY,
  CLIENT_KEY,
  encodeHeader,
  FOLLOW_TASK,
  hasTasks,
  LOG_LEVEL_KEY,
  LOG_LEVELS,
  NAMED_BY,
  TASKS_EXTENSION,
  VERSION_KEY,
} from "../core/stateless.ts";
import {
  eachMember,
  isObject,
  memberSpans,
  type RpcMessage,
  skipValue,
  type Span,
} from "../core/rpc.ts";
import type { HttpRequest } from "../http/exchange.ts";
import { PROTOCOL_VERSIONS } from "./protocol.ts";

const ENVELOPE_KEYS = new Set([VERSION_KEY, CAPABILITIES_KEY, CLIENT_KEY, LOG_LEVEL_KEY]);

/** Tells that a request came over stdio, where there are no headers. */
export const BRIDGE_HEADER = "quartermaster-bridge";

export type RpcRequest = Extract<RpcMessage, { kind: "request" }>;

/** What a request of a stateless client says about its client, in `_meta`. */
export interface Envelope {
  profile: ClientProfile;
  /** The same for all requests that introduce their client in the same way. */
  identity: string;
  /** The lowest level of log messages that it takes; none without one. */
  logLevel: string | undefined;
}

/** Why a request is refused before anything looks at what it asks for. */
export interface Refusal {
  status: number;
  code: number;
  message: string;
  data?: Record<string, unknown>;
}

/** The gateway keeps it as long as the client is active. */
const MAX_IDENTITY = 16_384;

const MISMATCH = -32020;
const UNSUPPORTED_VERSION = -32022;
const MISSING_CAPABILITY = -32021;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;

type Headers = Pick<HttpRequest["headers"], "get">;

/** Whether a message is one of a stateless revision. What its body says outranks the header. */
export function isStatelessMessage(
  { method, params }: { method: string; params: Record<string, unknown> },
  version: string | null,
): boolean {
  const isNamed = version !== null && isStatelessVersion(version);
  if (method === "initialize") return isNamed || claimedVersion(params) === STATELESS_VERSION;
  return isNamed || claimedVersion(params) !== undefined;
}

function isStatelessVersion(version: string): boolean {
  return /^20\d\d-\d\d-\d\d$/.test(version) && version >= STATELESS_VERSION;
}

function claimedVersion({ _meta: meta }: Record<string, unknown>): unknown {
  return isObject(meta) ? meta[VERSION_KEY] : undefined;
}

/** The most texts of `_meta` that are remembered, and the longest. */
const MAX_KNOWN = 500;
const MAX_KNOWN_CHARACTERS = 2_048;
const META = '"_meta"';
const META_OBJECT = `${META}:{`;

/** A request with its envelope, and its text without it. */
interface OpenedRequest {
  envelope: Envelope;
  text: string;
}

/**
 * Opens requests' envelopes. Clients repeat theirs with each request, so what one says is remembered
 * by its text. It says nothing about who sent it: rights come from elsewhere.
 */
export class EnvelopeReader {
  readonly #known = new Map<string, Envelope>();

  open(
    message: Pick<RpcRequest, "method" | "params">,
    text: string,
    headers?: Headers,
  ): OpenedRequest | Refusal {
    const plain = isObject(message.params._meta) ? findPlainMeta(text) : undefined;
    const known = plain && this.#known.get(text.slice(plain.start, plain.end));
    if (known) {
      const refusal = checkRequest(message, known.profile, headers);
      return refusal ?? { envelope: known, text: withoutMeta(text, plain) };
    }
    const envelope = readEnvelope(message, headers);
    if ("code" in envelope) return envelope;
    const own = withoutEnvelope(text, plain);
    if (plain && own.isWhole) this.#remember(text.slice(plain.start, plain.end), envelope);
    return { envelope, text: own.text };
  }

  #remember(meta: string, envelope: Envelope): void {
    if (meta.length > MAX_KNOWN_CHARACTERS) return;
    for (const oldest of this.#known.keys()) {
      if (this.#known.size < MAX_KNOWN) break;
      this.#known.delete(oldest);
    }
    // A copy: a part of a text keeps the whole text in memory.
    this.#known.set(JSON.parse(JSON.stringify(meta)), envelope);
  }
}

/**
 * The value of the params' `_meta` in a request that has one, if it is surely there: the name appears
 * once, cannot appear in escaped letters, and has no spaces around it.
 */
function findPlainMeta(text: string): Span | undefined {
  const at = text.indexOf(META_OBJECT);
  if (at === -1 || !/[,{]/.test(text[at - 1]!) || text.includes("\\u")) return undefined;
  if (text.indexOf(META, at + 1) !== -1) return undefined;
  const start = at + META.length + 1;
  const end = skipValue(text, start);
  return /[,}]/.test(text[end]!) ? { start, end } : undefined;
}

/** A message without `_meta`, whose value is at the span that findPlainMeta() gave. */
function withoutMeta(text: string, { start, end }: Span): string {
  const from = start - META.length - 1;
  if (text[from - 1] === ",") return text.slice(0, from - 1) + text.slice(end);
  return text.slice(0, from) + text.slice(text[end] === "," ? end + 1 : end);
}

/** Reads a request's envelope, and checks the headers against it; over stdio there are none. */
function readEnvelope(
  { method, params }: Pick<RpcRequest, "method" | "params">,
  headers?: Headers,
): Envelope | Refusal {
  const meta = isObject(params._meta) ? params._meta : {};
  const version = meta[VERSION_KEY];
  const named = headers?.get("mcp-protocol-version")?.trim();
  const missing = [VERSION_KEY, CAPABILITIES_KEY].filter((key) => meta[key] === undefined);
  if (missing.length > 0) {
    if (method === "initialize") {
      return mismatch(`initialize does not exist in revision ${named}`, "MCP-Protocol-Version");
    }
    return invalidEnvelope(`${missing.join(" and ")} missing in _meta`, { missing });
  }
  const {
    [CAPABILITIES_KEY]: capabilities,
    [CLIENT_KEY]: clientInfo,
    [LOG_LEVEL_KEY]: logLevel,
  } = meta;
  if (typeof version !== "string") return invalidEnvelope(`${VERSION_KEY} is not a string`);
  if (!isObject(capabilities)) return invalidEnvelope(`${CAPABILITIES_KEY} is not an object`);
  if (clientInfo !== undefined && !isObject(clientInfo)) {
    return invalidEnvelope(`${CLIENT_KEY} is not an object`);
  }
  if (logLevel !== undefined && !isLogLevel(logLevel)) {
    return invalidEnvelope(`${LOG_LEVEL_KEY} is not one of ${LOG_LEVELS.join(", ")}`);
  }
  if (named !== undefined && named !== version) return versionMismatch(named, version);
  if (version !== STATELESS_VERSION) return unsupportedVersion(version);
  const wrong = headers && checkHeaders(headers, method, params);
  if (wrong) return wrong;
  const identity = JSON.stringify([capabilities, clientInfo]);
  if (identity.length > MAX_IDENTITY) {
    return invalidEnvelope(
      `${CAPABILITIES_KEY} and ${CLIENT_KEY} together exceed ${MAX_IDENTITY} characters`,
    );
  }
  const refusal = refusalOfMethod({ method, params }, capabilities);
  if (refusal) return refusal;
  return { profile: { protocolVersion: version, capabilities, clientInfo }, identity, logLevel };
}

/** What is checked of each request, also of one whose envelope is known. */
function checkRequest(
  { method, params }: Pick<RpcRequest, "method" | "params">,
  { capabilities }: ClientProfile,
  headers: Headers | undefined,
): Refusal | undefined {
  const named = headers?.get("mcp-protocol-version")?.trim();
  if (named !== undefined && named !== STATELESS_VERSION) {
    return versionMismatch(named, STATELESS_VERSION);
  }
  return (headers && checkHeaders(headers, method, params)) ??
    refusalOfMethod({ method, params }, capabilities);
}

function versionMismatch(named: string, version: string): Refusal {
  return mismatch(
    `The header MCP-Protocol-Version says ${named.slice(0, 40)}, but _meta says ` +
      version.slice(0, 40),
    "MCP-Protocol-Version",
  );
}

/** Methods that this revision does not have; the gateway's views know them. */
const REMOVED: ReadonlySet<string> = new Set([
  "initialize",
  "logging/setLevel",
  "ping",
  "resources/subscribe",
  "resources/unsubscribe",
  FOLLOW_TASK,
  "tasks/list",
  "tasks/result",
]);

function refusalOfMethod(
  { method, params }: Pick<RpcRequest, "method" | "params">,
  capabilities: Record<string, unknown>,
): Refusal | undefined {
  if (REMOVED.has(method)) {
    return { status: 404, code: METHOD_NOT_FOUND, message: `Method not found: ${method}` };
  }
  const isOnTasks = method.startsWith("tasks/") ||
    (method === "subscriptions/listen" && isObject(params.notifications) &&
      params.notifications.taskIds !== undefined);
  if (!isOnTasks || hasTasks(capabilities)) return undefined;
  return {
    status: 400,
    code: MISSING_CAPABILITY,
    message: `${method.slice(0, 80)} requires a client with the extension ${TASKS_EXTENSION}`,
    data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
  };
}

export function unsupportedVersion(version: string): Refusal {
  const requested = version.slice(0, 40);
  return {
    status: 400,
    code: UNSUPPORTED_VERSION,
    message: `Protocol version ${requested} is not supported`,
    data: { supported: PROTOCOL_VERSIONS, requested },
  };
}

function isLogLevel(value: unknown): value is string {
  return typeof value === "string" && LOG_LEVELS.includes(value);
}

/** The headers that a request of this revision has over HTTP, for one that came another way. */
export function statelessHeaders(
  { method, params }: Pick<RpcRequest, "method" | "params">,
): Record<string, string> {
  const member = NAMED_BY.get(method);
  const name = member === undefined ? undefined : params[member];
  return {
    "mcp-protocol-version": String(claimedVersion(params)),
    "mcp-method": method,
    ...(typeof name === "string" ? { "mcp-name": encodeHeader(name) } : {}),
  };
}

/** Proxies route and bill by these headers, so what they say must be what is done. */
function checkHeaders(
  headers: Headers,
  method: string,
  params: Record<string, unknown>,
): Refusal | undefined {
  if (headers.get("mcp-protocol-version") === null) return missingHeader("MCP-Protocol-Version");
  const named = headers.get("mcp-method");
  if (named === null) return missingHeader("Mcp-Method");
  if (named.trim() !== method) {
    return mismatch(
      `The header Mcp-Method says ${named.slice(0, 80)}, but the body says ${method.slice(0, 80)}`,
      "Mcp-Method",
    );
  }
  const member = NAMED_BY.get(method);
  const name = member === undefined ? undefined : params[member];
  if (typeof name !== "string") return undefined;
  const value = headers.get("mcp-name");
  if (value === null) return missingHeader("Mcp-Name");
  if (value === name || decodeHeader(value) === name) return undefined;
  return mismatch(`The header Mcp-Name does not match params.${member}`, "Mcp-Name");
}

const ENCODED = /^=\?base64\?(.*)\?=$/s;

/** A header's value, which is in base64 where the text does not fit a header; undefined if invalid. */
export function decodeHeader(value: string): string | undefined {
  const plain = value.trim();
  const encoded = ENCODED.exec(plain)?.[1];
  if (encoded === undefined) return plain;
  const bytes = Buffer.from(encoded, "base64");
  if (bytes.toString("base64") !== encoded) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export function mismatch(message: string, header: string): Refusal {
  return { status: 400, code: MISMATCH, message, data: { header } };
}

function missingHeader(header: string): Refusal {
  return mismatch(`The header ${header} is missing`, header);
}

function invalidEnvelope(problem: string, data?: Record<string, unknown>): Refusal {
  const message = `Invalid params: ${problem}`;
  return { status: 400, code: INVALID_PARAMS, message, ...(data ? { data } : {}) };
}

/**
 * A message without its envelope, the rest as it came, and whether `_meta` had nothing else. A server
 * of an older revision would take the envelope for a claim to speak the newer one.
 */
function withoutEnvelope(
  text: string,
  plain: Span | undefined,
): { text: string; isWhole: boolean } {
  const params = plain ? undefined : memberSpans(text).get("params");
  const meta = plain ?? (params && memberSpans(text, params.start).get("_meta"));
  if (!meta || text[meta.start] !== "{") return { text, isWhole: false };
  const kept: string[] = [];
  eachMember(text, meta.start, (name, { start, end }) => {
    if (!ENVELOPE_KEYS.has(name)) kept.push(`${JSON.stringify(name)}:${text.slice(start, end)}`);
  });
  const isWhole = kept.length === 0;
  if (isWhole && plain) return { text: withoutMeta(text, plain), isWhole };
  const rest = `${text.slice(0, meta.start)}{${kept.join(",")}}${text.slice(meta.end)}`;
  return { text: rest, isWhole };
}

/** Methods whose results clients may keep for a while. */
const CACHEABLE = new Set([
  "prompts/list",
  "resources/directory/read",
  "resources/list",
  "resources/read",
  "resources/templates/list",
  "skills/get",
  "skills/list",
  "tools/list",
]);

/** The result of a list that the gateway made, which has none of these members yet. */
export function completedList(list: string, ttlMs: number): string {
  return `{"resultType":"complete","ttlMs":${ttlMs},"cacheScope":"private",${list.slice(1)}`;
}

/**
 * An answer as clients of this revision require it: its result says that it is complete, and a list
 * for how long it may be kept. A server of this revision has said so itself. Undefined if the answer
 * has no such result: then it is an error.
 */
export function completedAnswer(text: string, method: string, ttlMs: number): string | undefined {
  const at = resultStart(text);
  if (at === undefined) return undefined;
  const added: string[] = [];
  const members = mentions(text, at, method) ? memberSpans(text, at) : undefined;
  if (!members?.has("resultType")) added.push('"resultType":"complete"');
  if (CACHEABLE.has(method)) {
    // A client is told when a list changes, but not when what it read does.
    const keepMs = method.endsWith("/list") ? ttlMs : 0;
    if (!members?.has("ttlMs")) added.push(`"ttlMs":${keepMs}`);
    const scope = members?.get("cacheScope");
    // Who may see it depends on the gateway's tokens, whatever the server says.
    if (scope) text = withPrivateScope(text, scope);
    else added.push('"cacheScope":"private"');
  }
  if (added.length === 0) return text;
  const isEmpty = /^\{\s*\}/.test(text.slice(at, at + 64));
  return `${text.slice(0, at + 1)}${added.join(",")}${isEmpty ? "" : ","}${text.slice(at + 1)}`;
}

function withPrivateScope(text: string, { start, end }: Span): string {
  return `${text.slice(0, start)}"private"${text.slice(end)}`;
}

/** Whether a result may already have one of the members: most have none, and may be long. */
function mentions(text: string, at: number, method: string): boolean {
  return text.includes('"resultType"', at) ||
    (CACHEABLE.has(method) &&
      (text.includes('"ttlMs"', at) || text.includes('"cacheScope"', at)));
}

/** Where the result's object begins; undefined if the answer is an error. */
function resultStart(text: string): number | undefined {
  const head = /^\{(?:"jsonrpc":"2\.0",)?(?:"id":(?:-?\d+|"[^"\\]{0,200}"),)?"result":\{/.exec(
    text.slice(0, 300),
  )?.[0];
  if (head !== undefined) return head.length - 1;
  const result = memberSpans(text).get("result");
  return result && text[result.start] === "{" ? result.start : undefined;
}
