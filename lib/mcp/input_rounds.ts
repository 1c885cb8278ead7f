import { setTimeout as sleep } from "node:timers/promises";
import { asAbortSignal } from "../core/async.ts";
import type { Client, McpRequest } from "../core/client.ts";
import { GatewayError } from "../core/errors.ts";
import {
  eachMember,
  errorText,
  isObject,
  memberText,
  notificationText,
  parseJson,
  requestText,
} from "../core/rpc.ts";
import type { Call } from "../servers/connection.ts";
import { withMembers } from "../servers/stateless_request.ts";

const MAX_ROUNDS = 10;
/** Between rounds in which the server asks nothing, but wants to be called again. */
const PACE_MS = 250;
/** How long a person or a model may take to answer. */
const ANSWER_LIMIT_MS = 10 * 60_000;
export const MISSING_CAPABILITY = -32021;
/** An older server's error: the user must open a page before the call can succeed. */
const URL_REQUIRED = -32042;
const URL_REQUIRED_TEXT = String(URL_REQUIRED);
const INTERNAL_ERROR = -32603;

export interface ServerAnswer {
  /** The id that the text has. */
  id: number;
  text: string;
}

export interface InputRounds {
  serverName: string;
  request: McpRequest;
  client: Client;
  params: string | undefined;
  /** A question's params as the client may see them; throws if it must not see them at all. */
  screen?(method: string, params: string): string;
  /** Sends the request once more, with other params, or another one that belongs to it. */
  repeat(params: string, more?: Partial<Call>): Promise<ServerAnswer>;
}

/**
 * Between a client that can be asked and a stateless server that cannot ask: what the server needs
 * to know comes as its answer. Asks the client, and repeats the request with what the client said,
 * until the server is done.
 */
export async function completeRounds(first: ServerAnswer, rounds: InputRounds) {
  let answer = first;
  for (let round = 1;; round++) {
    const wanted = readInputRequired(answer.text);
    if (!wanted) return answer;
    const { id } = answer;
    const { method } = rounds.request;
    const isEmpty = wanted.requests.length === 0 && wanted.state === undefined;
    if (round > MAX_ROUNDS || isEmpty) {
      const message = `Server "${rounds.serverName}" ` +
        (isEmpty
          ? `requires input for ${method} but lists no input requests`
          : `still requires input for ${method} after ${MAX_ROUNDS} rounds`);
      return { id, text: errorText(id, INTERNAL_ERROR, message) };
    }
    const asked = await askAll(wanted.requests, rounds);
    if ("error" in asked) return declined(id, asked.error);
    const responses = asked.responses.map(({ key, text }) => `${JSON.stringify(key)}:${text}`);
    const members = [
      ...(responses.length > 0 ? [`"inputResponses":{${responses.join()}}`] : []),
      ...(wanted.state === undefined ? [] : [`"requestState":${wanted.state}`]),
    ];
    answer = await rounds.repeat(withMembers(rounds.params ?? "{}", 0, members.join()));
  }
}

/** A request goes on with a state that its server cannot have given. */
export function unknownState(): GatewayError {
  return new GatewayError("INVALID_PARAMS", {
    message: "Unknown request state",
    recoverySteps: ["Make the call again without a request state"],
  });
}

/** The client's error as the answer to its own request. */
function declined(id: number, error: string): ServerAnswer {
  return { id, text: `{"jsonrpc":"2.0","id":${id},"error":${error}}` };
}

/** Longer answers are not searched for this error, which is always short. */
const MAX_ERROR_CHARACTERS = 100_000;

/**
 * An older server may fail a call until the user has opened a page. A client with sessions handles that
 * itself; for a stateless client, this asks the user to open the page and repeats the call.
 */
export async function completeUrls(first: ServerAnswer, rounds: InputRounds) {
  let answer = first;
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    const requests = readUrlsRequired(answer.text);
    if (!requests) return answer;
    const asked = await askAll(requests, rounds);
    if ("error" in asked) return declined(answer.id, asked.error);
    const isAccepted = ({ text }: { text: string }) =>
      parseJson(memberText(text, "action") ?? "null") === "accept";
    if (!asked.responses.every(isAccepted)) return answer;
    answer = await rounds.repeat(rounds.params ?? "{}");
  }
  return answer;
}

/** Whether an answer has to be read to know if it asks for pages to be opened: hardly any has. */
export function mayRequireUrls(text: string): boolean {
  return text.length <= MAX_ERROR_CHARACTERS && text.includes(URL_REQUIRED_TEXT);
}

/** The pages that the user must open before the call can succeed; undefined if there are none. */
function readUrlsRequired(text: string): InputRequest[] | undefined {
  if (!mayRequireUrls(text)) return undefined;
  const error = parseJson(memberText(text, "error") ?? "null");
  if (!isObject(error) || error.code !== URL_REQUIRED || !isObject(error.data)) return undefined;
  const { elicitations } = error.data;
  if (!Array.isArray(elicitations) || elicitations.length === 0) return undefined;
  return elicitations.map((params, index) => ({
    key: String(index),
    method: "elicitation/create",
    params: JSON.stringify({ ...isObject(params) ? params : {}, mode: "url" }),
  }));
}

interface InputRequest {
  /** As it stands in the server's text. */
  key: string;
  method: string;
  params: string | undefined;
}

interface InputRequired {
  requests: InputRequest[];
  /** The text of the server's state, which goes back as it came. */
  state: string | undefined;
}

/** What a server needs before it can answer; undefined if this is the answer. */
function readInputRequired(text: string): InputRequired | undefined {
  if (!text.includes('"input_required"')) return undefined;
  const result = memberText(text, "result");
  if (!result?.startsWith("{") || memberText(result, "resultType") !== '"input_required"') {
    return undefined;
  }
  return { requests: readInputRequests(result), state: memberText(result, "requestState") };
}

/** The questions in a result, or in the state of a task. */
export function readInputRequests(result: string): InputRequest[] {
  const requests: InputRequest[] = [];
  const wanted = memberText(result, "inputRequests");
  if (wanted?.startsWith("{")) {
    eachMember(wanted, 0, (key, { start, end }) => {
      const request = wanted.slice(start, end);
      const method = parseJson(memberText(request, "method") ?? "null");
      const params = memberText(request, "params");
      requests.push({ key, method: typeof method === "string" ? method : "(no method)", params });
    });
  }
  return requests;
}

type Asked = { responses: { key: string; text: string }[] } | { error: string };

/** Asks the client all of them at once; the error is its own, or says what it does not support. */
export async function askAll(wanted: InputRequest[], rounds: InputRounds): Promise<Asked> {
  const requests = wanted.map((request) => ({
    ...request,
    params: request.params === undefined
      ? undefined
      : rounds.screen?.(request.method, request.params) ?? request.params,
  }));
  const signal = asAbortSignal(rounds.request.signal);
  for (const request of requests) {
    const lack = lackingCapability(request, rounds);
    if (lack) return { error: lack };
  }
  if (requests.length === 0) {
    await sleep(PACE_MS, undefined, { signal });
    return { responses: [] };
  }
  const ended = new AbortController();
  const limit = AbortSignal.timeout(ANSWER_LIMIT_MS);
  const until = AbortSignal.any([signal, ended.signal, limit]);
  try {
    const answers = await Promise.all(requests.map(async (request) => {
      const text = await putQuestion(request, rounds, until);
      const result = memberText(text, "result");
      if (result === undefined) throw new Declined(memberText(text, "error") ?? "{}");
      return { key: request.key, text: result };
    }));
    return { responses: answers };
  } catch (error) {
    // The others' answers are of no more use.
    ended.abort(error);
    if (error instanceof Declined) return { error: error.text };
    throw error;
  }
}

/** A client answered with an error, which is then the answer to its own request. */
class Declined extends Error {
  readonly text: string;

  constructor(text: string) {
    super("The client declined");
    this.text = text;
  }
}

/** Puts one question to the client, and withdraws it when nobody needs its answer any more. */
export function putQuestion(
  { key, method, params }: InputRequest,
  { request, client }: Pick<InputRounds, "request" | "client">,
  signal: AbortSignal,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const question = requestText(key, method, asSessionsHaveIt(method, params));
  const asked = client.ask(question, key, resolve);
  const withdraw = () => {
    const why = '"reason":"The answer is no longer needed"';
    const withdrawn = `{"requestId":${memberText(asked, "id")},${why}}`;
    const withdrawal = notificationText("notifications/cancelled", withdrawn);
    // Nothing can be sent as part of a request that has ended.
    if (request.signal.aborted) client.push(withdrawal);
    else request.send(withdrawal);
    reject(signal.reason);
  };
  signal.addEventListener("abort", withdraw);
  request.send(asked);
  return promise.finally(() => signal.removeEventListener("abort", withdraw));
}

/** Revisions with sessions know a page that a person is sent to by an id. */
function asSessionsHaveIt(method: string, params: string | undefined): string | undefined {
  if (method !== "elicitation/create" || params === undefined) return params;
  const { mode, elicitationId } = JSON.parse(params);
  if (mode !== "url" || elicitationId !== undefined) return params;
  return withMembers(params, 0, `"elicitationId":"${crypto.randomUUID()}"`);
}

const CAPABILITIES: Record<string, "elicitation" | "sampling" | "roots"> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

/** The error for a client that cannot answer this kind of question. */
function lackingCapability(
  { method, params }: InputRequest,
  { serverName, client }: InputRounds,
): string | undefined {
  const name = CAPABILITIES[method];
  if (name === undefined) {
    const message = `Server "${serverName}" asks for ${method}, which this client's protocol ` +
      "version does not support";
    return JSON.stringify({ code: INTERNAL_ERROR, message });
  }
  const offered = client.profile.capabilities[name];
  const isUrl = parseJson(memberText(params ?? "{}", "mode") ?? "null") === "url";
  const required = { [name]: name === "elicitation" && isUrl ? { url: {} } : {} };
  const isOffered = isObject(offered) && (!isUrl || offered.url !== undefined);
  if (isOffered) return undefined;
  return JSON.stringify({
    code: MISSING_CAPABILITY,
    message: `Server "${serverName}" requires a client that supports ${name}` +
      (isUrl ? " with URLs" : ""),
    data: { requiredCapabilities: required },
  });
}
