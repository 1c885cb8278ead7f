import { isLoopback } from "../config/address.ts";
import { GatewayError } from "../core/errors.ts";
import { isRemote, type ServerSpec } from "../core/server.ts";
import type { ServerActor } from "../auth/grants.ts";

/**
 * An entry with the right to be in a private network where that was chosen: by a person at this
 * machine who typed such an address and so has seen it, or before, for the same place.
 */
export async function withChosenAddress(
  spec: ServerSpec,
  by: ServerActor,
  stored?: ServerSpec,
): Promise<ServerSpec> {
  if (!isRemote(spec)) return spec;
  const { allowPrivate, ...rest } = spec;
  const isChosen = by.isHere && (allowPrivate || await privateWords(spec) !== undefined);
  // Approved by someone at this machine who saw the address.
  if (isChosen || (by.hasAgreed && isOnThisMachine(spec))) {
    return { ...rest, allowPrivate: true };
  }
  // Elsewhere the same word would open another host.
  const isKept = stored !== undefined && isRemote(stored) && stored.allowPrivate &&
    new URL(stored.url).origin === new URL(spec.url).origin;
  if (isKept) return { ...rest, allowPrivate: true };
  if (allowPrivate) {
    throw new GatewayError("ACCESS_DENIED", {
      message: "A private address can only be allowed from the gateway's own machine",
      recoverySteps: ["Leave allowPrivate out", "Or add the server on that machine"],
    });
  }
  return rest;
}

/** Whether a URL plainly names this machine: localhost, 127.x.x.x or [::1]. */
export function isOnThisMachine(spec: ServerSpec): boolean {
  return isRemote(spec) && isLoopback(new URL(spec.url).hostname);
}

/** What an address as it is written is an address of; undefined where it is out in the open. */
export async function privateWords(spec: ServerSpec): Promise<string | undefined> {
  if (!isRemote(spec)) return undefined;
  const { closedHost } = await import("../servers/transports/address_guard.ts");
  return closedHost(new URL(spec.url).hostname);
}

/** Why an entry leads where it may not, as an error that says how to allow it. */
export async function addressRefused(
  verb: "add" | "change",
  name: string,
  refusal: string,
): Promise<GatewayError> {
  const { ALLOWING } = await import("../servers/transports/address_guard.ts");
  return new GatewayError("ACCESS_DENIED", {
    message: `Cannot ${verb} server "${name}": ${refusal}`,
    recoveryAction: "Use a public address, or ask the owner to allow this one",
    recoverySteps: ALLOWING,
  });
}
