import * as z from "zod/mini";
import type { FormError } from "./form_error.ts";

const Refusal = z.object({
  error: z.object({
    message: z.string(),
    errorType: z._default(z.string(), "INTERNAL"),
    recoveryAction: z.optional(z.string()),
    recoverySteps: z._default(z.array(z.string()), []),
    hint: z.optional(z.string()),
  }),
});

/** Why the gateway's own API gave no answer, in words that a person can read. */
export class ApiError extends Error {
  readonly details: FormError;

  constructor(details: FormError, options?: ErrorOptions) {
    super(details.message, options);
    this.details = details;
  }

  static from(error: unknown): ApiError {
    if (error instanceof ApiError) return error;
    const message = "The gateway's answer is not what this page expects";
    return new ApiError({ code: "INTERNAL", message, steps: ["Reload the page"] }, {
      cause: error,
    });
  }
}

/** Posts to the gateway's own API; throws what went wrong in words that a person can read. */
export function askApi(path: string, body: unknown, signal?: AbortSignal): Promise<unknown> {
  return ask(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Reads from it; the same otherwise. */
export function readApi(path: string, signal?: AbortSignal): Promise<unknown> {
  const headers = { accept: "application/json" };
  return ask(path, { headers, ...(signal === undefined ? {} : { signal }) });
}

async function ask(path: string, init: RequestInit): Promise<unknown> {
  const response = await fetch(path, init).catch((error) => {
    init.signal?.throwIfAborted();
    throw new ApiError({
      code: "OFFLINE",
      message: "The gateway does not answer. Is it running?",
      steps: ["Start the gateway, then try again"],
    }, { cause: error });
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return answer;
  throw new ApiError(
    refusalOf(answer) ?? {
      code: "INTERNAL",
      message: `The gateway answered ${response.status}`,
      steps: [],
    },
  );
}

function refusalOf(answer: unknown): FormError | undefined {
  const refusal = Refusal.safeParse(answer);
  if (!refusal.success) return undefined;
  const { message, errorType, recoveryAction, recoverySteps, hint } = refusal.data.error;
  return {
    message,
    code: errorType,
    steps: recoverySteps.length > 0 || recoveryAction === undefined
      ? recoverySteps
      : [recoveryAction],
    ...(hint === undefined ? {} : { hint }),
  };
}
