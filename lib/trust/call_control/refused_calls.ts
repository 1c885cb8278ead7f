import { type AuditedChange, ownerOf } from "../../core/access.ts";
import { currentOrigin } from "../../telemetry/audit_log.ts";
import type { RefusedUse } from "./control.ts";
import { originOf } from "../../core/client.ts";

const WINDOW_MS = 60_000;
const DAY_MS = 24 * 60 * 60_000;
/** Of one caller and tool within a minute; the rest is one entry with their number. */
const PER_WINDOW = 5;
/** Of one caller in all: trying all day for a year does not push other entries out of the log. */
const PER_DAY = 200;

interface RefusedCall extends AuditedChange {
  principal: string;
  from: string;
  after: Record<string, unknown>;
}

export interface RefusedCallsOptions {
  onAudit(entry: RefusedCall): void;
  windowMs?: number;
  now?(): number;
}

interface Window {
  account: string;
  noted: number;
  more: number;
  last: RefusedCall;
  timer: ReturnType<typeof setTimeout>;
}

/** Has the audit log know of calls that were not made: who, which tool and why, never with what. */
export class RefusedCalls implements Disposable {
  readonly #options: RefusedCallsOptions;
  readonly #windows = new Map<string, Window>();
  #today = { day: 0, counts: new Map<string, number>() };

  constructor(options: RefusedCallsOptions) {
    this.#options = options;
  }

  note(
    { action = "call.refuse", subject, principal, client, isRequest }: RefusedUse,
    error: Error,
  ): void {
    // Counted apart, so that no client's habit keeps a refused call out of the log.
    const account = isRequest ? `requests ${ownerOf(principal)}` : ownerOf(principal);
    if (this.#countOf(account) >= PER_DAY) return;
    const last: RefusedCall = {
      action,
      subject,
      principal,
      from: client ? originOf(client) : currentPlace(),
      after: { reason: error.message },
    };
    const key = JSON.stringify([account, action, subject]);
    let window = this.#windows.get(key);
    if (!window) {
      const timer = setTimeout(() => this.#close(key), this.#options.windowMs ?? WINDOW_MS);
      this.#windows.set(key, window = { account, noted: 0, more: 0, last, timer });
    }
    window.last = last;
    if (window.noted >= PER_WINDOW) {
      window.more++;
      return;
    }
    window.noted++;
    this.#tell(account, last);
  }

  [Symbol.dispose](): void {
    for (const key of [...this.#windows.keys()]) this.#close(key);
  }

  #close(key: string): void {
    const window = this.#windows.get(key);
    if (!window) return;
    clearTimeout(window.timer);
    this.#windows.delete(key);
    const { account, more, last } = window;
    if (more > 0) this.#tell(account, { ...last, after: { ...last.after, more } });
  }

  #tell(account: string, entry: RefusedCall): void {
    const count = this.#countOf(account) + 1;
    if (count > PER_DAY) return;
    this.#today.counts.set(account, count);
    const note = `This caller reached ${PER_DAY} refusals today: further ones are not logged`;
    const after = count === PER_DAY ? { ...entry.after, note } : entry.after;
    this.#options.onAudit({ ...entry, after });
  }

  #countOf(account: string): number {
    const day = Math.floor((this.#options.now?.() ?? Date.now()) / DAY_MS);
    if (this.#today.day !== day) this.#today = { day, counts: new Map() };
    return this.#today.counts.get(account) ?? 0;
  }
}

/** Where a request of the console's or the API's came from; kept for an entry that comes later. */
function currentPlace(): string {
  try {
    return currentOrigin()?.from() ?? "console";
  } catch {
    // What a request says of itself can be gone with its client.
    return "console";
  }
}
