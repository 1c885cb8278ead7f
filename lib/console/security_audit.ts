import { z } from "zod";
import type { Gateway } from "../compose.ts";
import { GatewayError } from "../core/errors.ts";
import type { AuditEntry } from "../storage/audit_repository.ts";
import type { AuditCheck } from "../telemetry/audit_chain.ts";
import { auditFile } from "../telemetry/audit_export.ts";
import { type AuditQuery, readAuditQuery } from "../telemetry/audit_filter.ts";
import { auditJson } from "../telemetry/audit_reader.ts";
import { type AuditDifferences, auditDifferences } from "./audit_changes.ts";
import { type FormError, formError } from "./form_error.ts";

/** One entry as it is shown. */
export interface AuditRow {
  id: string;
  at: number;
  who: string;
  principal: string;
  from: string;
  action: string;
  subject: string;
  changes: AuditDifferences;
}

export interface AuditPage {
  rows: AuditRow[];
  hasOlder: boolean;
  /** Not the newest entries, but those before one. */
  isOlder: boolean;
  /** The filter as the address says it. */
  query: Record<string, string>;
  /** What came of checking the whole log, where that was asked for. */
  check?: AuditCheck;
  /** What is wrong with the filter; then nothing is filtered by it. */
  error?: FormError;
}

type AuditGateway = Pick<Gateway, "audit">;

const PAGE = 50;
const MOST = 500;
const FILTERS = ["action", "who", "subject", "since", "until"] as const;
const Limit = z.coerce.number().int().min(1).max(MOST);
const Format = z.enum(["csv", "ndjson"]);
const EVERYTHING: AuditQuery = { filter: {}, range: {} };

/** The log as the address asks for it. */
export async function auditPage(
  { audit }: AuditGateway,
  query: URLSearchParams,
): Promise<AuditPage> {
  const reader = await audit.reader();
  const { asked, error } = readLeniently(query);
  const { entries, hasOlder } = await reader.page(asked, PAGE);
  return {
    rows: entries.map(rowOf),
    hasOlder,
    isOlder: asked.range.before !== undefined,
    query: Object.fromEntries(
      FILTERS.flatMap((name) => {
        const value = query.get(name)?.trim();
        return value ? [[name, value]] : [];
      }),
    ),
    ...(query.get("check") === "1" ? { check: await reader.verify() } : {}),
    ...(error === undefined ? {} : { error }),
  };
}

/** The same for a program, some at a time; throws where it asks for what cannot be. */
export async function listAudit({ audit }: AuditGateway, query: URLSearchParams) {
  const limit = Limit.safeParse(query.get("limit") || 100);
  if (!limit.success) throw invalid(`limit: a whole number to ${MOST}`);
  const asked = readAuditQuery(query);
  const { entries, hasOlder } = await (await audit.reader()).page(asked, limit.data);
  return { entries: entries.map(auditJson), hasOlder };
}

/** All that the address asks for, as a file that is made while it is read. */
export async function exportAudit(
  { audit }: AuditGateway,
  query: URLSearchParams,
): Promise<Response> {
  const format = Format.safeParse(query.get("format") || "ndjson");
  if (!format.success) throw invalid("format: csv or ndjson");
  const entries = (await audit.reader()).entries(readAuditQuery(query));
  const body = ReadableStream.from(auditFile(entries, format.data));
  const day = new Date().toISOString().slice(0, 10);
  const type = format.data === "csv" ? "text/csv" : "application/x-ndjson";
  return new Response(body.pipeThrough(new TextEncoderStream()), {
    headers: {
      "content-type": `${type}; charset=utf-8`,
      "content-disposition": `attachment; filename="audit-${day}.${format.data}"`,
    },
  });
}

function readLeniently(query: URLSearchParams): { asked: AuditQuery; error?: FormError } {
  try {
    return { asked: readAuditQuery(query) };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { asked: EVERYTHING, error: formError(error) };
  }
}

function rowOf(entry: AuditEntry): AuditRow {
  const { id, at, principal, who = principal, from, action, subject, before, after } = entry;
  const changes = auditDifferences(before, after);
  return { id, at, principal, who, from, action, subject, changes };
}

function invalid(must: string): GatewayError {
  return new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot read the audit log, ${must} is wanted`,
  });
}
