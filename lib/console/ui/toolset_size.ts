import * as z from "zod/mini";

/** Cursor, for one, sends no more than this many tools to its model. */
export const MANY_TOOLS = 40;

/** A toolset holds no more than this. */
export const MOST_TOOLS = 2_000;

export const PickedTool = z.object({
  namespacedName: z.string(),
  server: z.string(),
  name: z.string(),
  summary: z.string(),
  /** Undefined until it has been counted. */
  tokens: z.optional(z.number()),
  /** Why it cannot be called now, where that is so. */
  note: z.optional(z.string()),
});
/** A tool that can be chosen for a toolset. */
export type PickedTool = z.infer<typeof PickedTool>;

/** What a choice of tools amounts to. */
export function sizeOf(tools: readonly PickedTool[]) {
  return {
    count: tools.length,
    tokens: tools.reduce((sum, { tokens = 0 }) => sum + tokens, 0),
    isCounted: tools.every(({ tokens, note }) => tokens !== undefined || note !== undefined),
    isLarge: tools.length > MANY_TOOLS,
    isTooLarge: tools.length > MOST_TOOLS,
  };
}
