import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";

export type KeyPart = string | number;
/** JSON can carry every key, so that a backup can too. */
export type RecordKey = readonly KeyPart[];

/** What pages show of other gateways' work, though no gateway has to act on it. */
export const NEWS = ["calls", "cleared", "jobs", "optimization"] as const;
export type News = typeof NEWS[number];

type Leading<Parts extends KeyPart[]> = Parts extends
  [...infer Start extends KeyPart[], infer _Last extends KeyPart] ? Parts | Leading<Start> : [];

/** Keys under one root. All parts name a record; fewer are the prefix of several. */
function family<Parts extends KeyPart[] = [id: string]>(root: string) {
  return (...parts: Leading<Parts>): RecordKey => [root, ...parts];
}

/** As family(), for parts of any length and content. */
function hashedFamily<Parts extends KeyPart[] = [id: string]>(root: string) {
  return (...parts: Leading<Parts>): RecordKey => [
    root,
    ...parts.map((part) => typeof part === "string" ? keyPart(part) : part),
  ];
}

export const keys = {
  /** Says that the store is ours, and which version wrote it. */
  schema: family<[]>("schema"),
  /** A counter of the changes that other gateways must hear of. */
  generation: family<[]>("generation"),
  /** Counters of what other gateways' pages show. */
  news: family<[kind: News]>("news"),
  /** Present while a backup is written into a store that cannot be swapped as a file. */
  restoring: family<[]>("restoring"),

  servers: family<[name: string]>("servers"),
  pausedServers: family<[name: string]>("paused_servers"),
  /** Which revisions of MCP servers spoke when they were last connected; a cache. */
  serverEras: family<[name: string]>("server_eras"),
  /** Tools that servers list to clients with certain capabilities; a cache. */
  offeredLists: family<[server: string, offer: string]>("offered_lists"),
  /** Which server gave a caller a link that does not name its server. */
  givenLinks: hashedFamily<[principal: string, uri: string, server: string]>("given_links"),
  /** Which caller started which task, and at which gateway. */
  taskOwners: hashedFamily<[server: string, task: string]>("task_owners"),

  /** Which release of its packages a server runs, by the packages that its entry names. */
  packagePins: family<[server: string, request: string]>("package_pins"),
  /** Newer releases of a server's packages, for somebody to review. */
  packageOffers: family<[server: string, request: string]>("package_offers"),
  /** Lists of installed packages with their hashes, by a hash of the list. */
  packageTrees: family<[hash: string]>("package_trees"),

  canonicalTools: family<[server: string, tool: string]>("canonical_tools"),
  /** What a server lists that is not a valid tool; the same name may come more than once. */
  invalidTools: family<[server: string, tool: string, nth: number]>("invalid_tools"),
  enabledTools: family<[server: string]>("enabled_tools"),
  toolMetadata: family<[server: string, tool: string]>("tool_metadata"),
  toolTokens: family<[server: string]>("tool_tokens"),

  /** Tool definitions that are served whatever the server says. */
  pins: family<[server: string]>("pins"),
  reviews: family<[server: string]>("reviews"),
  /** What the scanner found in a server's tools, by fingerprint; a cache. */
  verdicts: family<[server: string]>("verdicts"),

  toolsets: family<[name: string]>("toolsets"),
  equippedToolsets: family<[principal: string]>("equipped_toolsets"),

  /** Process groups of stdio servers, so that those of a dead gateway can be ended. */
  processes: family("processes"),
  /** Clients' sessions, so that they survive a restart and a change of instance. */
  sessions: family("sessions"),
  leases: family("leases"),
  /** What calls have used of a limit, at all gateways together. */
  limitUses: hashedFamily<[limit: string]>("limit_uses"),
  /** Messages from one process to another, in the order they were sent. */
  mail: family<[to: string, from: string, nth: number]>("mail"),
  /** Changes with each message to the process. */
  mailBells: family<[to: string]>("mail_bells"),

  /** By the token's id; the token itself is not stored. */
  accessTokens: family("access_tokens"),
  /** Changes with each new token, so that no two are made unaware of each other. */
  lastAccessToken: family<[]>("last_access_token"),
  projects: family<[name: string]>("projects"),
  consoleLogins: family<[hash: string]>("console_logins"),
  /** What the gateway signs with; made once for each store. */
  signingSecret: family<[]>("signing_secret"),

  activity: family<[time: number, id: string]>("activity"),
  activityDays: family<[day: string, process: string]>("activity_days"),
  /** How far each process has come in the audit log; sorts before it, so that a backup has it first. */
  auditChains: family<[chain: string]>("audit_chains"),
  auditLog: family<[time: number, id: string]>("audit_log"),

  candidates: hashedFamily<[server: string, id: string]>("candidates"),
  /** Each version of a prompt is a record. */
  goldenPrompts: hashedFamily<[server: string, id: string, version: number]>("golden_prompts"),
  /** One prompt put to one description once; ids sort by time. */
  evalRuns: hashedFamily<[server: string, tool: string, id: string]>("eval_runs"),
  evaluations: hashedFamily<[server: string, tool: string, id: string]>("evaluations"),
  /** When evaluations ended that are deleted and that a year's error probability still counts. */
  endedTests: hashedFamily<[server: string, tool: string, id: string]>("ended_tests"),
  /** With a family, if it is for clients with its models only. */
  promotions: hashedFamily<[server: string, tool: string, family: string]>("promotions"),
  promotionEvents: hashedFamily<[server: string, tool: string, id: string]>("promotion_events"),
  optimizationJobs: hashedFamily("optimization_jobs"),
  /** What became of sessions in a live A/B. */
  trialSessions: family<[trial: string, unit: string]>("trial_sessions"),
  /** Calls that somebody says were made with the wrong tool. */
  callMarks: family<[call: string]>("call_marks"),
  /** Prompts proposed from calls that somebody has accepted or discarded. */
  proposalDecisions: family<[key: string]>("proposal_decisions"),
  /** The user's own tasks, and the comparisons of set-ups that clients did them in. */
  comparedTasks: family<[name: string]>("compared_tasks"),
  taskComparisons: family("task_comparisons"),
  taskRuns: hashedFamily<[comparison: string, setup: string, task: string, repeat: number]>(
    "task_runs",
  ),

  settings: family<[name: string]>("settings"),
  /** Embeddings by the text's hash; a cache. */
  vectors: family<[model: string, hash: string]>("vectors"),

  secrets: family<[name: string]>("secrets"),
  logins: family<[server: string]>("logins"),
  /** Which process is renewing a login: a refresh token is good for one use. */
  loginClaims: family<[server: string]>("login_claims"),
  pendingLogins: family("pending_logins"),
  consents: family("consents"),

  parts: family<[id: string, index: number]>("parts"),
  /** Names the record that a set of parts was written for, so that abandoned sets are found. */
  partOwners: family("part_owners"),
};

/** Roots that belong to one store and its processes: a backup leaves them out. */
export const UNPORTABLE_ROOTS: ReadonlySet<KeyPart> = new Set([
  "schema",
  "generation",
  "news",
  "restoring",
  "leases",
  "limit_uses",
  "mail",
  "mail_bells",
  "processes",
  "sessions",
  "signing_secret",
  "console_logins",
  "tool_tokens",
  "server_eras",
  "offered_lists",
  "task_owners",
  "verdicts",
  "vectors",
  "login_claims",
  "pending_logins",
  "consents",
  "parts",
  "part_owners",
]);

export function keyBytes(key: RecordKey): number {
  let bytes = 0;
  for (const part of key) {
    bytes += typeof part === "number" ? 9 : 2 + new TextEncoder().encode(part).length;
  }
  return bytes;
}

/** Three parts of this size make a key that Deno KV takes, even if every byte needs a second one. */
const PART_BYTES = 300;
/** What a part that stands for another text begins with, and no other part. */
const HASHED = "#";

/**
 * A text of any length and content as one part of a key: itself wherever that is possible, so that
 * keys sort as their texts do.
 */
export function keyPart(text: string): string {
  // The store keeps no lone surrogates, so that the key would be another one when read back.
  const isKept = text.isWellFormed() && !text.startsWith(HASHED) &&
    new TextEncoder().encode(text).length <= PART_BYTES;
  // As UTF-16: in UTF-8, all lone surrogates are the same.
  return isKept
    ? text
    : HASHED + createHash("sha256").update(Buffer.from(text, "utf16le")).digest("hex");
}

/** The time that an id begins with, in base 36; undefined if it does not. */
export function timeOfId(id: string): number | undefined {
  const time = /^[0-9a-z]{1,10}(?=-)/.exec(id)?.[0];
  return time === undefined ? undefined : parseInt(time, 36);
}
