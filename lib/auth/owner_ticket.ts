import { createHmac, timingSafeEqual } from "node:crypto";
import type { Vouched } from "./credentials.ts";
import { WHOLE_SCOPE } from "./grants.ts";

const PREFIX = "qmo_";
const LIFETIME_MS = 5 * 60_000;

/** Who can read the store's own secret: its owner, who may do everything already. */
export const OWNER = "token:owner";

/** Proves for a few minutes that a command line runs on the gateway's own data. */
export function ownerTicket(secret: Uint8Array, now = Date.now()): string {
  const expiry = now + LIFETIME_MS;
  return `${PREFIX}${expiry}_${proof(secret, expiry)}`;
}

export function readOwnerTicket(bearer: string, secret: Uint8Array): Vouched | undefined {
  const [, expiry, given] = /^qmo_(\d{13})_([0-9a-f]{64})$/.exec(bearer) ?? [];
  if (expiry === undefined || given === undefined) return undefined;
  const expected = proof(secret, Number(expiry));
  if (!timingSafeEqual(new TextEncoder().encode(given), new TextEncoder().encode(expected))) {
    return undefined;
  }
  return { principal: OWNER, name: "owner", scope: WHOLE_SCOPE, expiresAt: Number(expiry) };
}

function proof(secret: Uint8Array, expiry: number): string {
  return createHmac("sha256", secret).update(JSON.stringify(["owner ticket", expiry])).digest(
    "hex",
  );
}
