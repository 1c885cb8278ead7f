import * as z from "zod";

/** Where texts came from, or who judged. `caller`: an MCP client that reported by itself. */
export const EvaluatorKind = z.enum(["claude-cli", "messages-api", "openai-api", "caller"]);
export type EvaluatorKind = z.infer<typeof EvaluatorKind>;

/** A model with what asks it, such as `claude-cli:sonnet` or `openai-api:gpt-5-mini`. */
export const ModelRef = z.string().refine(
  (ref) => /^(claude-cli|messages-api|openai-api):\S.{0,200}$/.test(ref),
  "must be EVALUATOR:MODEL",
);
export const ModelRefs = z.array(ModelRef)
  .refine(({ length }) => length >= 1 && length <= 8, "must be 1 to 8 models");

export function modelRef({ kind, model }: { kind: EvaluatorKind; model: string }): string {
  return `${kind}:${model}`;
}

/** Throws if it is none. */
export function parseModelRef(ref: string): { kind: EvaluatorKind; model: string } {
  const [kind = ""] = ref.split(":", 1);
  return { kind: EvaluatorKind.parse(kind), model: ref.slice(kind.length + 1) };
}
