import type { ToolDefinition } from "../../core/tool.ts";

/** A tool that texts are written for, and what it stands beside. */
export interface SubjectTool {
  server: string;
  /** The server's own name for it. */
  name: string;
  description: string;
  definition: ToolDefinition;
  /** The other tools a model would see with it, by their own names. */
  siblings: { name: string; description: string }[];
}
