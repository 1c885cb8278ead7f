/** Who decided, and from where, where the request does not say so itself. */
export interface AuditAsker {
  principal?: string | undefined;
  from?: string | undefined;
}

/** A change that somebody decided on, as the audit log is told of it; never with a secret. */
export interface AuditedChange extends AuditAsker {
  /** `server.add`: what it is done to, and what is done. */
  action: string;
  /** What it is done to, by name. */
  subject: string;
  before?: unknown;
  after?: unknown;
}

export type OnAudit = (change: AuditedChange) => void;
