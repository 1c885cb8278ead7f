import { type TextSegment, wordDiff } from "../../../../../lib/catalog/word_diff.ts";
import { type AuditQuery, readAuditQuery } from "../../../../../lib/telemetry/audit_reader.ts";
import type { Gateway } from "../../../../../lib/gateway.ts";
import { GatewayError } from "../../../../../lib/core/errors.ts";
import type { AuditEntry } from "../../../../../lib/storage/audit_repository.ts";
import type { AuditCheck } from "../../../../../lib/telemetry/audit_chain.ts";
import { type FormError, formError } from "../../../../../lib/console/errors.ts";
import { jsonOrText } from "../../../../../lib/core/rpc.ts";

export interface AuditRow extends AuditEntry {
  who: string;
  changes: AuditDifferences;
}

export interface AuditPage {
  rows: AuditRow[];
  hasOlder: boolean;
  /** Not the newest entries, but those before one. */
  isOlder: boolean;
  query: Record<string, string>;
  check: AuditCheck | undefined;
  /** What is wrong with the filter; then nothing is filtered by it. */
  error: FormError | undefined;
}

const PAGE = 50;
const FILTERS = ["action", "who", "subject", "since", "until"] as const;
const EVERYTHING: AuditQuery = { filter: {}, range: {} };

export async function auditPage(
  { audit }: Pick<Gateway, "audit">,
  query: URLSearchParams,
): Promise<AuditPage> {
  const reader = await audit.reader();
  const { asked, error } = readLeniently(query);
  const { entries, hasOlder } = await reader.page(asked, PAGE);
  return {
    rows: entries.map((entry) => ({
      ...entry,
      who: entry.who ?? entry.principal,
      changes: auditDifferences(entry.before, entry.after),
    })),
    hasOlder,
    isOlder: asked.range.before !== undefined,
    query: Object.fromEntries(
      FILTERS.flatMap((name) => {
        const value = query.get(name)?.trim();
        return value ? [[name, value]] : [];
      }),
    ),
    check: query.get("check") === "1" ? await reader.verify() : undefined,
    error,
  };
}

function readLeniently(query: URLSearchParams): { asked: AuditQuery; error?: FormError } {
  try {
    return { asked: readAuditQuery(Object.fromEntries(query)) };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { asked: EVERYTHING, error: formError(error) };
  }
}

/** What was done, as a person says it; what it was done to follows. */
const LABELS: Record<string, string> = {
  "server.add": "Added server",
  "server.change": "Changed server",
  "server.remove": "Removed server",
  "server.restore": "Restored server",
  "server.restart": "Restarted server",
  "server.pause": "Paused server",
  "server.resume": "Resumed server",
  "server.repair": "Repaired server",
  "server.tools": "Selected tools of",
  "toolset.save": "Saved toolset",
  "toolset.delete": "Deleted toolset",
  "toolset.import": "Imported toolset",
  "toolset.equip": "Equipped toolset",
  "toolset.unequip": "Unequipped toolset",
  "toolset.mode": "Set the mode of toolset",
  "toolset.answers": "Set the content guard of toolset",
  "content.block": "Withheld",
  "tool.describe": "Edited details of tool",
  "promotion.promote": "Promoted a description of",
  "promotion.revert": "Reverted the description of",
  "promotion.keep": "Kept the promoted description of",
  "optimization.enable": "Switched on",
  "optimization.disable": "Switched off",
  "optimization.start": "Started optimizing",
  "optimization.pause": "Paused the optimization of",
  "optimization.resume": "Resumed the optimization of",
  "optimization.cancel": "Canceled the optimization of",
  "settings.change": "Changed setting",
  "search.reindex": "Rebuilt the",
  "activity.clear": "Cleared the",
  "data.backup": "Backed up",
  "data.restore": "Restored a backup into",
  "data.restore.choose": "Staged a backup for",
  "data.restore.cancel": "Discarded the backup staged for",
  "token.create": "Created token",
  "token.revoke": "Revoked token",
  "project.create": "Created project",
  "project.change": "Changed project",
  "project.delete": "Deleted project",
  "secret.set": "Set secret",
  "secret.change": "Changed secret",
  "secret.delete": "Deleted secret",
  "login.start": "Started a login to",
  "login.finish": "Logged in to",
  "login.fail": "Failed to log in to",
  "login.end": "Logged out of",
  "review.approve": "Approved a change to",
  "review.reject": "Rejected a change to",
  "review.revert": "Reverted to an earlier version of",
  "review.waive": "Waived a finding in",
  "review.unwaive": "Removed a waiver for",
  "review.policy": "Set the change policy of",
  "call.approve": "Approved a call to",
  "call.deny": "Denied a call to",
  "call.refuse": "Was refused a call to",
  "consent.ask": "Requested consent for server",
  "consent.approve": "Approved the request for server",
  "consent.refuse": "Refused the request for server",
  "console.login": "Logged in to the",
  "console.login.fail": "Failed to log in to the",
  "console.logout": "Logged out of the",
  "audit.prune": "Deleted expired",
  "audit.lost": "Audit log:",
  "audit.flood": "Audit log:",
};

/** Completes the labels that do not name what was changed. */
const OBJECTS: Record<string, string> = {
  "server.tools": "a server",
  "promotion.promote": "a tool",
  "promotion.revert": "a tool",
  "promotion.keep": "a tool",
  "optimization.enable": "optimization",
  "optimization.disable": "optimization",
  "optimization.start": "tools",
  "optimization.pause": "tools",
  "optimization.resume": "tools",
  "optimization.cancel": "tools",
  "search.reindex": "search index",
  "activity.clear": "activity log",
  "data.backup": "the data store",
  "data.restore": "the data store",
  "data.restore.choose": "the data store",
  "data.restore.cancel": "the data store",
  "login.start": "a server",
  "login.finish": "a server",
  "login.fail": "a server",
  "login.end": "a server",
  "review.approve": "a tool",
  "review.reject": "a tool",
  "review.revert": "a tool",
  "review.waive": "a tool",
  "review.unwaive": "a tool",
  "review.policy": "a server",
  "call.approve": "a tool",
  "call.deny": "a tool",
  "call.refuse": "a tool",
  "consent.ask": "a server",
  "consent.approve": "a server",
  "consent.refuse": "a server",
  "console.login": "console",
  "console.login.fail": "console",
  "console.logout": "console",
  "audit.prune": "entries",
  "audit.lost": "entries are missing",
  "audit.flood": "too many failed logins",
};

export const AUDIT_ACTIONS: readonly string[] = Object.keys(LABELS);

/** Unknown where another version wrote it. */
export function actionLabel(action: string): string | undefined {
  return Object.hasOwn(LABELS, action) ? LABELS[action] : undefined;
}

/** A known action without a subject, for a list to choose from. */
export function actionTitle(action: string): string {
  return [LABELS[action], OBJECTS[action]].filter((part) => part !== undefined).join(" ");
}

interface AuditDifference {
  /** Where in the value it is: "env.TOKEN"; empty for the whole. */
  path: string;
  before?: string;
  after?: string;
  segments?: TextSegment[];
}

interface AuditDifferences {
  rows: AuditDifference[];
  more: number;
}

const MAX_CHANGES = 50;
const LONG = 40;

/** What a change changed, one line for each value; nothing of what stayed as it was. */
export function auditDifferences(before?: string, after?: string): AuditDifferences {
  const [was, is] = [leavesOf(before), leavesOf(after)];
  const rows: AuditDifference[] = [];
  for (const path of new Set([...was.keys(), ...is.keys()])) {
    const [old = [], fresh = []] = [was.get(path), is.get(path)];
    const [gone, come] = [without(old, fresh), without(fresh, old)];
    if (gone.length === 1 && come.length === 1) rows.push(changed(path, gone[0]!, come[0]!));
    else {
      rows.push(...gone.map((before) => ({ path, before })));
      rows.push(...come.map((after) => ({ path, after })));
    }
  }
  return { rows: rows.slice(0, MAX_CHANGES), more: Math.max(0, rows.length - MAX_CHANGES) };
}

function changed(path: string, before: string, after: string): AuditDifference {
  const isLong = before.length > LONG && after.length > LONG;
  return { path, before, after, ...(isLong ? { segments: wordDiff(before, after) } : {}) };
}

/** Every single value by its place; the items of a list share one, so that an insertion is just that. */
function leavesOf(text: string | undefined): Map<string, string[]> {
  const leaves = new Map<string, string[]>();
  const walk = (value: unknown, path: string) => {
    if (Array.isArray(value)) return value.forEach((item) => walk(item, path));
    if (typeof value === "object" && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        walk(item, path === "" ? key : `${path}.${key}`);
      }
      return;
    }
    const shown = typeof value === "string" ? value : JSON.stringify(value);
    leaves.set(path, [...leaves.get(path) ?? [], shown]);
  };
  if (text !== undefined) walk(jsonOrText(text), "");
  return leaves;
}

function without(values: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return values.filter((value) => {
    const at = left.indexOf(value);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
