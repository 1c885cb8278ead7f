import type { ServerState, ServerStatus } from "../core/server.ts";

/** A state that a server was in. */
export interface StatePeriod {
  state: ServerState;
  /** In words, as it was last told. */
  reason: string;
  error?: string;
  /** When it began, in ms since the epoch. */
  since: number;
}

const KEPT = 30;

/** The last states of each server, since this gateway's start. */
export class StateHistory {
  readonly #periods = new Map<string, StatePeriod[]>();

  /** Notes what a server's status is; the same state with other words is no new period. */
  note({ name, state, reason, since, lastError }: ServerStatus): void {
    const periods = this.#periods.get(name) ?? [];
    const isTrouble = state === "failed" || state === "degraded" || state === "needs_login";
    const period: StatePeriod = {
      state,
      reason,
      ...(isTrouble && lastError !== undefined && lastError !== reason ? { error: lastError } : {}),
      since,
    };
    const last = periods.at(-1);
    if (last?.state === state && last.since === since) periods.pop();
    periods.push(period);
    if (periods.length > KEPT) periods.shift();
    this.#periods.set(name, periods);
  }

  /** Newest first. */
  of(name: string): StatePeriod[] {
    return this.#periods.get(name)?.toReversed() ?? [];
  }

  forget(name: string): void {
    this.#periods.delete(name);
  }
}
