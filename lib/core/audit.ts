/** A change that somebody decided on, as the audit log is told of it; never with a secret. */
export interface AuditedChange {
  /** `server.add`: what it is done to, and what is done. */
  action: string;
  /** What it is done to, by name. */
  subject: string;
  before?: unknown;
  after?: unknown;
  /** Who and from where, where the request does not say so itself. */
  principal?: string | undefined;
  from?: string | undefined;
}

export type OnAudit = (change: AuditedChange) => void;
