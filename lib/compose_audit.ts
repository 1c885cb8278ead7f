import type { AuditedChange } from "./core/audit.ts";
import type { Store } from "./storage/store.ts";
import type { AuditLog, AuditNote } from "./telemetry/audit_log.ts";
import { type AuditOrigin, currentOrigin } from "./telemetry/audit_origin.ts";
import type { AuditReader } from "./telemetry/audit_reader.ts";
import type { Redactor } from "./telemetry/redact.ts";

export interface ComposeAuditInput {
  stack: AsyncDisposableStack;
  store: Store;
  redactor: Redactor;
  /** What a principal is called. */
  nameOf?(principal: string): string;
  /** The log has more than before. */
  onNoted?(): void;
  /** Who acts where no request does; the gateway itself unless told. */
  origin?: AuditOrigin;
  onWarning(message: string, details?: object): void;
}

/** What is noted where it happens; who asked for it is known by the request. */
export type AuditChange = AuditedChange & Pick<AuditNote, "isUnproven">;

export type Audit = ReturnType<typeof composeAudit>;

const GATEWAY: AuditOrigin = { principal: "gateway", from: () => "gateway" };

/** The audit log, loaded when there is something to note or somebody looks. */
export function composeAudit(input: ComposeAuditInput) {
  const { stack, store, redactor, onWarning } = input;
  let opened: Promise<{ log: AuditLog; reader: AuditReader }> | undefined;
  let noting: Promise<void> = Promise.resolve();

  async function open() {
    const [{ AuditLog }, { AuditReader }, { AuditRepository }] = await Promise.all([
      import("./telemetry/audit_log.ts"),
      import("./telemetry/audit_reader.ts"),
      import("./storage/audit_repository.ts"),
    ]);
    const repository = new AuditRepository(store);
    const log = new AuditLog({ repository, redactor, onWarning });
    return { log, reader: new AuditReader({ repository, flush: () => log.flush() }) };
  }

  /** What is asked may not be there yet, or not any more: nothing is lost for it. */
  function ifThere<T>(ask: () => T): T | undefined {
    try {
      return ask();
    } catch {
      return undefined;
    }
  }

  /** Never throws, and is not waited for. */
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
      .catch((error) => onWarning("Something could not be noted in the audit log", { error }));
  }

  stack.defer(async () => {
    await noting;
    await (await opened?.catch(() => undefined))?.log[Symbol.asyncDispose]();
  });

  return {
    note,
    /** Reads what was noted up to here. */
    async reader(): Promise<AuditReader> {
      await noting;
      return (await (opened ??= open())).reader;
    },
  };
}
