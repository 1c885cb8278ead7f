import { hostname } from "node:os";
import { isLoopback } from "../config/address.ts";
import { type Lease, LeasesRepository } from "../storage/leases_repository.ts";
import type { Store } from "../storage/store.ts";
import { signingSecret } from "../storage/secrets_repository.ts";
import { Credential } from "./credential.ts";
import type { GatewayStatus } from "../operations/status.ts";
import { GatewayClient } from "./gateway_client.ts";

export interface FoundGateway {
  client: GatewayClient;
  /** Where it listens; the address in its status may be one for others. */
  address: string;
  status: GatewayStatus;
}

/** The gateways that run on a store and can be reached from here, the oldest first. */
export async function findGateways(store: Store): Promise<FoundGateway[]> {
  const leases = await new LeasesRepository(store).listAlive();
  const found = await Promise.all(
    leases.toSorted((a, b) => a.startedAt - b.startedAt).map(async (lease) => {
      if (!lease.address) return undefined;
      const client = new GatewayClient(
        lease.address,
        new Credential(
          isElsewhere(store, lease, lease.address)
            ? {}
            : { owner: { gateway: lease, secret: () => signingSecret(store) } },
        ),
      );
      if (!await client.isHealthy()) return undefined;
      const status = await client.status().catch(() => undefined);
      // A lease outlives a killed gateway for a while, and another one may have its port by then.
      const isOwner = status?.pid === lease.pid && status.startedAt === lease.startedAt;
      return status && isOwner ? { client, address: lease.address, status } : undefined;
    }),
  );
  return found.filter((gateway) => gateway !== undefined);
}

/**
 * Whether the address leads to this machine, although the gateway is on another: what answers here
 * must not get a proof that is good there. A file's users are on one machine, whatever its name was.
 */
function isElsewhere({ location }: Store, { host }: Lease, address: string): boolean {
  return location.kind === "remote" && host !== hostname() && isLoopback(new URL(address).hostname);
}
