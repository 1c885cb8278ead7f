import { Buffer } from "node:buffer";
import { type ClientProfile, STATELESS_VERSION } from "../core/client.ts";
import {
  CAPABILITIES_KEY,
  CLIENT_KEY,
  encodeHeader,
  hasTasks,
  LOG_LEVEL_KEY,
  LOG_LEVELS,
  NAMED_BY,
  TASKS_EXTENSION,
  VERSION_KEY,
} from "../core/stateless.ts";
import { eachMember, isObject, memberSpans, type RpcMessage, type Span } from "../core/rpc.ts";
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

/** Reads a request's envelope, and checks the headers against it; over stdio there are none. */
export function readEnvelope(
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
  if (named !== undefined && named !== version) {
    return mismatch(
      `The header MCP-Protocol-Version says ${named.slice(0, 40)}, but _meta says ` +
        version.slice(0, 40),
      "MCP-Protocol-Version",
    );
  }
  if (version !== STATELESS_VERSION) return unsupportedVersion(version);
  const wrong = headers && checkHeaders(headers, method, params);
  if (wrong) return wrong;
  const identity = JSON.stringify([capabilities, clientInfo]);
  if (identity.length > MAX_IDENTITY) {
    return invalidEnvelope(
      `${CAPABILITIES_KEY} and ${CLIENT_KEY} together exceed ${MAX_IDENTITY} characters`,
    );
  }
  const refusal = refusalOfMethod(method, capabilities);
  if (refusal) return refusal;
  return { profile: { protocolVersion: version, capabilities, clientInfo }, identity, logLevel };
}

/** Methods that this revision no longer has; the gateway's views still know them. */
const REMOVED: ReadonlySet<string> = new Set([
  "initialize",
  "logging/setLevel",
  "ping",
  "resources/subscribe",
  "resources/unsubscribe",
  "tasks/list",
  "tasks/result",
]);

function refusalOfMethod(
  method: string,
  capabilities: Record<string, unknown>,
): Refusal | undefined {
  if (REMOVED.has(method)) {
    return { status: 404, code: METHOD_NOT_FOUND, message: `Method not found: ${method}` };
  }
  if (!method.startsWith("tasks/") || hasTasks(capabilities)) return undefined;
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
 * A message without its envelope, the rest as it came. A server of an older revision would take the
 * envelope for a claim to speak the newer one.
 */
export function withoutEnvelope(text: string, { _meta }: Record<string, unknown>): string {
  const printed = `"_meta":${JSON.stringify(_meta)}`;
  const at = text.indexOf(printed);
  // As SDKs print it, and only once: so nothing else has to be read to find it.
  if (isObject(_meta) && at !== -1 && text.lastIndexOf(printed) === at) {
    const kept = Object.entries(_meta).filter(([name]) => !ENVELOPE_KEYS.has(name));
    if (kept.length === 0) return withoutMember(text, { start: at, end: at + printed.length });
    const rest = JSON.stringify(Object.fromEntries(kept));
    return `${text.slice(0, at)}"_meta":${rest}${text.slice(at + printed.length)}`;
  }
  const params = memberSpans(text).get("params");
  if (!params) return text;
  const meta = memberSpans(text, params.start).get("_meta");
  if (!meta || text[meta.start] !== "{") return text;
  const kept: string[] = [];
  eachMember(text, meta.start, (name, { start, end }) => {
    if (!ENVELOPE_KEYS.has(name)) kept.push(`${JSON.stringify(name)}:${text.slice(start, end)}`);
  });
  return `${text.slice(0, meta.start)}{${kept.join(",")}}${text.slice(meta.end)}`;
}

/** An object's text without a member, whose name and value are at the span. */
function withoutMember(text: string, { start, end }: Span): string {
  if (text[start - 1] === ",") return text.slice(0, start - 1) + text.slice(end);
  return text.slice(0, start) + text.slice(text[end] === "," ? end + 1 : end);
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

/**
 * An answer as clients of this revision require it: its result says that it is complete, and a list
 * for how long it may be kept. A server of this revision has said so itself.
 */
export function completedAnswer(text: string, method: string, ttlMs: number): string {
  const at = resultStart(text);
  if (at === undefined) return text;
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
