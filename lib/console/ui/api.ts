import * as z from "zod/mini";

/** Why what was written in a form could not be done. */
export const FormError = z.object({
  message: z.string(),
  code: z.string(),
  steps: z.array(z.string()),
  hint: z.optional(z.string()),
});
export type FormError = z.infer<typeof FormError>;

const ErrorBody = z.object({
  message: z.string(),
  errorType: z._default(z.string(), "INTERNAL"),
  recoveryAction: z.optional(z.string()),
  recoverySteps: z._default(z.array(z.string()), []),
  /** Of the console's own actions. */
  steps: z.optional(z.array(z.string())),
  hint: z.optional(z.string()),
});
const Refusal = z.object({ error: ErrorBody });

/** The gateway's error body as forms show it. */
export function formErrorOf(body: z.infer<typeof ErrorBody>): FormError {
  const { message, errorType: code, recoveryAction, recoverySteps, hint } = body;
  const advice = recoveryAction === undefined ? [] : [recoveryAction];
  const steps = body.steps ?? (recoverySteps.length > 0 ? recoverySteps : advice);
  return { message, code, steps, ...(hint === undefined ? {} : { hint }) };
}

export class ApiError extends Error {
  readonly details: FormError;

  constructor(details: FormError, options?: ErrorOptions) {
    super(details.message, options);
    this.details = details;
  }

  static from(error: unknown): ApiError {
    if (error instanceof ApiError) return error;
    const message = "The gateway sent an unexpected response";
    return new ApiError({ code: "INTERNAL", message, steps: ["Reload the page"] }, {
      cause: error,
    });
  }
}

/** Posts to the gateway's own API; throws an ApiError. */
export function askApi(path: string, body: unknown, signal?: AbortSignal): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  return ask(path, { method: "POST", headers, body: JSON.stringify(body), signal: signal ?? null });
}

export function readApi(path: string, signal?: AbortSignal): Promise<unknown> {
  return ask(path, { headers: { accept: "application/json" }, signal: signal ?? null });
}

/** Runs one of the console's actions; resolves with its outcome. */
export async function postAction(fields: Record<string, string>): Promise<string> {
  const answer = await ask("/actions", {
    method: "POST",
    headers: { accept: "application/json" },
    body: new URLSearchParams(fields),
    // It may be the last thing that a page does.
    keepalive: true,
  });
  return z.object({ done: z.string() }).parse(answer).done;
}

async function ask(path: string, init: RequestInit): Promise<unknown> {
  const response = await fetch(path, init).catch((error) => {
    init.signal?.throwIfAborted();
    throw new ApiError({
      code: "OFFLINE",
      message: "The gateway is not responding. Is it running?",
      steps: ["Start the gateway, then try again"],
    }, { cause: error });
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return answer;
  const message = `The gateway responded with status ${response.status}`;
  const { error } = Refusal.safeParse(answer).data ?? { error: ErrorBody.parse({ message }) };
  throw new ApiError(formErrorOf(error));
}
