import { z } from "zod";

export const ToolsetSummary = z.object({
  name: z.string(),
  description: z.string().optional(),
  toolCount: z.int(),
  /** How many of them can be called now. */
  registered: z.int(),
  tokens: z.int(),
  createdAt: z.number(),
  updatedAt: z.number(),
  warnings: z.array(z.string()),
});
export type ToolsetSummary = z.infer<typeof ToolsetSummary>;

export const ToolsetTool = z.object({
  namespacedName: z.string(),
  /** What it is called at the doors, where it is registered. */
  name: z.string().optional(),
  state: z.enum(["registered", "waiting", "disabled", "gone"]),
  note: z.string().optional(),
  tokens: z.int().optional(),
  change: z.object({
    savedVersion: z.int().optional(),
    currentVersion: z.int().optional(),
    compatibility: z.enum(["compatible", "breaking", "unknown"]),
    reasons: z.array(z.string()),
  }).optional(),
});
export type ToolsetTool = z.infer<typeof ToolsetTool>;

export const ToolsetDetail = ToolsetSummary.extend({ tools: z.array(ToolsetTool) });
export type ToolsetDetail = z.infer<typeof ToolsetDetail>;

export const ToolsetList = z.object({
  toolsets: z.array(ToolsetSummary),
  equipped: z.string().nullable(),
});
export type ToolsetList = z.infer<typeof ToolsetList>;

export const ImportReport = z.object({
  saved: z.array(z.string()),
  toolsets: z.array(z.object({
    name: z.string(),
    /** What the file calls it, where that cannot be its name here. */
    wasNamed: z.string().optional(),
    toolCount: z.int(),
    unmatched: z.array(z.object({
      written: z.string(),
      reason: z.string(),
      nearest: z.array(z.string()),
    })),
    /** Why it was not saved. */
    problem: z.string().optional(),
  })),
});
export type ImportReport = z.infer<typeof ImportReport>;
