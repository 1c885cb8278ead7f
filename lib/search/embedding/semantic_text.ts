import { createHash } from "node:crypto";
import { nameArguments } from "../arguments_in_text.ts";
import type { SearchDocument } from "../search_document.ts";

/** The beginning says what a tool does; the model's time grows with the length. */
const MOST_CHARS = 150;
const MOST_QUERY_CHARS = 600;

export function toolText({ name, description }: SearchDocument): string {
  return `${spaced(name)}. ${description}`.slice(0, MOST_CHARS).toWellFormed();
}

/** What is said of the tool's server; empty where that is only its name. */
export function serverText({ server, serverTitle, serverDescription }: SearchDocument): string {
  if (!serverTitle && !serverDescription) return "";
  return `${serverTitle ?? server}. ${serverDescription ?? ""}`.slice(0, MOST_CHARS).toWellFormed();
}

export function queryText(query: string): string {
  const text = nameArguments(query.slice(0, 4 * MOST_QUERY_CHARS)).replace(/\s+/g, " ");
  return text.trim().slice(0, MOST_QUERY_CHARS).toWellFormed();
}

export function textHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

function spaced(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .replace(/[_\-./]+/g, " ");
}
