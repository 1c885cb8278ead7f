import * as z from "zod/mini";
import { ApiError, askApi } from "./ask_api.ts";
import { FormError } from "./form_error.ts";

const AddOutcome = z.union([
  z.object({ ok: z.literal(true), text: z.string() }),
  z.object({ ok: z.literal(false), error: FormError }),
]);
/** What came of adding a server. */
export type AddOutcome = z.infer<typeof AddOutcome>;

const FoundServer = z.object({
  name: z.string(),
  /** Its address or command, without secrets. */
  line: z.string(),
  /** Why it cannot be added, with what to do. */
  problem: z.optional(z.string()),
  notes: z.array(z.string()),
  isChosen: z.boolean(),
  outcome: z.optional(AddOutcome),
});
/** One of several servers that were pasted. */
export type FoundServer = z.infer<typeof FoundServer>;

const Recognized = z.union([
  z.object({ kind: z.string(), servers: z.array(FoundServer) }),
  z.object({ error: FormError }),
]);
/** What a text has, or why it cannot be read. */
export type Recognized = z.infer<typeof Recognized>;

/** Asks what a text has, while it is written. */
export async function askRecognized(text: string, signal: AbortSignal): Promise<Recognized> {
  return Recognized.parse(await askApi("/api/servers/~read", { text }, signal));
}

/** Has one of the servers in a text added; what goes wrong is an outcome as well. */
export async function askToAdd(text: string, server: string): Promise<AddOutcome> {
  try {
    const answer = await askApi("/api/servers/~import", { text, server });
    return z.object({ outcome: AddOutcome }).parse(answer).outcome;
  } catch (error) {
    return { ok: false, error: ApiError.from(error).details };
  }
}
