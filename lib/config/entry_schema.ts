import { findNodeAtLocation, getNodeValue, type Node } from "jsonc-parser";
import { z } from "zod";
import { members } from "./json_document.ts";
import { nearest } from "../core/text.ts";
import { CallMode, ChangePolicy, ServerTrust } from "../core/server.ts";

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
  "startTimeoutMs",
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

function isEntryKey(key: unknown): key is EntryKey {
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

// Ignoring these silently would surprise their author.
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

const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);

const MIN_TIMEOUT_MS = 100;
const MAX_TIMEOUT_MS = 86_400_000;

const ToolPatterns = z.array(z.string().min(1).max(128)).max(200);

// VS Code lets a variable be a number, or null to leave it out.
const EntryShape = z.object({
  type: z.string(),
  command: z.string().trim().min(1),
  args: z.array(z.string()),
  env: z.record(z.string(), scalar.or(z.null())),
  envFile: z.string().min(1),
  cwd: z.string().min(1),
  url: z.string().trim().min(1),
  headers: z.record(z.string(), scalar),
  disabled: z.boolean(),
  enabled: z.boolean(),
  timeout: z.number().positive().max(MAX_TIMEOUT_MS),
  timeoutMs: z.int().min(MIN_TIMEOUT_MS).max(MAX_TIMEOUT_MS),
  startTimeoutMs: z.int().min(MIN_TIMEOUT_MS).max(MAX_TIMEOUT_MS),
  lazy: z.boolean(),
  // Gemini's is true or false, and says whether it asks before a call: nothing to do here.
  trust: ServerTrust.or(z.boolean()),
  changes: ChangePolicy,
  mode: CallMode,
  readOnlyTools: ToolPatterns,
  writingTools: ToolPatterns,
  callsPerMinute: z.int().min(1).max(1_000_000),
  maxConcurrent: z.int().min(1).max(10_000),
  maxResultTokens: z.int().min(100).max(10_000_000),
}).partial();

/** A server's entry with the right types, its placeholders not yet replaced. */
export type Entry = z.infer<typeof EntryShape>;

const MUST: Record<EntryKey, { whole: string; part?: string; example: string }> = {
  type: { whole: "text", example: '"type": "stdio"' },
  command: { whole: "text", example: '"command": "npx", with the rest under "args"' },
  args: { whole: "a list of text", part: "text", example: '"args": ["-y", "some-package"]' },
  env: { whole: "an object of text", part: "text", example: '"env": { "NAME": "value" }' },
  envFile: { whole: "a path", example: '"envFile": ".env"' },
  cwd: { whole: "a path", example: '"cwd": "${workspaceFolder}"' },
  url: { whole: "text", example: '"url": "https://example.com/mcp"' },
  headers: {
    whole: "an object of text",
    part: "text",
    example: '"headers": { "Authorization": "Bearer ${TOKEN}" }',
  },
  disabled: { whole: "true or false", example: '"disabled": true' },
  enabled: { whole: "true or false", example: '"enabled": false' },
  timeout: { whole: "a number up to a day", example: '"timeout": 60000' },
  timeoutMs: { whole: "a whole number from 100 to 86400000", example: '"timeoutMs": 60000' },
  startTimeoutMs: {
    whole: "a whole number from 100 to 86400000",
    example: '"startTimeoutMs": 120000',
  },
  lazy: { whole: "true or false", example: '"lazy": true' },
  trust: { whole: '"trusted" or "untrusted"', example: '"trust": "untrusted"' },
  changes: { whole: '"hold", "notify" or "allow"', example: '"changes": "hold"' },
  mode: { whole: '"all", "read-only" or "confirm"', example: '"mode": "read-only"' },
  readOnlyTools: {
    whole: "a list of up to 200 names or patterns",
    part: "text of 1 to 128 characters",
    example: '"readOnlyTools": ["list_*", "get_page"]',
  },
  writingTools: {
    whole: "a list of up to 200 names or patterns",
    part: "text of 1 to 128 characters",
    example: '"writingTools": ["run_query", "delete_*"]',
  },
  callsPerMinute: {
    whole: "a whole number from 1 to 1000000",
    example: '"callsPerMinute": 60',
  },
  maxConcurrent: { whole: "a whole number from 1 to 10000", example: '"maxConcurrent": 4' },
  maxResultTokens: {
    whole: "a whole number from 100 to 10000000",
    example: '"maxResultTokens": 20000',
  },
};

/** Checks the types; `fail` hears of each value that is wrong, and then there is no entry. */
export function parseEntry(
  values: ReadonlyMap<EntryKey, Node>,
  fail: (at: Node, message: string, fix: string) => void,
): Entry | undefined {
  const parsed = EntryShape.safeParse(
    Object.fromEntries(Array.from(values, ([key, node]) => [key, getNodeValue(node)])),
  );
  if (parsed.success) return parsed.data;
  for (const { path: [key, ...rest] } of parsed.error.issues) {
    const node = isEntryKey(key) ? values.get(key) : undefined;
    if (!isEntryKey(key) || node === undefined) continue;
    const { whole, part, example } = MUST[key];
    const inner = rest.filter((step) => typeof step !== "symbol");
    const must = inner.length > 0 ? part ?? whole : whole;
    fail(
      findNodeAtLocation(node, inner) ?? node,
      `has a wrong value at ${fieldPath(key, ...inner)}: it must be ${must}`,
      `Write it as ${example}`,
    );
  }
  return undefined;
}

/** The time limit in ms. Claude Code writes ms, Cline seconds: nobody means less than a second. */
export function timeoutOf({ timeout, timeoutMs }: Entry): number | undefined {
  if (timeoutMs !== undefined || timeout === undefined) return timeoutMs;
  const written = timeout < 1000 ? timeout * 1000 : timeout;
  return Math.max(MIN_TIMEOUT_MS, Math.round(written));
}

/** What the entry says of calls to the server, and nothing else. */
export function controlOf(entry: Entry) {
  const { mode, readOnlyTools, writingTools, callsPerMinute, maxConcurrent, maxResultTokens } =
    entry;
  return {
    ...(mode === undefined ? {} : { mode }),
    ...(readOnlyTools === undefined ? {} : { readOnlyTools }),
    ...(writingTools === undefined ? {} : { writingTools }),
    ...(callsPerMinute === undefined ? {} : { callsPerMinute }),
    ...(maxConcurrent === undefined ? {} : { maxConcurrent }),
    ...(maxResultTokens === undefined ? {} : { maxResultTokens }),
  };
}

/** `args[1]`, `env.TOKEN`: how messages name a place inside an entry. */
export function fieldPath(key: string, ...rest: readonly (string | number)[]): string {
  return key + rest.map((step) => typeof step === "number" ? `[${step}]` : `.${step}`).join("");
}
