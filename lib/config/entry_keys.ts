import type { Node } from "jsonc-parser";
import { members } from "./json_document.ts";
import { nearest } from "../core/nearest.ts";

// What of a server's entry the gateway acts on.
const ENTRY_KEYS = [
  "type",
  "command",
  "args",
  "env",
  "envFile",
  "cwd",
  "url",
  "headers",
  "disabled",
  "enabled",
  "timeout",
  "timeoutMs",
  "lazy",
  "trust",
  "changes",
  "mode",
  "readOnlyTools",
  "writingTools",
  "callsPerMinute",
  "maxConcurrent",
  "maxResultTokens",
] as const;
export type EntryKey = (typeof ENTRY_KEYS)[number];

export function isEntryKey(key: unknown): key is EntryKey {
  return ENTRY_KEYS.some((known) => known === key);
}

// What some clients call it.
const ALIASES = new Map<string, EntryKey>([
  ["transport", "type"],
  ["transportType", "type"],
  ["serverUrl", "url"],
  ["httpUrl", "url"],
]);

// These steer how a client behaves toward its user, or describe the server: nothing to do here.
const CLIENT_ONLY = new Set([
  ...["alwaysAllow", "autoApprove", "alwaysLoad", "networkTimeout"],
  ...["description", "name", "title", "icon", "note", "dev", "gallery", "version", "watchPaths"],
]);

// Leaving these out without a word would surprise whoever wrote them.
const UNSUPPORTED = new Map([
  ["headersHelper", 'Write the headers under "headers", with variables for what is secret'],
  ["oauth", "Sign in to the server from the console"],
  ["auth", "Sign in to the server from the console"],
  ["sandbox", "Sandbox the command itself"],
  ["sandboxEnabled", "Sandbox the command itself"],
  ...["disabledTools", "enabledTools", "includeTools", "excludeTools"].map((key) =>
    [key, "Enable and disable tools in the console, or with a toolset"] as const
  ),
]);

export type Warn = (node: Node, message: string, fix: string) => void;

/** The entry's values by the gateway's own names of the keys. */
export function entryValues(entry: Node, server: string, warn: Warn): Map<EntryKey, Node> {
  const found = new Map<EntryKey, Node>();
  for (const { name, key, value } of members(entry)) {
    const known = isEntryKey(name) ? name : ALIASES.get(name);
    if (known !== undefined) {
      if (found.has(known)) {
        warn(key, `server "${server}" has "${known}" twice; the last counts`, "Remove one of them");
      }
      found.set(known, value);
      continue;
    }
    if (CLIENT_ONLY.has(name)) continue;
    const unsupported = UNSUPPORTED.get(name);
    if (unsupported !== undefined) {
      warn(key, `server "${server}": "${name}" is not supported here`, unsupported);
      continue;
    }
    const guess = nearest(name, [...ENTRY_KEYS, ...ALIASES.keys()]);
    const fix = guess === undefined ? "Remove it" : `Did you mean "${guess}"?`;
    warn(key, `server "${server}" has the unknown key "${name}"`, fix);
  }
  return found;
}
