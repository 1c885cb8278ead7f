import { z } from "zod";
import { GatewayError } from "../core/errors.ts";
import { Collection } from "./collection.ts";
import { keys } from "./keys.ts";
import type { Store } from "./store.ts";

const TTL_MS = 15_000;

/** A process's word that it is alive, good until `expiresAt`. Times are ms since the epoch. */
export const Lease = z.strictObject({
  id: z.string().min(1),
  pid: z.int(),
  host: z.string(),
  startedAt: z.number(),
  /** Where the process can be reached, once it listens. */
  address: z.string().optional(),
  renewedAt: z.number(),
  expiresAt: z.number(),
});
export type Lease = z.infer<typeof Lease>;

export type LeaseHolder = Omit<Lease, "renewedAt" | "expiresAt">;

export interface LeasesOptions {
  /** How long a lease is good without a renewal; 15 s unless told. Renew at a third of it. */
  ttlMs?: number;
  now?: () => number;
}

/** Who is alive on this store. Renewals are frequent and nobody's news: they are not announced. */
export class LeasesRepository {
  readonly #store: Store;
  readonly #leases: Collection<Lease>;
  readonly #ttlMs: number;
  readonly #now: () => number;

  constructor(store: Store, { ttlMs = TTL_MS, now = Date.now }: LeasesOptions = {}) {
    this.#store = store;
    this.#ttlMs = ttlMs;
    this.#now = now;
    this.#leases = new Collection(store, {
      noun: "lease",
      prefix: keys.leases(),
      key: keys.lease,
      schema: Lease,
      idOf: ({ id }) => id,
      announce: false,
    });
  }

  async find(id: string): Promise<Lease | undefined> {
    return (await this.#leases.find(id))?.value;
  }

  /** Refused while a backup is being restored into the store. */
  async acquire(holder: LeaseHolder): Promise<Lease> {
    const lease = this.#renewed(holder);
    const key = keys.lease(holder.id);
    const acquired = await this.#store.tryCommit({
      checks: [
        { key, versionstamp: null },
        { key: keys.restoring(), versionstamp: null },
      ],
      sets: [{ key, value: lease }],
      announce: false,
    });
    if (acquired !== undefined) return lease;
    throw new GatewayError("CONFLICT", {
      message: await this.find(holder.id) === undefined
        ? "Cannot start on this data store: a backup is being restored into it"
        : `The lease "${holder.id}" is held already`,
    });
  }

  /** Throws CONFLICT where the lease is gone: it had lapsed and somebody took over. */
  async renew(id: string, changes: { address?: string } = {}): Promise<Lease> {
    const found = await this.#leases.find(id);
    if (found === undefined) {
      throw new GatewayError("CONFLICT", {
        message: `The lease "${id}" has lapsed and was taken over`,
        recoveryAction: "Acquire a new one, and take nothing of the old one for granted",
      });
    }
    const lease = this.#renewed({ ...found.value, ...changes });
    await this.#leases.save(lease, found.versionstamp);
    return lease;
  }

  async release(id: string): Promise<void> {
    await this.#leases.delete(id);
  }

  async listAlive(): Promise<Lease[]> {
    return (await this.#all()).filter(({ expiresAt }) => expiresAt > this.#now());
  }

  async listLapsed(): Promise<Lease[]> {
    return (await this.#all()).filter(({ expiresAt }) => expiresAt <= this.#now());
  }

  /** Ends a lapsed lease; true for exactly one caller, who may take over what its owner left. */
  async takeOver(id: string): Promise<boolean> {
    const found = await this.#leases.find(id);
    if (found === undefined || found.value.expiresAt > this.#now()) return false;
    const key = keys.lease(id);
    const ended = await this.#store.tryCommit({
      checks: [{ key, versionstamp: found.versionstamp }],
      deletes: [key],
      announce: false,
    });
    return ended !== undefined;
  }

  async #all(): Promise<Lease[]> {
    return (await Array.fromAsync(this.#leases.list())).map(({ value }) => value);
  }

  #renewed(holder: LeaseHolder): Lease {
    const renewedAt = this.#now();
    return { ...holder, renewedAt, expiresAt: renewedAt + this.#ttlMs };
  }
}
