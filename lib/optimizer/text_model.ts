import type { RunCost } from "../core/optimization.ts";

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

/** A model that writes. */
export interface TextModel {
  /** `sampling`: the calling client's own model. */
  readonly kind: "sampling" | "claude-cli" | "messages-api";
  /** Throws CANNOT_GENERATE, with what to do about it. */
  complete(request: TextRequest): Promise<TextAnswer>;
}
