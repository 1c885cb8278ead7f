import { classify, isObject } from "../../core/rpc.ts";
import { LinkClosed } from "../link.ts";
import { readChallenge } from "../login/challenge.ts";
import { readStart } from "./body_reader.ts";
import type { Endpoint } from "./endpoint.ts";
import type { RemoteAnswer } from "./remote_answer.ts";

/** Large enough for any error a server has to tell. */
const ERROR_BODY_BYTES = 256 * 1024;
const METHOD_NOT_FOUND = -32601;

/** The server answered, but not as an MCP server does. */
export class Refusal extends LinkClosed {
  readonly status: number;

  constructor(status: number, message: string) {
    super("refused", message);
    this.status = status;
  }
}

export interface Refused {
  endpoint: Endpoint;
  response: RemoteAnswer;
  signal: AbortSignal;
  /** Whether the request named a session. */
  hasSession: boolean;
  /** The request's id, if it was one. */
  id?: number;
}

/** Reads a response that is no success: the text of a JSON-RPC error to our id, or it throws. */
export async function readRefusal(refused: Refused): Promise<string> {
  const { endpoint, response, signal, hasSession, id } = refused;
  const { status } = response;
  let body = "";
  try {
    body = (await readStart(response, ERROR_BODY_BYTES)).text;
  } catch (error) {
    if (signal.aborted) throw endpoint.lost(error, signal);
  }
  if (status === 401) {
    const details = challengeDetails(response.headers.get("www-authenticate") ?? "");
    const why = endpoint.loginTrouble === undefined ? "" : `: ${endpoint.loginTrouble}`;
    throw new LinkClosed(
      "login",
      `${endpoint.quote(`HTTP 401 from ${endpoint.host}${details}`)}${why}`,
    );
  }
  const lacking = status === 403 ? missingScope(response.headers) : undefined;
  if (lacking !== undefined) {
    endpoint.lacksScope(lacking);
    throw new Refusal(
      status,
      `HTTP 403 from ${endpoint.host}: the login does not give the right to this ` +
        `(${endpoint.quote(lacking)}). Log in again to grant it`,
    );
  }
  const rpc = parseError(body);
  const isOurs = id !== undefined && rpc?.id === id;
  if (status === 404 && hasSession && !(isOurs && rpc.code === METHOD_NOT_FOUND)) {
    throw new LinkClosed("session", `${endpoint.host} no longer knows our session (HTTP 404)`);
  }
  if (isOurs && status !== 403) return body;
  throw new Refusal(status, refusalWords(refused, rpc?.message ?? body));
}

function refusalWords({ endpoint, response, hasSession }: Refused, body: string): string {
  const { status } = response;
  const type = response.headers.get("content-type") ?? "no content type";
  const isReadable = /^(text\/|no )|json|xml/.test(type);
  const said = isReadable && body.trim() !== "" ? `: ${endpoint.quote(body)}` : "";
  if (status < 300) {
    return `HTTP ${status} from ${endpoint.host} with ${type}, which is no answer in MCP${said}`;
  }
  const hint = (status === 404 || status === 405) && !hasSession
    ? ` (is the url of "${endpoint.serverName}" right?)`
    : "";
  return `HTTP ${status} from ${endpoint.host}${hint}${said}`;
}

/** The rights that a server wants and the login does not have. */
function missingScope(headers: RemoteAnswer["headers"]): string | undefined {
  const { error, scope } = readChallenge(headers.get("www-authenticate"));
  return error === "insufficient_scope" ? scope : undefined;
}

/** What a 401 says of the way to log in. */
function challengeDetails(challenge: string): string {
  const details = ["realm", "error", "resource_metadata"].flatMap((name) => {
    const value = new RegExp(`(?:^|[\\s,])${name}="([^"]*)"`, "i").exec(challenge)?.[1];
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
  return { id, code: value.error.code, message: String(value.error.message ?? "") };
}
