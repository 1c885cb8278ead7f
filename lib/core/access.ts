import * as z from "zod";
import { CallMode, ServerName } from "./server.ts";

/**
 * Each lets its owner list what its scope admits, and none brings another along: the gateway's own
 * tools, to find and call others by, need `read` as well.
 */
export const RIGHTS = ["read", "call", "manage", "optimize"] as const;
export type Right = (typeof RIGHTS)[number];

/** `git`, `git*`, `git.status`, `*.read_*`; a leading `!` excludes matches. */
export const Pattern = z.string().regex(/^!?[A-Za-z0-9_*.:/-]{1,128}$/, {
  error:
    "Use letters, digits, _ - . : / and * (any text) in a pattern; a leading ! excludes matches",
});

const Patterns = z.array(Pattern).min(1).max(200);

export const AccessScope = z.strictObject({
  rights: z.array(z.enum(RIGHTS)).min(1),
  servers: Patterns.default(["*"]),
  toolsets: Patterns.default(["*"]),
  /** Over `server.tool`. */
  tools: Patterns.default(["*"]),
});
export type AccessScope = z.infer<typeof AccessScope>;

/** How many calls may be made, and which; the strictest of token, toolset and server counts. */
export const CallLimit = z.strictObject({
  perMinute: z.int().min(1).max(1_000_000).optional().describe("Calls per minute"),
  concurrent: z.int().min(1).max(10_000).optional().describe("Concurrent calls"),
  mode: CallMode.optional().describe(
    "Allowed calls: all, confirm (a person approves changes) or read-only; the strictest of " +
      "token, toolset and server applies",
  ),
});
export type CallLimit = z.infer<typeof CallLimit>;

/** The stricter of two limits in each field; undefined if nothing is limited. */
export function stricterLimit(
  one: CallLimit | undefined,
  other: CallLimit | undefined,
): CallLimit | undefined {
  const limit: Record<string, unknown> = {};
  for (const field of CallLimit.keyof().options) {
    const values = [one?.[field], other?.[field]].filter((value) => value !== undefined);
    // Modes are declared from the most permissive to the strictest.
    const [first] = values.sort((a, b) =>
      typeof a === "number" && typeof b === "number"
        ? a - b
        : CallMode.options.findIndex((mode) => mode === b) -
          CallMode.options.findIndex((mode) => mode === a)
    );
    if (first !== undefined) limit[field] = first;
  }
  return Object.keys(limit).length === 0 ? undefined : CallLimit.parse(limit);
}

export function describeLimit({ perMinute, concurrent, mode }: CallLimit = {}): string[] {
  return [
    ...(perMinute === undefined ? [] : [`${perMinute} calls per minute`]),
    ...(concurrent === undefined ? [] : [`${concurrent} at once`]),
    ...(mode === undefined ? [] : [`mode ${mode}`]),
  ];
}

export const ProjectName = ServerName.describe("Project name");

/** A stored token: only the hash of its text, which is shown once. */
export const AccessToken = z.strictObject({
  id: z.string().regex(/^[a-z0-9]{8,32}$/),
  name: z.string().trim().min(1).max(80),
  /** SHA-256 of the text, in hex. */
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  scope: AccessScope,
  project: ProjectName.optional(),
  limit: CallLimit.optional(),
  createdAt: z.number(),
  expiresAt: z.number().optional(),
  lastUsedAt: z.number().optional(),
});
export type AccessToken = z.infer<typeof AccessToken>;

/** A token before the gateway has given it an id and a text. */
export type NewToken = Omit<AccessToken, "id" | "hash" | "createdAt" | "lastUsedAt">;

/** Servers that belong together; one in no project is in all of them. */
export const Project = z.strictObject({
  name: ProjectName,
  description: z.string().max(400).optional(),
  servers: z.array(ServerName).max(1_000),
  createdAt: z.number(),
});
export type Project = z.infer<typeof Project>;

export const ConsoleLogin = z.strictObject({
  /** SHA-256 of the cookie's value, in hex. */
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  principal: z.string(),
  createdAt: z.number(),
  expiresAt: z.number(),
});
export type ConsoleLogin = z.infer<typeof ConsoleLogin>;

/** What patterns admit, and what those with `!` exclude. */
export function splitPatterns(patterns: readonly string[]): [wanted: string[], excluded: string[]] {
  const { wanted = [], excluded = [] } = Object.groupBy(
    patterns,
    (pattern) => pattern.startsWith("!") ? "excluded" : "wanted",
  );
  return [wanted, excluded.map((pattern) => pattern.slice(1))];
}

/** Whether a name is admitted: by one pattern, and kept out by none. */
export function matcherOf(patterns: readonly string[]): (name: string) => boolean {
  const [wanted, out] = splitPatterns(patterns);
  if (out.length === 0 && wanted.includes("*")) return () => true;
  return (name) =>
    (wanted.length === 0 || wanted.some((pattern) => isMatch(pattern, name))) &&
    !out.some((pattern) => isMatch(pattern, name));
}

/** Whether a server can have tools that are admitted: what else it has goes with them. */
export function serverMatcherOf(tools: readonly string[]): (server: string) => boolean {
  const [wanted, out] = splitPatterns(tools);
  return (server) =>
    (wanted.length === 0 || wanted.some((pattern) => couldBegin(pattern, `${server}.`))) &&
    // A name that no tool has: what matches it matches all of them.
    !out.some((pattern) => isMatch(pattern, `${server}.\u{10ffff}`));
}

/** Whether something longer than the text, that begins with it, can match. */
function couldBegin(pattern: string, text: string): boolean {
  let places = new Set([0]);
  for (const letter of text) {
    const next = new Set<number>();
    for (const place of withStars(pattern, places)) {
      if (pattern[place] === "*") next.add(place);
      else if (pattern[place] === letter) next.add(place + 1);
    }
    places = next;
  }
  return [...withStars(pattern, places)].some((place) => place < pattern.length);
}

/** A star can stand for nothing. */
function withStars(pattern: string, places: ReadonlySet<number>): Set<number> {
  const all = new Set(places);
  for (const place of all) if (pattern[place] === "*") all.add(place + 1);
  return all;
}

/** Goes back to the last star alone, so that no pattern takes longer than its length times the name's. */
export function isMatch(pattern: string, name: string): boolean {
  let [at, from, star, retry] = [0, 0, -1, 0];
  while (from < name.length) {
    if (pattern[at] === "*") {
      star = at++;
      retry = from;
    } else if (pattern[at] === name[from]) {
      at++;
      from++;
    } else if (star >= 0) {
      at = star + 1;
      from = ++retry;
    } else {
      return false;
    }
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}

/** The principal of requests without a token, on loopback. */
export const EVERYONE = "everyone";

/** A caller within a project: what exists there is not what exists elsewhere. */
export function inProject(owner: string, project: string | undefined): string {
  return project === undefined ? owner : `${owner}@${project}`;
}

/** The caller's credential, without its project; only the credential decides its rights. */
export function credentialOf(principal: string): string {
  const end = principal.indexOf("@");
  return end < 0 ? principal : principal.slice(0, end);
}

/**
 * The caller, whatever project it works in and whichever of its tokens it shows: what it owns, it
 * owns with all of them. A person's tokens with other rights differ after the `#`.
 */
export function ownerOf(principal: string): string {
  const credential = credentialOf(principal);
  const end = credential.indexOf("#");
  return end < 0 ? credential : credential.slice(0, end);
}

export function projectOf(principal: string): string | undefined {
  const end = principal.indexOf("@");
  return end < 0 ? undefined : principal.slice(end + 1);
}

/** Who decided, and from which address, if the request does not say so itself. */
export interface AuditActor {
  principal?: string | undefined;
  from?: string | undefined;
}

/** A person's or client's change, for the audit log; never contains a secret. */
export interface AuditedChange extends AuditActor {
  /** `server.add`: what it is done to, and what is done. */
  action: string;
  subject: string;
  before?: unknown;
  after?: unknown;
}

export type OnAudit = (change: AuditedChange) => void;
