import type { AuditEntry, AuditRepository } from "../storage/audit_repository.ts";
import { type AuditCheck, verifyAudit } from "./audit_chain.ts";
import { type AuditQuery, matchesAudit } from "./audit_filter.ts";

export interface AuditReaderOptions {
  repository: AuditRepository;
  /** Writes what this process still has in hand. */
  flush?(): Promise<void>;
}

/** The audit log as it is read. */
export class AuditReader {
  readonly #options: AuditReaderOptions;

  constructor(options: AuditReaderOptions) {
    this.#options = options;
  }

  /** What a query asks for, newest first, one at a time. */
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
export function auditJson({ at, before, after, ...entry }: AuditEntry): Record<string, unknown> {
  return {
    time: new Date(at).toISOString(),
    ...entry,
    ...(before === undefined ? {} : { before: auditSide(before) }),
    ...(after === undefined ? {} : { after: auditSide(after) }),
  };
}

export function auditSide(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
