import type { CreateMessageResult } from "@modelcontextprotocol/sdk/types";
import type { SampleModel } from "../../core/client.ts";
import type { Unchecked } from "../../core/rpc.ts";
import * as z from "zod";
import type { RunCost } from "../../core/optimization.ts";
import { errorMessage, GatewayError } from "../../core/errors.ts";
import { shortened } from "../../core/text.ts";
import { abortable } from "../../core/async.ts";

export interface TextRequest {
  system: string;
  prompt: string;
  maxTokens: number;
  signal: AbortSignal;
}

export interface TextAnswer {
  text: string;
  cost: RunCost;
}

export interface TextModel {
  readonly kind: "sampling" | "claude-cli" | "messages-api" | "openai-api";
  complete(request: TextRequest): Promise<TextAnswer>;
}

/** The cause of CANNOT_GENERATE if the model did not answer in time. */
export class ModelTimeout extends Error {}

/** Why there is no answer, if it did not come in time. */
export function timeoutOf(error: unknown): string | undefined {
  return error instanceof GatewayError && error.cause instanceof ModelTimeout
    ? error.cause.message
    : undefined;
}

const Text = z.looseObject({ type: z.literal("text"), text: z.string() });

/** What a client answers; several blocks where its protocol version knows them. */
const SamplingResult = z.looseObject({
  content: z.union([Text.transform((block) => [block]), z.array(Text)]),
  stopReason: z.string().nullish(),
});

/** The calling client's model, reached by sampling/createMessage. The client bears the cost. */
export function textModelFromSampling(
  sample: SampleModel,
): TextModel {
  return {
    kind: "sampling",
    async complete({ system, prompt, maxTokens, signal }) {
      signal.throwIfAborted();
      const asked = sample({
        messages: [{ role: "user", content: { type: "text", text: prompt } }],
        systemPrompt: system,
        maxTokens,
        // A text is written once and used many times: better is worth more than fast.
        modelPreferences: { intelligencePriority: 0.8, speedPriority: 0.3, costPriority: 0.3 },
      });
      // Rejects as soon as the signal does, whatever the client is still doing.
      const result = await abortable(asked, signal).catch((error) => {
        signal.throwIfAborted();
        if (error instanceof GatewayError && error.code === "CANNOT_GENERATE") throw error;
        throw cannotGenerate(`it did not respond: ${oneLine(errorMessage(error))}`, error);
      });
      return { text: textOf(result), cost: { inputTokens: 0, outputTokens: 0 } };
    },
  };
}

function textOf(result: Unchecked<CreateMessageResult>): string {
  if (result.stopReason === "refusal") throw cannotGenerate("it refused the request");
  const parsed = SamplingResult.safeParse(result);
  if (!parsed.success) {
    throw cannotGenerate(`its response is not text: ${oneLine(z.prettifyError(parsed.error))}`);
  }
  const text = parsed.data.content.map((block) => block.text).join("");
  if (text.trim() === "") throw cannotGenerate("its response is empty");
  return text;
}

function oneLine(text: string): string {
  return shortened(text.replace(/\s+/g, " ").trim(), 300);
}

function cannotGenerate(why: string, cause?: unknown): GatewayError {
  return new GatewayError("CANNOT_GENERATE", {
    message: `Cannot generate with the calling client's own model: ${why}`,
    recoveryAction: "Allow sampling for this gateway in the client and try again, or write the " +
      "prompts and descriptions yourself",
    cause,
  });
}
