import { hostname } from "node:os";
import * as z from "zod";
import { once } from "../core/async.ts";
import { GatewayError } from "../core/errors.ts";
import { collection, Repository } from "./collection.ts";
import { keys } from "./keys.ts";
import type { Store } from "./store.ts";
import type { WarningListener } from "./kv_client.ts";

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

type LeaseHolder = Omit<Lease, "renewedAt" | "expiresAt">;

const Leases = collection({
  noun: "lease",
  key: keys.leases,
  schema: Lease,
  idOf: ({ id }) => id,
  announce: false,
});

/** Who is alive on this store. Renewals are frequent and nobody's news: they are not announced. */
export class LeasesRepository extends Repository {
  readonly #leases = new Leases(this.store);
  readonly #ttlMs: number;
  readonly #now: () => number;

  constructor(store: Store, { ttlMs = TTL_MS, now = Date.now } = {}) {
    super(store);
    this.#ttlMs = ttlMs;
    this.#now = now;
  }

  async find(id: string): Promise<Lease | undefined> {
    return (await this.#leases.find(id))?.value;
  }

  /** Refused while a backup is being restored into the store. */
  async acquire(holder: LeaseHolder): Promise<Lease> {
    const lease = this.#renewed(holder);
    const key = keys.leases(holder.id);
    const acquired = await this.store.tryCommit({
      checks: [key, keys.restoring()].map((key) => ({ key, versionstamp: null })),
      sets: [{ key, value: lease }],
      announce: false,
    });
    if (acquired !== undefined) return lease;
    throw new GatewayError("CONFLICT", {
      message: await this.find(holder.id) === undefined
        ? "Cannot start on this data store: a restore is in progress"
        : `The lease "${holder.id}" is already held`,
    });
  }

  /** Throws CONFLICT if the lease is gone: it had lapsed and somebody took over. */
  async renew(id: string): Promise<Lease> {
    const found = await this.#leases.find(id);
    if (found === undefined) {
      throw new GatewayError("CONFLICT", {
        message: `The lease "${id}" has expired`,
        recoveryAction: "Acquire a new lease, and reread everything the old one protected",
      });
    }
    const lease = this.#renewed(found.value);
    await this.#leases.save(lease, found.versionstamp);
    return lease;
  }

  release(id: string): Promise<void> {
    return this.#leases.delete(id);
  }

  async listAlive(): Promise<Lease[]> {
    return (await this.#leases.values()).filter(({ expiresAt }) => expiresAt > this.#now());
  }

  async listLapsed(): Promise<Lease[]> {
    return (await this.#leases.values()).filter(({ expiresAt }) => expiresAt <= this.#now());
  }

  /** Ends a lapsed lease; true for exactly one caller, who may take over what its owner left. */
  async takeOver(id: string): Promise<boolean> {
    const found = await this.#leases.find(id);
    if (found === undefined || found.value.expiresAt > this.#now()) return false;
    const key = keys.leases(id);
    const checks = [{ key, versionstamp: found.versionstamp }];
    return await this.store.tryCommit({ checks, deletes: [key], announce: false }) !== undefined;
  }

  #renewed(holder: LeaseHolder): Lease {
    const renewedAt = this.#now();
    return { ...holder, renewedAt, expiresAt: renewedAt + this.#ttlMs };
  }
}

const RENEW_MS = 5_000;

interface LeaseOptions {
  address: string;
  startedAt: number;
  isRunning(pid: number): Promise<boolean>;
  onWarning: WarningListener;
}

export interface KeptLease extends AsyncDisposable {
  id: string;
  /** Acquires the lease at the first call, and renews it from then on. */
  hold(): Promise<void>;
  /** Asks the store each time: a sibling may have started a moment ago. */
  isAlive(id: string): Promise<boolean>;
  /** The other gateways on the store that listen. */
  others(): Promise<string[]>;
}

/** This process's lease: renewed until disposed, so that nobody takes over its work. */
export function keepLease(
  leases: LeasesRepository,
  { address, startedAt, isRunning, onWarning }: LeaseOptions,
): KeptLease {
  const id = crypto.randomUUID();
  const holder = { id, pid: Deno.pid, host: hostname(), startedAt, address };
  let renewing = Promise.resolve();
  let timer: ReturnType<typeof setInterval> | undefined;
  const hold = once(async () => {
    await leases.acquire(holder);
    timer = setInterval(() => {
      renewing = renew();
    }, RENEW_MS);
    Deno.unrefTimer(Number(timer));
  });

  async function renew(): Promise<void> {
    try {
      await leases.renew(id);
    } catch (error) {
      onWarning("Cannot renew this process's lease", { error });
      // Gone after a long sleep of the machine: what it covered was released, so start over.
      await leases.acquire(holder).catch(() => {});
    }
  }

  async function isLive(lease: Lease | undefined): Promise<boolean> {
    if (!lease || lease.expiresAt <= Date.now()) return false;
    // A gateway on this machine whose process is gone need not lapse first.
    return lease.host !== holder.host || await isRunning(lease.pid);
  }

  return {
    id,
    hold,
    // Our own may have lapsed while the machine slept.
    isAlive: async (other) => other === id || await isLive(await leases.find(other)),
    async others() {
      const found = (await leases.listAlive()).filter((lease) => lease.id !== id && lease.address);
      const live = await Promise.all(found.map(isLive));
      return found.filter((_, nth) => live[nth]).map((lease) => lease.id);
    },
    async [Symbol.asyncDispose]() {
      if (timer === undefined) return;
      clearInterval(timer);
      await renewing;
      await leases.release(id).catch((error) => onWarning("Cannot release the lease", { error }));
    },
  };
}

/** One started program, recorded so that another gateway can end it if its owner was killed. */
const ProcessRecord = z.strictObject({
  id: z.string(),
  /** The lease of the gateway that started it. */
  leaseId: z.string(),
  /** The machine it runs on: nobody else can end it. */
  host: z.string(),
  /** The `NAME=value` in its environment, and in that of all it starts. */
  marker: z.string(),
  /** Its name without arguments, which may hold secrets. */
  command: z.string(),
  /** Missing until it runs: the record is written first. */
  pgid: z.int().optional(),
  startTime: z.string().optional(),
});
export type ProcessRecord = z.infer<typeof ProcessRecord>;

export class ProcessesRepository extends collection({
  noun: "process",
  key: keys.processes,
  schema: ProcessRecord,
  idOf: ({ id }) => id,
  announce: false,
}) {}
