import * as z from "zod/mini";
import { ApiError, askApi } from "./ask_api.ts";
import type { FormError } from "./form_error.ts";
import type { FieldProblem, TryWords } from "./try_fields.ts";

const CutText = z.object({
  text: z.string(),
  /** How many bytes it has in all, where it was cut. */
  cutFrom: z.optional(z.number()),
});
/** A text that may have been too long to show. */
export type CutText = z.infer<typeof CutText>;

const TryPart = z.union([
  z.extend(CutText, { kind: z.literal("text") }),
  z.object({ kind: z.literal("image"), url: z.string(), mimeType: z.string() }),
  z.extend(CutText, { kind: z.literal("other"), type: z.string() }),
]);
export type TryPart = z.infer<typeof TryPart>;

const TryOutcome = z.object({
  isError: z.boolean(),
  ms: z.number(),
  /** Of the whole answer. */
  bytes: z.number(),
  parts: z.array(TryPart),
  /** How many parts are not shown. */
  more: z.number(),
  structured: z.optional(CutText),
  request: CutText,
  response: CutText,
  /** What the server said before its answer. */
  messages: z.array(CutText),
});
/** What came of a call, as it is shown. */
export type TryOutcome = z.infer<typeof TryOutcome>;

/** A call that was tried: what was written, and what came of it. */
export interface TriedTool {
  words: TryWords;
  problems?: FieldProblem[];
  outcome?: TryOutcome;
  error?: FormError;
}

/** Has a tool called; what goes wrong is an outcome as well. */
export async function askToTry(
  { server, tool, ...call }: {
    server: string;
    tool: string;
    arguments: Record<string, unknown>;
    confirmed: boolean;
  },
  signal: AbortSignal,
): Promise<Pick<TriedTool, "outcome" | "error">> {
  try {
    const path = [server, tool].map(encodeURIComponent).join("/");
    const answer = await askApi(`/api/tools/${path}/call`, call, signal);
    return { outcome: z.object({ outcome: TryOutcome }).parse(answer).outcome };
  } catch (error) {
    return { error: ApiError.from(error).details };
  }
}
