import * as z from "zod/mini";

const Done = z.object({ done: z.string() });
const Refused = z.object({
  error: z.object({ message: z.string(), steps: z._default(z.array(z.string()), []) }),
});

/** Why an action was not done, in words for a person. */
export class ActionError extends Error {
  readonly steps: readonly string[];

  constructor(message: string, steps: readonly string[]) {
    super(message);
    this.steps = steps;
  }
}

/** Has the gateway do something, from the browser; resolves with what was done, in words. */
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
