import type { AuditedChange } from "../core/access.ts";
import type { Store } from "../storage/store.ts";
import { type AuditLog, type AuditNote, type AuditOrigin, currentOrigin } from "./audit_log.ts";
import type { AuditReader } from "./audit_reader.ts";
import type { Redactor } from "./redact.ts";

export interface AuditInput {
  stack: AsyncDisposableStack;
  store: Store;
  redactor: Redactor;
  nameOf?(principal: string): string;
  onNoted?(): void;
  /** Who acts if no request does; default: the gateway. */
  origin?: AuditOrigin;
  onWarning(message: string, details?: object): void;
}

/** A change as the code that makes it reports it; the current request says who asked. */
export type AuditChange = AuditedChange & Pick<AuditNote, "isUnproven">;

export interface Audit {
  /** Never throws, and is not waited for. */
  note(change: AuditChange): void;
  reader(): Promise<AuditReader>;
}

const GATEWAY: AuditOrigin = { principal: "gateway", from: () => "gateway" };

/** The audit log, loaded when a change is noted or the log is read. */
export function openAudit(input: AuditInput): Audit {
  const { stack, store, redactor, onWarning } = input;
  let opened: Promise<{ log: AuditLog; reader: AuditReader }> | undefined;
  let noting: Promise<void> = Promise.resolve();

  async function open() {
    const [{ AuditLog }, { AuditReader }, { AuditRepository }] = await Promise.all([
      import("./audit_log.ts"),
      import("./audit_reader.ts"),
      import("../storage/audit_repository.ts"),
    ]);
    const repository = new AuditRepository(store);
    const log = new AuditLog({ repository, redactor, onWarning });
    return { log, reader: new AuditReader({ repository, flush: () => log.flush() }) };
  }

  /** A name or an address that cannot be had is no reason to lose the entry. */
  function ifThere<T>(ask: () => T): T | undefined {
    try {
      return ask();
    } catch {
      return undefined;
    }
  }

  function note(change: AuditChange): void {
    const asking = currentOrigin();
    const origin = asking ?? input.origin ?? GATEWAY;
    const principal = change.principal ?? origin.principal;
    const isAskers = change.principal === undefined || change.principal === asking?.principal;
    // A request knows more of where it comes from than its address; of others it may not know.
    const from = isAskers ? ifThere(() => asking?.from()) ?? change.from : change.from;
    const noted = {
      ...change,
      principal,
      from: from ?? ifThere(() => origin.from()) ?? "unknown",
      who: ifThere(() => input.nameOf?.(principal)),
      at: Date.now(),
    };
    noting = noting
      .then(async () => {
        (await (opened ??= open())).log.note(noted);
        ifThere(() => input.onNoted?.());
      })
      .catch((error) => onWarning("Cannot record a change in the audit log", { error }));
  }

  stack.defer(async () => {
    await noting;
    await (await opened?.catch(() => undefined))?.log[Symbol.asyncDispose]();
  });

  return {
    note,
    async reader() {
      await noting;
      return (await (opened ??= open())).reader;
    },
  };
}
