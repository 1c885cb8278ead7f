import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestFormParams,
  Request,
} from "@modelcontextprotocol/sdk/types";
import type { Client, McpRequest } from "../core/client.ts";
import { GatewayError } from "../core/errors.ts";
import { isObject, notificationText, requestText, type Unchecked } from "../core/rpc.ts";

interface ClientQuestion extends Request {
  limitMs: number;
}

/** Rejects with a TimeoutError after the limit, or with the signal's reason. */
function askClient(
  request: McpRequest,
  client: Client,
  { method, params, limitMs }: ClientQuestion,
): Promise<Record<string, unknown>> {
  const { signal } = request;
  if (signal.aborted) return Promise.reject(signal.reason);
  const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
  const question = requestText(0, method, JSON.stringify(params));
  const asked = client.ask(question, 0, (text) => resolve(JSON.parse(text)));
  const { id: requestId } = JSON.parse(asked);
  const withdrawn = { requestId, reason: "The answer is no longer needed" };
  // Otherwise the client would keep asking its user, or spending model time, for nothing.
  const withdrawal = notificationText("notifications/cancelled", JSON.stringify(withdrawn));
  const timer = setTimeout(() => {
    request.send(withdrawal);
    reject(new DOMException("The client did not answer in time", "TimeoutError"));
  }, limitMs);
  const onAbort = () => {
    // Nothing can be sent as part of a request that has ended.
    client.push(withdrawal);
    reject(signal.reason);
  };
  signal.addEventListener("abort", onAbort);
  request.send(asked);
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  });
}

/** A person may have to agree first, and then the model takes its time. */
const SAMPLING_TIMEOUT_MS = 5 * 60_000;

/** Whether a client lends its model to those it calls. */
export function canSample({ profile }: Client): boolean {
  return isObject(profile.capabilities.sampling);
}

export async function sample(
  request: McpRequest,
  client: Client,
  params: CreateMessageRequestParams,
  limitMs = SAMPLING_TIMEOUT_MS,
): Promise<Unchecked<CreateMessageResult>> {
  const question = { method: "sampling/createMessage", params, limitMs };
  const { result, error } = await askClient(request, client, question).catch((error: unknown) => {
    if (request.signal.aborted) throw error;
    const seconds = Math.round(limitMs / 1_000);
    throw cannotGenerate(`the client's model did not answer within ${seconds} s`);
  });
  if (isObject(result)) return result;
  throw cannotGenerate(`the client's model did not answer: ${errorMessage(error)}`);
}

function errorMessage(error: unknown): string {
  const message = isObject(error) && typeof error.message === "string" ? error.message.trim() : "";
  return message === "" ? "it gave no reason" : message;
}

function cannotGenerate(why: string): GatewayError {
  return new GatewayError("CANNOT_GENERATE", {
    message: `Cannot generate with the calling client's own model: ${why}`,
    recoveryAction: "Try again, or write the texts yourself",
    recoverySteps: [
      "Ask the user to allow sampling for this gateway in the client, and try again",
      "Or write the texts yourself and save them with propose_candidate and save_golden_prompts",
    ],
  });
}

const CONSENT_TIMEOUT_MS = 5 * 60_000;

/** Whether a client can put a question to its user. Older clients name no elicitation mode. */
export function canElicit({ profile: { capabilities: { elicitation } } }: Client): boolean {
  return isObject(elicitation) && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** Asks the user by elicitation; distinguishes a refusal from no answer. */
export async function elicitConsent(
  request: McpRequest,
  client: Client,
  message: string,
  limitMs = CONSENT_TIMEOUT_MS,
): Promise<"approved" | "denied" | "expired"> {
  const params: ElicitRequestFormParams = {
    message,
    requestedSchema: {
      type: "object",
      properties: { agree: { type: "boolean", title: "I agree", default: false } },
      required: ["agree"],
    },
  };
  const question = { method: "elicitation/create", params, limitMs };
  const answer = await askClient(request, client, question).catch(() => undefined);
  if (answer === undefined) return "expired";
  const { result } = answer;
  const isAgreed = isObject(result) && result.action === "accept" && isObject(result.content) &&
    result.content.agree === true;
  return isAgreed ? "approved" : "denied";
}
