import { z } from "zod";

/** A tool as its server described it. Loose: what we do not know passes through unchanged. */
export const ToolDefinition = z.looseObject({
  name: z.string().min(1),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: z.looseObject({ type: z.literal("object") }),
});
export type ToolDefinition = z.infer<typeof ToolDefinition>;
