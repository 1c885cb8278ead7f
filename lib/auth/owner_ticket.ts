import { createHmac, timingSafeEqual } from "node:crypto";
import type { Vouched } from "./credentials.ts";
import { WHOLE_SCOPE } from "./grants.ts";

const PREFIX = "qmo_";
const LIFETIME_MS = 5 * 60_000;

/** Who can read the store's own secret: its owner, who may do everything already. */
export const OWNER = "token:owner";

/** What tells one run of a gateway from every other on its store. */
export interface GatewayRun {
  pid: number;
  startedAt: number;
}

/**
 * Proves for a few minutes that a command line runs on the gateway's own data. It is good at that
 * gateway alone: another program may answer at its address, and must not get in anywhere with it.
 */
export function ownerTicket(secret: Uint8Array, gateway: GatewayRun, now = Date.now()): string {
  const expiry = now + LIFETIME_MS;
  return `${PREFIX}${expiry}_${proof(secret, gateway, expiry)}`;
}

/** Who shows a ticket; undefined where it is none, or one for another gateway. */
export function readOwnerTicket(
  bearer: string,
  secret: Uint8Array,
  gateway: GatewayRun,
): Vouched | undefined {
  const [, expiry, given] = /^qmo_(\d{13})_([0-9a-f]{64})$/.exec(bearer) ?? [];
  if (expiry === undefined || given === undefined) return undefined;
  const expected = proof(secret, gateway, Number(expiry));
  if (!timingSafeEqual(new TextEncoder().encode(given), new TextEncoder().encode(expected))) {
    return undefined;
  }
  return { principal: OWNER, name: "owner", scope: WHOLE_SCOPE, expiresAt: Number(expiry) };
}

function proof(secret: Uint8Array, { pid, startedAt }: GatewayRun, expiry: number): string {
  const signed = JSON.stringify(["owner ticket", expiry, pid, startedAt]);
  return createHmac("sha256", secret).update(signed).digest("hex");
}
