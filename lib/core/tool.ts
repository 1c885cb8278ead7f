import type { Tool } from "@modelcontextprotocol/sdk/types";
import { z } from "zod";
import type { Unchecked } from "./rpc.ts";
import { ServerName } from "./server.ts";

/** A tool as its server described it; only what the gateway itself reads is checked. */
export type ToolDefinition =
  & Unchecked<Tool>
  & Pick<Tool, "name" | "title" | "description">
  & { inputSchema: Pick<Tool["inputSchema"], "type"> & Record<string, unknown> };
export const ToolDefinition: z.ZodType<ToolDefinition> = z.looseObject({
  name: z.string().min(1),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: z.looseObject({ type: z.literal("object") }),
});

/** A found tool below this relevance, from 0 to 1, is unlikely to be the one that was meant. */
export const POOR_RELEVANCE = 0.1;

/** A tool that a caller called after a search. */
export interface SearchPick {
  query: string;
  /** `server.tool`. */
  key: string;
  times: number;
}

/** A toolset's name, which is also a part of its endpoint's path. */
export const ToolsetName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, {
  error: "A toolset name must have 1 to 64 letters, digits, _ or -",
});

/** One tool of a toolset, as it was when the toolset was saved. */
export const ToolReference = z.strictObject({
  server: ServerName,
  tool: z.string().min(1),
  /** Of its definition then; missing if the tool was not known. */
  fingerprint: z.string().optional(),
});
export type ToolReference = z.infer<typeof ToolReference>;

/** Tools of any servers under one name. */
export const Toolset = z.strictObject({
  /** Stays the same through changes; a new toolset under an old name has another. */
  id: z.string(),
  name: ToolsetName,
  description: z.string().max(500).optional(),
  tools: z.array(ToolReference).max(2_000),
  createdAt: z.number(),
  updatedAt: z.number(),
});
export type Toolset = z.infer<typeof Toolset>;
