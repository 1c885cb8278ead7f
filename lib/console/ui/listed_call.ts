import * as z from "zod/mini";

const ListedCall = z.object({
  id: z.string(),
  at: z.number(),
  door: z.string(),
  server: z.string(),
  tool: z.string(),
  client: z.optional(z.string()),
  ms: z.number(),
  ok: z.boolean(),
  error: z.optional(z.string()),
  requestBytes: z.optional(z.number()),
  responseBytes: z.optional(z.number()),
});
/** A call as the list of calls shows it. */
export type ListedCall = z.infer<typeof ListedCall>;

const Heard = z.object({
  calls: z.array(ListedCall),
  skipped: z._default(z.number(), 0),
});

const Answer = z.object({ calls: z.array(ListedCall), hasOlder: z.boolean() });
/** Calls as the gateway lists them, the newest first. */
export type CallsAnswer = z.infer<typeof Answer>;

/** Calls as the live channel tells them, the newest first; undefined where it tells no calls. */
export function readHeard(
  data: unknown,
): { calls: ListedCall[]; skipped: number } | undefined {
  const heard = Heard.safeParse(data);
  return heard.success ? { ...heard.data, calls: heard.data.calls.toReversed() } : undefined;
}

/** Reads the gateway's answer; throws where it is none. */
export function readCalls(answer: unknown): CallsAnswer {
  return Answer.parse(answer);
}
