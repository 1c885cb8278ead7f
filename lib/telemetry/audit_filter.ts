import { GatewayError } from "../core/errors.ts";
import type { AuditEntry, AuditRange } from "../storage/audit_repository.ts";

/** Which entries somebody wants. */
export interface AuditFilter {
  /** One action, or all of a family: `server` is `server.add` and the rest. */
  action?: string;
  /** Part of a name or of a principal. */
  who?: string;
  /** Part of what it was done to. */
  subject?: string;
}

export interface AuditQuery {
  filter: AuditFilter;
  range: AuditRange;
}

const MAX_TEXT = 200;
const DAY_MS = 24 * 60 * 60_000;

/** What an address or a command line asks for; throws INVALID_ARGUMENTS where a date is none. */
export function readAuditQuery(query: URLSearchParams): AuditQuery {
  const text = (name: string) => {
    const value = query.get(name)?.trim().slice(0, MAX_TEXT);
    return value ? { [name]: value } : {};
  };
  const since = readTime(query, "since", 0);
  const until = readTime(query, "until", DAY_MS);
  const before = query.get("before");
  return {
    filter: { ...text("action"), ...text("who"), ...text("subject") },
    range: {
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
      ...(before ? { before } : {}),
    },
  };
}

export function matchesAudit(entry: AuditEntry, { action, who, subject }: AuditFilter): boolean {
  if (action !== undefined && entry.action !== action && !entry.action.startsWith(`${action}.`)) {
    return false;
  }
  if (subject !== undefined && !has(entry.subject, subject)) return false;
  return who === undefined || has(entry.principal, who) || has(entry.who ?? "", who);
}

/** A day is meant whole, in UTC; a time to the moment. */
function readTime(query: URLSearchParams, name: string, endOfDay: number): number | undefined {
  const written = query.get(name)?.trim();
  if (!written) return undefined;
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(written);
  const time = isDay || /^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/.test(written)
    ? Date.parse(written)
    : NaN;
  if (!Number.isNaN(time)) return isDay ? time + endOfDay : time;
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot read "${written.slice(0, 40)}" as a date (${name})`,
    recoveryAction: "Write it as 2026-01-31, or as 2026-01-31T12:00:00Z",
  });
}

function has(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}
