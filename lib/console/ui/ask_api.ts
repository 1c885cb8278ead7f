/** Posts to the gateway's own API; throws what went wrong in words that a person can read. */
export async function askApi(path: string, body: unknown, signal?: AbortSignal): Promise<unknown> {
  const response = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error) => {
    signal?.throwIfAborted();
    throw new Error("The gateway does not answer. Is it running?", { cause: error });
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return answer;
  throw new Error(messageOf(answer) ?? `The gateway answered ${response.status}`);
}

function messageOf(answer: unknown): string | undefined {
  if (typeof answer !== "object" || answer === null || !("error" in answer)) return undefined;
  const { error } = answer;
  if (typeof error !== "object" || error === null || !("message" in error)) return undefined;
  return typeof error.message === "string" ? error.message : undefined;
}
