import { GatewayError } from "../core/errors.ts";
import type { RemovedServer } from "./servers_admin.ts";

/** Longer than the page offers it, so that a slow click is in time. */
const KEPT_MS = 60_000;
const MOST = 20;

/** What was removed a moment ago, for whoever thinks better of it. Only in memory. */
export class RemovedServers {
  readonly #kept = new Map<string, { removed: RemovedServer; until: number }>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Gives the id to take it back with. */
  keep(removed: RemovedServer): string {
    this.#clear();
    const id = crypto.randomUUID();
    this.#kept.set(id, { removed, until: this.#now() + KEPT_MS });
    for (const oldest of [...this.#kept.keys()].slice(0, -MOST)) this.#kept.delete(oldest);
    return id;
  }

  /** The name of what can still be taken back. */
  nameOf(id: string): string | undefined {
    this.#clear();
    return this.#kept.get(id)?.removed.entry.name;
  }

  /** What was removed; it is kept until it is back. */
  resolve(id: string): RemovedServer {
    this.#clear();
    const kept = this.#kept.get(id);
    if (!kept) {
      throw new GatewayError("NOT_FOUND", {
        message: "This removal can no longer be undone",
        recoverySteps: ["Add the server again"],
      });
    }
    return kept.removed;
  }

  /** For what is back in its place. */
  forget(id: string): void {
    this.#kept.delete(id);
  }

  #clear(): void {
    const now = this.#now();
    for (const [id, { until }] of this.#kept) if (until <= now) this.#kept.delete(id);
  }
}
