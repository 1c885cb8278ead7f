import type { AuditedChange } from "../../core/audit.ts";
import { ownerOf } from "../../core/principal.ts";
import { isObject } from "../../core/rpc.ts";
import { shortened } from "../../core/shortened.ts";
import type { GatedCall } from "../call_gate.ts";
import type { ClientPort } from "../surface.ts";

const WINDOW_MS = 60_000;
const DAY_MS = 24 * 60 * 60_000;
/** Of one caller and tool within a minute; the rest is one entry with their number. */
const PER_WINDOW = 5;
/** Of one caller in all: whoever tries all day for a year does not push the rest out of the log. */
const PER_DAY = 200;
const CLIENT_LENGTH = 80;

/** Who was refused which tool, from where and why. */
export interface RefusedCall extends AuditedChange {
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
  owner: string;
  noted: number;
  /** Those that were only counted. */
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

  note({ tool, port }: GatedCall, error: Error): void {
    const owner = ownerOf(port.principal);
    if (this.#countOf(owner) >= PER_DAY) return;
    const subject = `${tool.server}.${tool.name}`;
    const last: RefusedCall = {
      action: "call.refuse",
      subject,
      principal: port.principal,
      from: placeOf(port),
      after: { reason: error.message },
    };
    const key = JSON.stringify([owner, subject]);
    let window = this.#windows.get(key);
    if (!window) {
      const timer = setTimeout(() => this.#close(key), this.#options.windowMs ?? WINDOW_MS);
      this.#windows.set(key, window = { owner, noted: 0, more: 0, last, timer });
    }
    window.last = last;
    if (window.noted >= PER_WINDOW) {
      window.more++;
      return;
    }
    window.noted++;
    this.#tell(owner, last);
  }

  /** Tells of what was only counted so far. */
  [Symbol.dispose](): void {
    for (const key of [...this.#windows.keys()]) this.#close(key);
  }

  #close(key: string): void {
    const window = this.#windows.get(key);
    if (!window) return;
    clearTimeout(window.timer);
    this.#windows.delete(key);
    const { owner, more, last } = window;
    if (more > 0) this.#tell(owner, { ...last, after: { ...last.after, more } });
  }

  #tell(owner: string, entry: RefusedCall): void {
    const count = this.#countOf(owner) + 1;
    if (count > PER_DAY) return;
    this.#today.counts.set(owner, count);
    const note = `${PER_DAY} of this caller today: those that follow are not noted`;
    const after = count === PER_DAY ? { ...entry.after, note } : entry.after;
    this.#options.onAudit({ ...entry, after });
  }

  /** How many entries there are of an owner's today. */
  #countOf(owner: string): number {
    const day = Math.floor((this.#options.now?.() ?? Date.now()) / DAY_MS);
    if (this.#today.day !== day) this.#today = { day, counts: new Map() };
    return this.#today.counts.get(owner) ?? 0;
  }
}

/** Where a call came from: its door, and what the client calls itself. */
function placeOf({ door, client: { clientInfo } }: ClientPort): string {
  const { name, version } = isObject(clientInfo) ? clientInfo : {};
  const words = [name, version].filter((word) => typeof word === "string").join(" ").trim();
  const place = door === undefined ? "MCP" : `MCP at /${door.replace(/\?$/, "")}`;
  return words === "" ? place : `${place}, ${shortened(words, CLIENT_LENGTH)}`;
}
