import { createHash } from "node:crypto";
import * as z from "zod";
import { parseJson } from "../core/rpc.ts";
import { type AuditChain, AuditEntry, type AuditRepository } from "../storage/audit_repository.ts";

/** Says that older entries were cleared away, and which. */
export const PRUNE = "audit.prune";
const MOST_PROBLEMS = 100;

const Pruned = z.object({ until: z.number() });

type UnsealedEntry = Omit<AuditEntry, "hash">;

export interface AuditCheck {
  entries: number;
  chains: number;
  prunedUntil?: number;
  problems: AuditProblem[];
  more: number;
}

interface AuditProblem {
  at?: number;
  id?: string;
  message: string;
}

/** Everything that an entry says, in a fixed order. */
export function auditHash(entry: UnsealedEntry): string {
  const { id, at, chain, n, prev, prevAt, principal, who, from, action, subject } = entry;
  const { before, after } = entry;
  const said = [id, at, chain, n, prev, prevAt, principal, who, from, action, subject];
  // Undefined and null are written alike; none of these is ever null.
  const text = JSON.stringify([...said, before, after]);
  return createHash("sha256").update(text).digest("hex");
}

export async function verifyAudit(repository: AuditRepository): Promise<AuditCheck> {
  // First: what is added meanwhile is then ahead of them, which is harmless.
  const heads = await repository.chains();
  const check = new ChainCheck();
  for await (const { key, value } of repository.records()) {
    const { data: entry } = AuditEntry.safeParse(value);
    if (entry === undefined) {
      check.complain({ message: `Entry ${JSON.stringify(key.slice(1))} is unreadable` });
    } else if (entry.at !== key[1] || entry.id !== key[2]) {
      check.complain({ ...placeOf(entry), message: "The entry was moved to another position" });
    } else check.add(entry);
  }
  return check.finish(heads);
}

class ChainCheck {
  readonly #last = new Map<string, AuditEntry>();
  /** Entries that others should stand before, and do not. */
  readonly #headless: AuditEntry[] = [];
  readonly #problems: AuditProblem[] = [];
  #entries = 0;
  #complaints = 0;
  #prunedUntil = 0;

  complain(problem: AuditProblem): void {
    this.#complaints++;
    if (this.#problems.length < MOST_PROBLEMS) this.#problems.push(problem);
  }

  add(entry: AuditEntry): void {
    this.#entries++;
    const { hash, ...said } = entry;
    if (auditHash(said) !== hash) {
      this.complain({ ...placeOf(entry), message: "The entry was changed after it was written" });
    }
    if (entry.action === PRUNE) this.#prunedUntil = Math.max(this.#prunedUntil, untilOf(entry));
    const last = this.#last.get(entry.chain);
    this.#last.set(entry.chain, entry);
    if (!last) {
      if (entry.n > 0) this.#headless.push(entry);
      return;
    }
    const missing = entry.n - last.n - 1;
    if (missing > 0) {
      this.complain({
        ...placeOf(entry),
        message: `${entriesAre(missing)} missing before this one`,
      });
    } else if (missing < 0 || entry.prev !== last.hash) {
      this.complain({ ...placeOf(entry), message: "The entry does not match the one before it" });
    }
  }

  finish(heads: readonly AuditChain[]): AuditCheck {
    for (const entry of this.#headless) {
      if (entry.prevAt !== undefined && entry.prevAt < this.#prunedUntil) continue;
      this.complain({
        ...placeOf(entry),
        message: `${entriesAre(entry.n)} missing before this one`,
      });
    }
    for (const { chain, n, at } of heads) {
      const missing = n - (this.#last.get(chain)?.n ?? -1);
      if (missing <= 0 || at < this.#prunedUntil) continue;
      this.complain({ at, message: `${entriesAre(missing)} missing at the end of a process` });
    }
    return {
      entries: this.#entries,
      chains: this.#last.size,
      ...(this.#prunedUntil === 0 ? {} : { prunedUntil: this.#prunedUntil }),
      problems: this.#problems,
      more: this.#complaints - this.#problems.length,
    };
  }
}

function placeOf({ at, id }: AuditEntry): { at: number; id: string } {
  return { at, id };
}

function entriesAre(count: number): string {
  return count === 1 ? "One entry is" : `${count} entries are`;
}

function untilOf({ after = "" }: AuditEntry): number {
  return Pruned.safeParse(parseJson(after)).data?.until ?? 0;
}
