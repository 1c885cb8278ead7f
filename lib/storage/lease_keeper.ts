import { hostname } from "node:os";
import type { WarningListener } from "./kv_client.ts";
import type { LeasesRepository } from "./leases_repository.ts";

const RENEW_MS = 5_000;

/** Holds this process's lease and renews it until disposed, so that nobody takes over its work. */
export async function keepLease(
  leases: LeasesRepository,
  { address, startedAt, onWarning }: {
    address: string;
    startedAt: number;
    onWarning: WarningListener;
  },
): Promise<AsyncDisposable & { id: string }> {
  const id = crypto.randomUUID();
  const holder = { id, pid: Deno.pid, host: hostname(), startedAt, address };
  await leases.acquire(holder);
  let renewing = Promise.resolve();
  const timer = setInterval(() => {
    renewing = renew();
  }, RENEW_MS);
  Deno.unrefTimer(timer);

  async function renew(): Promise<void> {
    try {
      await leases.renew(id);
    } catch (error) {
      onWarning("Cannot renew the lease of this process", { error });
      // Gone after a long sleep of the machine: what it covered was released, so begin anew.
      await leases.acquire(holder).catch(() => {});
    }
  }

  return {
    id,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await renewing;
      await leases.release(id).catch((error) => onWarning("Cannot release the lease", { error }));
    },
  };
}
