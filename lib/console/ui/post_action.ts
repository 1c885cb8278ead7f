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
  const answer = await response.json().catch(() => ({}));
  if (response.ok && typeof answer.done === "string") return answer.done;
  const { message, steps } = answer.error ?? {};
  throw new ActionError(
    typeof message === "string" ? message : "The gateway could not do it",
    Array.isArray(steps) ? steps.map(String) : [],
  );
}
