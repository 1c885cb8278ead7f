import { GatewayError } from "../core/errors.ts";
import type { AuditEntry, AuditRange, AuditRepository } from "../storage/audit_repository.ts";
import { type AuditCheck, verifyAudit } from "./audit_chain.ts";
import { jsonOrText } from "../core/rpc.ts";
import { csvField } from "../core/text.ts";

interface AuditReaderOptions {
  repository: AuditRepository;
  flush?(): Promise<void>;
}

export class AuditReader {
  readonly #options: AuditReaderOptions;

  constructor(options: AuditReaderOptions) {
    this.#options = options;
  }

  async *entries({ filter, range }: AuditQuery): AsyncGenerator<AuditEntry, void> {
    await this.#options.flush?.();
    for await (const entry of this.#options.repository.list(range)) {
      if (matchesAudit(entry, filter)) yield entry;
    }
  }

  async page(
    query: AuditQuery,
    most: number,
  ): Promise<{ entries: AuditEntry[]; hasOlder: boolean }> {
    const entries: AuditEntry[] = [];
    for await (const entry of this.entries(query)) {
      if (entries.length === most) return { entries, hasOlder: true };
      entries.push(entry);
    }
    return { entries, hasOlder: false };
  }

  async verify(): Promise<AuditCheck> {
    await this.#options.flush?.();
    return await verifyAudit(this.#options.repository);
  }
}

/** An entry for a program: what was before and after is JSON, unless it breaks off. */
export function auditJson({ at, before, after, ...entry }: AuditEntry) {
  return {
    time: new Date(at).toISOString(),
    ...entry,
    ...(before === undefined ? {} : { before: jsonOrText(before) }),
    ...(after === undefined ? {} : { after: jsonOrText(after) }),
  };
}

interface AuditFilter {
  /** One action, or all of a family: `server` is `server.add` and the rest. */
  action?: string;
  who?: string;
  subject?: string;
}

export interface AuditQuery {
  filter: AuditFilter;
  range: AuditRange;
}

type AuditTexts = {
  [name in "action" | "who" | "subject" | "since" | "until" | "before"]?: string | undefined;
};

const MAX_TEXT = 200;
const DAY_MS = 24 * 60 * 60_000;

/** What an address or a command line asks for; throws INVALID_ARGUMENTS if a date is none. */
export function readAuditQuery(query: AuditTexts): AuditQuery {
  const text = (name: "action" | "who" | "subject") => {
    const value = query[name]?.trim().slice(0, MAX_TEXT);
    return value ? { [name]: value } : {};
  };
  const since = readTime(query, "since", 0);
  const until = readTime(query, "until", DAY_MS);
  const { before } = query;
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
function readTime(
  query: AuditTexts,
  name: "since" | "until",
  endOfDay: number,
): number | undefined {
  const written = query[name]?.trim();
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

type AuditFormat = "csv" | "ndjson";

const COLUMNS = [
  "time",
  "id",
  "principal",
  "who",
  "from",
  "action",
  "subject",
  "before",
  "after",
  "chain",
  "n",
  "prev",
  "hash",
] as const;
const AT_ONCE = 200;

/** Entries as pieces of a file; made while it is read, so that a long log takes no memory. */
export async function* auditFile(
  entries: AsyncIterable<AuditEntry>,
  format: AuditFormat,
): AsyncGenerator<string, void> {
  let [text, count] = [format === "csv" ? `${COLUMNS.join(",")}\r\n` : "", 0];
  for await (const entry of entries) {
    text += format === "csv" ? csvLine(entry) : `${JSON.stringify(auditJson(entry))}\n`;
    if (++count % AT_ONCE > 0) continue;
    yield text;
    text = "";
  }
  if (text !== "") yield text;
}

function csvLine(entry: AuditEntry): string {
  const values = { ...entry, time: new Date(entry.at).toISOString() };
  return `${COLUMNS.map((column) => csvField(values[column])).join(",")}\r\n`;
}
