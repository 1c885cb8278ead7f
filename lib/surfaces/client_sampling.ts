import { GatewayError } from "../core/errors.ts";
import { isObject, notificationText, requestText } from "../core/rpc.ts";
import type { ClientPort, RequestScope } from "./surface.ts";

/** A person may have to agree first, and then the model takes its time. */
const SAMPLING_TIMEOUT_MS = 5 * 60_000;

/** Whether a client lends its model to those it calls. */
export function canSample({ client }: ClientPort): boolean {
  return isObject(client.capabilities.sampling);
}

/** Puts a sampling/createMessage to the client behind a request; resolves with its result. */
export function sample(
  scope: RequestScope,
  port: ClientPort,
  params: Record<string, unknown>,
  limitMs = SAMPLING_TIMEOUT_MS,
): Promise<Record<string, unknown>> {
  const { signal } = scope;
  if (signal.aborted) return Promise.reject(signal.reason);
  const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
  const question = requestText(0, "sampling/createMessage", JSON.stringify(params));
  const asked = port.ask(question, 0, (text) => {
    const { result, error } = JSON.parse(text);
    if (isObject(result)) resolve(result);
    else reject(cannotGenerate(`the client's model did not answer: ${errorWords(error)}`));
  });
  // The client would go on spending on an answer that nobody waits for.
  const withdraw = () => {
    const { id } = JSON.parse(asked);
    const reason = "Nobody waits for the answer any more";
    const withdrawn = JSON.stringify({ requestId: id, reason });
    scope.send(notificationText("notifications/cancelled", withdrawn));
  };
  const timer = setTimeout(() => {
    withdraw();
    const seconds = Math.round(limitMs / 1_000);
    reject(cannotGenerate(`the client's model did not answer within ${seconds} s`));
  }, limitMs);
  const onAbort = () => {
    withdraw();
    reject(signal.reason);
  };
  signal.addEventListener("abort", onAbort);
  scope.send(asked);
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  });
}

function errorWords(error: unknown): string {
  const words = isObject(error) && typeof error.message === "string" ? error.message.trim() : "";
  return words === "" ? "it gave no reason" : words;
}

function cannotGenerate(why: string): GatewayError {
  return new GatewayError("CANNOT_GENERATE", {
    message: `Cannot generate with the calling client's own model: ${why}`,
    recoveryAction: "Try again, or write the texts yourself",
    recoverySteps: [
      "Ask the user to allow sampling for this gateway in the client, and try again",
      "Or write the texts yourself: propose_candidate and save_golden_prompts keep them",
    ],
  });
}
