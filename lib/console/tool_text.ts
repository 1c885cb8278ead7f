import type { ToolDefinition } from "../core/tool.ts";

/** Longer ones are cut in lists, where a row has one line; the tool's page has them whole. */
const SUMMARY_LENGTH = 240;

/** The first paragraph of a tool's description, on one line and not too long for a list. */
export function toolSummary(tool: ToolDefinition): string {
  const text = (tool.description ?? tool.title ?? "").trim();
  const paragraph = text.slice(0, 4 * SUMMARY_LENGTH).split(/\n\s*\n/, 1)[0] ?? "";
  return cutText(paragraph.replaceAll(/\s+/g, " "), SUMMARY_LENGTH);
}

/** Cuts by whole characters and says so with an ellipsis. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${Array.from(text.slice(0, length * 2)).slice(0, length - 1).join("").trimEnd()}…`;
}

/** Splits what a person typed into words that must all be found. */
export function searchWords(query: string): string[] {
  return query.toLowerCase().slice(0, 200).split(/\s+/).filter((word) => word !== "");
}

export function matchesWords(words: readonly string[], ...texts: (string | undefined)[]): boolean {
  if (words.length === 0) return true;
  const haystack = texts.filter((text) => text !== undefined).join("\n").toLowerCase();
  return words.every((word) => haystack.includes(word));
}
