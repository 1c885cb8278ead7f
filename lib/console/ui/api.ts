import * as z from "zod/mini";

const Refusal = z.object({
  error: z.object({
    message: z.string(),
    errorType: z._default(z.string(), "INTERNAL"),
    recoveryAction: z.optional(z.string()),
    recoverySteps: z._default(z.array(z.string()), []),
    hint: z.optional(z.string()),
  }),
});

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

export function askApi(path: string, body: unknown, signal?: AbortSignal): Promise<unknown> {
  return ask(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

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

export const FormError = z.object({
  message: z.string(),
  code: z.string(),
  steps: z.array(z.string()),
  hint: z.optional(z.string()),
});
/** Why what was written in a form could not be done. */
export type FormError = z.infer<typeof FormError>;

const Done = z.object({ done: z.string() });
const Refused = z.object({
  error: z.object({ message: z.string(), steps: z._default(z.array(z.string()), []) }),
});

export class ActionError extends Error {
  readonly steps: readonly string[];

  constructor(message: string, steps: readonly string[]) {
    super(message);
    this.steps = steps;
  }
}

export async function postAction(fields: Record<string, string>): Promise<string> {
  const response = await fetch("/actions", {
    method: "POST",
    headers: { accept: "application/json" },
    body: new URLSearchParams(fields),
    // It may be the last thing that a page does.
    keepalive: true,
  });
  const answer: unknown = await response.json().catch(() => ({}));
  const done = Done.safeParse(answer);
  if (response.ok && done.success) return done.data.done;
  const refused = Refused.safeParse(answer);
  if (!refused.success) throw new ActionError("The gateway could not do it", []);
  throw new ActionError(refused.data.error.message, refused.data.error.steps);
}
