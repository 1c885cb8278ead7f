import { type ClientProfile, STATELESS_VERSION } from "../core/client.ts";
import { VERSION } from "../core/product.ts";
import {
  CAPABILITIES_KEY,
  CLIENT_KEY,
  encodeHeader,
  LOG_LEVEL_KEY,
  NAMED_BY,
  VERSION_KEY,
} from "../core/stateless.ts";
import { isObject, memberSpans, memberText, parseJson, replaceSpan } from "../core/rpc.ts";

/** The client behind a request; without one it is the gateway itself, without capabilities. */
export type Introduction = Partial<ClientProfile> & Pick<ClientProfile, "capabilities">;

export const GATEWAY_INFO = { name: "quartermaster", title: "Quartermaster", version: VERSION };

const introductions = new WeakMap<Introduction["capabilities"], string>();

/** The members of `_meta` with which a request names its revision and its client. */
function envelopeOf(client: Introduction, level: string | undefined): string {
  let members = introductions.get(client.capabilities);
  if (members === undefined) {
    members = JSON.stringify({
      [VERSION_KEY]: STATELESS_VERSION,
      [CLIENT_KEY]: client.clientInfo ?? GATEWAY_INFO,
      [CAPABILITIES_KEY]: client.capabilities,
    }).slice(1, -1);
    introductions.set(client.capabilities, members);
  }
  return level === undefined ? members : `${members},"${LOG_LEVEL_KEY}":${JSON.stringify(level)}`;
}

/** Params with what every request of a stateless revision carries; unchanged if they have it. */
export function withEnvelope(
  params: string | undefined,
  client: Introduction,
  level?: string,
): string {
  const envelope = envelopeOf(client, level);
  if (params === undefined) return `{"_meta":{${envelope}}}`;
  const meta = params.includes('"_meta"') ? memberSpans(params).get("_meta") : undefined;
  if (!meta) return withMembers(params, 0, `"_meta":{${envelope}}`);
  if (params[meta.start] !== "{") return replaceSpan(params, meta, `{${envelope}}`);
  return memberSpans(params, meta.start).has(VERSION_KEY)
    ? params
    : withMembers(params, meta.start, envelope);
}

/** A text with more members in the object at `start`. */
export function withMembers(text: string, start: number, members: string): string {
  const at = text.indexOf("{", start) + 1;
  const isEmpty = /^\s*\}/.test(text.slice(at, at + 64));
  return `${text.slice(0, at)}${members}${isEmpty ? "" : ","}${text.slice(at)}`;
}

/** Whether a header can repeat it as it is; no server has a method of another name. */
export function isMethodName(method: string): boolean {
  return /^[\x21-\x7e]+$/.test(method);
}

/** Headers that repeat what a request says, so that intermediaries need not read its body. */
export function requestHeaders(
  method: string,
  params: string | undefined,
  tools: HeaderParameters,
): [name: string, value: string][] {
  const headers: [string, string][] = [["mcp-method", method]];
  const field = NAMED_BY.get(method);
  if (field === undefined || params === undefined) return headers;
  const name = parseJson(memberText(params, field) ?? "null");
  if (typeof name !== "string") return headers;
  headers.push(["mcp-name", encodeHeader(name)]);
  const parameters = method === "tools/call" ? tools.get(name) : undefined;
  if (!parameters) return headers;
  const given = parseJson(memberText(params, "arguments") ?? "null");
  for (const { path, header } of parameters) {
    const value = path.reduce<unknown>((at, key) => isObject(at) ? at[key] : undefined, given);
    const isText = typeof value === "string" || typeof value === "boolean";
    if (!isText && !(typeof value === "number" && isPrintable(value))) continue;
    headers.push([`mcp-param-${header.toLowerCase()}`, encodeHeader(String(value))]);
  }
  return headers;
}

function isPrintable(value: number): boolean {
  return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
}

interface HeaderParameter {
  path: string[];
  header: string;
}

/** Of each tool that has some: the parameters whose values headers repeat. */
export type HeaderParameters = Map<string, HeaderParameter[]>;

const MARK = "x-mcp-header";
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);

/**
 * The parameters of tools that headers repeat. Tools that declare such headers in a way that the
 * specification forbids are to be left out: `invalid` has the reason by the tool's text.
 */
export function headerParameters(
  tools: readonly string[],
): { parameters: HeaderParameters; invalid: Map<string, string> } {
  const parameters: HeaderParameters = new Map();
  const invalid = new Map<string, string>();
  for (const text of tools) {
    if (!text.includes(MARK)) continue;
    const tool = parseJson(text);
    if (!isObject(tool) || typeof tool.name !== "string") continue;
    const found: HeaderParameter[] = [];
    const fault = findHeaders(tool.inputSchema, [], true, found);
    if (fault !== undefined) invalid.set(text, `Skipped tool "${tool.name}": ${fault}`);
    else if (found.length > 0) parameters.set(tool.name, found);
  }
  return { parameters, invalid };
}

/** Collects marked properties that can be reached by property names only; returns what is wrong. */
function findHeaders(
  schema: unknown,
  path: string[],
  isReachable: boolean,
  found: HeaderParameter[],
): string | undefined {
  if (Array.isArray(schema)) {
    for (const part of schema) {
      const fault = findHeaders(part, path, false, found);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
  if (!isObject(schema)) return undefined;
  if (MARK in schema) {
    const header = schema[MARK];
    if (!isReachable || path.length === 0) return `${MARK} is only allowed on properties`;
    if (typeof header !== "string" || !TOKEN.test(header)) return `${MARK} is not a header name`;
    if (!TYPES.has(schema.type)) return `${MARK} needs a string, an integer or a boolean`;
    const isTaken = found.some((other) => other.header.toLowerCase() === header.toLowerCase());
    if (isTaken) return `${MARK} names ${header} twice`;
    found.push({ path, header });
  }
  for (const [keyword, part] of Object.entries(schema)) {
    // Values, not schemas: they may hold anything.
    if (["const", "default", "enum", "examples"].includes(keyword)) continue;
    const fault = keyword === "properties" && isObject(part)
      ? findInProperties(part, path, isReachable, found)
      : findHeaders(part, path, false, found);
    if (fault !== undefined) return fault;
  }
}

function findInProperties(
  properties: Record<string, unknown>,
  path: string[],
  isReachable: boolean,
  found: HeaderParameter[],
): string | undefined {
  for (const [name, property] of Object.entries(properties)) {
    const fault = findHeaders(property, [...path, name], isReachable, found);
    if (fault !== undefined) return fault;
  }
}

/** The errors with which a stateless server refuses a request before it processes it. */
const REFUSALS: Record<number, "headers" | "version"> = {
  [-32020]: "headers",
  [-32022]: "version",
};
/** None of them is longer. */
const REFUSAL_CHARS = 10_000;

/** What a server's answer refuses, if it was not processed for this. */
export function unprocessedReason(answer: string): "headers" | "version" | undefined {
  if (answer.length > REFUSAL_CHARS || !answer.includes("-3202")) return undefined;
  const error = parseJson(memberText(answer, "error") ?? "null");
  const code = isObject(error) ? error.code : undefined;
  return typeof code === "number" ? REFUSALS[code] : undefined;
}
