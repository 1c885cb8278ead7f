import type { CancelSignal } from "../../core/async.ts";
import { defined } from "../../core/defined.ts";
import { classify, echoedId, isObject } from "../../core/rpc.ts";
import { ScopeRequired, TransportClosed } from "./transport.ts";
import { type HttpResponse, readStart } from "./http_response.ts";
import type { OriginClient } from "./origin_client.ts";

/** Large enough for any error a server has to tell. */
const ERROR_BODY_BYTES = 256 * 1024;
const METHOD_NOT_FOUND = -32601;

export class HttpRefusal extends TransportClosed {
  readonly status: number;

  constructor(status: number, message: string) {
    super("refused", message);
    this.status = status;
  }
}

/** Reads an error response: returns the text of a JSON-RPC error for our `id`, or throws. */
export async function readRefusal(
  endpoint: OriginClient,
  response: HttpResponse,
  signal: CancelSignal,
  id?: number,
): Promise<string> {
  const { status } = response;
  let body = "";
  try {
    body = (await readStart(response, ERROR_BODY_BYTES)).text;
  } catch (error) {
    if (signal.aborted) throw endpoint.lost(error, signal);
  }
  const challenge = response.headers.get("www-authenticate");
  if (status === 401) {
    const message = endpoint.quote(`HTTP 401 from ${endpoint.host}${challengeDetails(challenge)}`);
    const why = endpoint.loginTrouble === undefined ? "" : `: ${endpoint.loginTrouble}`;
    throw new TransportClosed("login", message + why);
  }
  const { error, scope: lacking } = readChallenge(challenge);
  if (status === 403 && error === "insufficient_scope") {
    if (lacking !== undefined) endpoint.lacksScope(lacking);
    const named = lacking === undefined ? "" : ` (${endpoint.quote(lacking)})`;
    throw new ScopeRequired(
      `HTTP 403 from ${endpoint.host}: the login lacks the required scope${named}`,
    );
  }
  const rpc = parseError(body);
  const isOurs = id !== undefined && echoedId(rpc?.id) === id;
  if (status === 404 && endpoint.hasSession && !(isOurs && rpc?.code === METHOD_NOT_FOUND)) {
    throw new TransportClosed("session", `${endpoint.host} no longer knows the session (HTTP 404)`);
  }
  if (isOurs && status !== 403) return body;
  throw new HttpRefusal(status, refusalText(endpoint, response, rpc?.message ?? body));
}

function refusalText(endpoint: OriginClient, response: HttpResponse, body: string): string {
  const { status } = response;
  const type = response.headers.get("content-type") ?? "no content type";
  const isReadable = /^(text\/|no )|json|xml/.test(type);
  const quote = isReadable && body.trim() !== "" ? `: ${endpoint.quote(body)}` : "";
  if (status < 300) {
    return `HTTP ${status} from ${endpoint.host} with ${type}, which is not an MCP response${quote}`;
  }
  const hint = (status === 404 || status === 405) && !endpoint.hasSession
    ? ` (check the url of "${endpoint.serverName}")`
    : "";
  return `HTTP ${status} from ${endpoint.host}${hint}${quote}`;
}

function challengeDetails(challenge: string | null): string {
  const details = ["realm", "error", "resource_metadata"].flatMap((name) => {
    const value = challengeField(challenge, name);
    return value === undefined ? [] : [`${name} ${value}`];
  });
  return details.length === 0 ? "" : ` (${details.join(", ")})`;
}

function parseError(body: string): { id: unknown; code: unknown; message: string } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (!isObject(value) || !isObject(value.error)) return undefined;
  const id = classify(value)?.kind === "response" ? value.id : undefined;
  const { code, message } = value.error;
  return { id, code, message: typeof message === "string" ? message : "" };
}

/** How a server says one can get access (RFC 6750, RFC 9728). */
export type Challenge = ReturnType<typeof readChallenge>;

/** Reads a `WWW-Authenticate` header; what is not there or not understood is left out. */
export function readChallenge(header: string | null) {
  const bearer = /(?:^|,)\s*Bearer\b/i.test(header ?? "") ? header : null;
  return defined({
    resourceMetadata: challengeField(bearer, "resource_metadata"),
    scope: challengeField(bearer, "scope"),
    error: challengeField(bearer, "error"),
  });
}

function challengeField(header: string | null, name: string): string | undefined {
  const field = new RegExp(`(?:^|[\\s,])${name}=(?:"([^"]{1,2000})"|([^\\s",]{1,2000}))`, "i");
  const found = field.exec(header ?? "");
  return found?.[1] ?? found?.[2];
}
