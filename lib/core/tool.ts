import type { Tool } from "@modelcontextprotocol/sdk/types";
import * as z from "zod";
import type { Unchecked } from "./rpc.ts";
import { ServerName } from "./server.ts";

const flag = z.boolean().optional();
const text = z.string().optional();
const ANNOTATIONS = z.looseObject({
  title: text,
  readOnlyHint: flag,
  destructiveHint: flag,
  idempotentHint: flag,
  openWorldHint: flag,
});
const ICON = z.looseObject({
  src: z.string(),
  mimeType: text,
  sizes: z.array(z.string()).optional(),
  theme: z.enum(["light", "dark"]).optional(),
});

/**
 * A tool as its server described it. One that a client of the SDK 2 refuses would cost it the whole
 * list, so this refuses the same; only the insides of schemas are not looked at, because that takes 70
 * times as long. The SDK 1 also refuses an output schema that is not of an object, which 2026-07-28
 * allows: its clients get the tool without it (lib/mcp/older_output.ts).
 */
export type ToolDefinition =
  & Unchecked<Tool>
  & Pick<Tool, "name" | "title" | "description">
  & { inputSchema: Pick<Tool["inputSchema"], "type"> & Record<string, unknown> };
export const ToolDefinition: z.ZodType<ToolDefinition> = z.looseObject({
  name: z.string().min(1),
  title: text,
  description: text,
  inputSchema: z.looseObject({
    type: z.literal("object"),
    properties: z.record(z.string(), z.unknown()).optional(),
    required: z.array(z.string()).optional(),
  }),
  outputSchema: z.looseObject({ $schema: text }).optional(),
  annotations: ANNOTATIONS.optional(),
  icons: z.array(ICON).optional(),
  execution: z.looseObject({
    taskSupport: z.enum(["required", "optional", "forbidden"]).optional(),
  })
    .optional(),
  _meta: z.record(z.string(), z.unknown()).optional(),
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
