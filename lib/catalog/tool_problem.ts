import { shortened } from "../core/shortened.ts";
import type { BrokenTool } from "./catalog_tool.ts";

/** Why a listed thing is no valid tool, for a person to read. */
export function problemInWords({ text, problem }: Pick<BrokenTool, "text" | "problem">): string {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) return "It is not an object";
  const { name, title, description, inputSchema } = value;
  if (name === undefined || name === "") return "It has no name";
  if (typeof name !== "string") return "Its name is not a text";
  if (title !== undefined && typeof title !== "string") return "Its title is not a text";
  if (description !== undefined && typeof description !== "string") {
    return "Its description is not a text";
  }
  if (inputSchema === undefined) return "It has no input schema";
  if (!isRecord(inputSchema)) return "Its input schema is not an object";
  if (inputSchema.type === undefined) {
    return 'Its input schema has no type; it must be "object"';
  }
  if (inputSchema.type !== "object") {
    const type = shortened(JSON.stringify(inputSchema.type), 60);
    return `Its input schema has the type ${type}; it must be "object"`;
  }
  if (/twice/.test(problem)) return "Another tool of this server has the same name";
  return problem.charAt(0).toUpperCase() + problem.slice(1);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
