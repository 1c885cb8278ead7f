import { findNodeAtLocation, getNodeValue, type Node } from "jsonc-parser";
import * as z from "zod";
import { members } from "./json_document.ts";
import { unknownFix } from "./files.ts";
import { Isolation, ownerFields, type ServerSpec, ServerTrust } from "../core/server.ts";

const MIN_TIMEOUT_MS = 100;
const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);

/** How a field is to be written, for its error message; `part` is one value inside it. */
const notes = z.registry<{ must: string; example: string; part?: string }>();

function field<T extends z.ZodType>(schema: T, must: string, example: string, part = must): T {
  notes.add(schema, { must, example, part });
  return schema;
}

const ON_OFF = "true or false";
const LIMIT_MS = "a whole number from 100 to 86400000";
const PATTERNS = "a list of up to 200 names or patterns";
const PATTERN = "a string of 1 to 128 characters";

const FIELDS = {
  type: field(z.string(), "a string", '"type": "stdio"'),
  command: field(
    z.string().trim().min(1),
    "a string",
    '"command": "npx", with the rest under "args"',
  ),
  args: field(
    z.array(z.string()),
    "a list of strings",
    '"args": ["-y", "some-package"]',
    "a string",
  ),
  // VS Code lets a variable be a number, or null to leave it out.
  env: field(
    z.record(z.string(), scalar.or(z.null())),
    "an object with string values",
    '"env": { "NAME": "value" }',
    "a string",
  ),
  envFile: field(z.string().min(1), "a path", '"envFile": ".env"'),
  cwd: field(z.string().min(1), "a path", '"cwd": "${workspaceFolder}"'),
  url: field(z.string().trim().min(1), "a string", '"url": "https://example.com/mcp"'),
  headers: field(
    z.record(z.string(), scalar),
    "an object with string values",
    '"headers": { "Authorization": "Bearer ${TOKEN}" }',
    "a string",
  ),
  disabled: field(ownerFields.disabled, ON_OFF, '"disabled": true'),
  enabled: field(z.boolean(), ON_OFF, '"enabled": false'),
  timeout: field(
    z.number().positive().max(86_400_000),
    "a number of milliseconds, at most 86400000 (one day)",
    '"timeout": 60000',
  ),
  timeoutMs: field(ownerFields.timeoutMs, LIMIT_MS, '"timeoutMs": 60000'),
  maxTimeoutMs: field(ownerFields.maxTimeoutMs, LIMIT_MS, '"maxTimeoutMs": 3600000'),
  startTimeoutMs: field(ownerFields.startTimeoutMs, LIMIT_MS, '"startTimeoutMs": 120000'),
  lazy: field(z.boolean(), ON_OFF, '"lazy": true'),
  pin: field(z.boolean(), ON_OFF, '"pin": false'),
  isolation: field(
    Isolation,
    'an object with "kind" ("none", "sandbox" or "container") and optionally "read", "write", "net" and "image"',
    '"isolation": { "kind": "sandbox", "write": ["notes"], "net": ["api.example.com"] }',
    "of the form in the example",
  ),
  instance: field(
    ownerFields.instance,
    '"shared", "client" or "root"',
    '"instance": "client"',
  ),
  idleTimeoutMs: field(
    ownerFields.idleTimeoutMs,
    "a whole number of milliseconds from 1000 to 86400000 (one day)",
    '"idleTimeoutMs": 600000',
  ),
  // Gemini's is true or false, and says whether it asks before a call: nothing to do here.
  trust: field(
    ServerTrust.or(z.boolean()),
    '"trusted", "normal" or "untrusted"',
    '"trust": "untrusted"',
  ),
  changes: field(ownerFields.changes, '"hold", "notify" or "allow"', '"changes": "hold"'),
  mode: field(ownerFields.mode, '"all", "read-only" or "confirm"', '"mode": "read-only"'),
  readOnlyTools: field(
    ownerFields.readOnlyTools,
    PATTERNS,
    '"readOnlyTools": ["list_*", "get_page"]',
    PATTERN,
  ),
  writingTools: field(
    ownerFields.writingTools,
    PATTERNS,
    '"writingTools": ["run_query", "delete_*"]',
    PATTERN,
  ),
  callsPerMinute: field(
    ownerFields.callsPerMinute,
    "a whole number from 1 to 1000000",
    '"callsPerMinute": 60',
  ),
  maxConcurrent: field(
    ownerFields.maxConcurrent,
    "a whole number from 1 to 10000",
    '"maxConcurrent": 4',
  ),
  maxResultTokens: field(
    ownerFields.maxResultTokens,
    "a whole number from 100 to 10000000",
    '"maxResultTokens": 20000',
  ),
  answers: field(ownerFields.answers, '"off", "mark" or "block"', '"answers": "block"'),
};

const Entry = z.object(FIELDS).partial();
export type Entry = z.infer<typeof Entry>;
export type EntryKey = keyof Entry;

function isEntryKey(key: unknown): key is EntryKey {
  return typeof key === "string" && Object.hasOwn(FIELDS, key);
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
  ["headersHelper", 'Write the headers under "headers", with variables for secrets'],
  ["oauth", "Log in to the server from the console"],
  ["auth", "Log in to the server from the console"],
  ["sandbox", 'Write "isolation": { "kind": "sandbox" }'],
  ["sandboxEnabled", 'Write "isolation": { "kind": "sandbox" }'],
  ...["disabledTools", "enabledTools", "includeTools", "excludeTools"].map((key) =>
    [key, "Enable and disable tools in the console, or with a toolset"] as const
  ),
]);

type Warn = (node: Node, message: string, fix: string) => void;

export function entryValues(entry: Node, server: string, warn: Warn): Map<EntryKey, Node> {
  const found = new Map<EntryKey, Node>();
  for (const { name, key, value } of members(entry)) {
    const known = isEntryKey(name) ? name : ALIASES.get(name);
    if (known !== undefined) {
      if (found.has(known)) {
        warn(
          key,
          `server "${server}" has "${known}" twice; the last one is used`,
          "Remove one of them",
        );
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
    const fix = unknownFix(name, [...Object.keys(FIELDS), ...ALIASES.keys()]);
    warn(key, `server "${server}" has the unknown key "${name}"`, fix);
  }
  return found;
}

/** Checks the types; `fail` hears of each value that is wrong, and then there is no entry. */
export function parseEntry(
  values: ReadonlyMap<EntryKey, Node>,
  fail: (at: Node, message: string, fix: string) => void,
): Entry | undefined {
  const parsed = Entry.safeParse(
    Object.fromEntries(Array.from(values, ([key, node]) => [key, getNodeValue(node)])),
  );
  if (parsed.success) return parsed.data;
  for (const { path: [key, ...rest] } of parsed.error.issues) {
    const node = isEntryKey(key) ? values.get(key) : undefined;
    if (!isEntryKey(key) || node === undefined) continue;
    const { must, part, example } = notes.get(FIELDS[key])!;
    const inner = rest.filter((step) => typeof step !== "symbol");
    fail(
      findNodeAtLocation(node, inner) ?? node,
      `has an invalid value at ${fieldPath(key, ...inner)}: it must be ${
        inner.length > 0 ? part : must
      }`,
      `Write it as ${example}`,
    );
  }
  return undefined;
}

/** The entry's part that says nothing of how the server is reached. */
export function ownerFieldsOf(entry: Entry): Partial<ServerSpec> {
  const { disabled, enabled, trust } = entry;
  const fields: Entry = {
    ...entry,
    disabled: disabled || enabled === false || undefined,
    timeoutMs: timeoutOf(entry),
    trust: typeof trust === "string" ? trust : undefined,
  };
  const keys = Object.keys(ownerFields) as (keyof typeof ownerFields)[];
  return Object.fromEntries(
    keys.flatMap((key) => fields[key] === undefined ? [] : [[key, fields[key]]]),
  );
}

/** In ms. Claude Code writes ms, Cline seconds: nobody means less than a second. */
function timeoutOf({ timeout, timeoutMs }: Entry): number | undefined {
  if (timeoutMs !== undefined || timeout === undefined) return timeoutMs;
  return Math.max(MIN_TIMEOUT_MS, Math.round(timeout < 1000 ? timeout * 1000 : timeout));
}

/** `args[1]`, `env.TOKEN`: how messages name a place inside an entry. */
export function fieldPath(key: string, ...rest: readonly (string | number)[]): string {
  return key + rest.map((step) => typeof step === "number" ? `[${step}]` : `.${step}`).join("");
}
