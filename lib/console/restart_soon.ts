import type { Gateway } from "../compose.ts";
import { type ErrorCode, GatewayError } from "../core/errors.ts";
import type { ServerStatus } from "../core/server.ts";
import { LinkClosed } from "../downstream/link.ts";

const WAIT_MS = 300;

/** What the server is to blame for; its page tells the reason. */
const SERVER_TROUBLE: readonly ErrorCode[] = ["SERVER_DISCONNECTED", "TIMEOUT", "LIMIT_EXCEEDED"];

/**
 * Restarts a server without waiting for all of it: the page shows its state as it changes, and why
 * it failed if it did. Gives the state where that is known at once. Throws where it is not the
 * server that failed; what happens later is logged.
 */
export async function restartSoon(
  { admin, requestLog }: Pick<Gateway, "admin" | "requestLog">,
  name: string,
  waitMs = WAIT_MS,
): Promise<ServerStatus | undefined> {
  const { promise: waited, resolve } = Promise.withResolvers<undefined>();
  let isWaiting = true;
  const timer = setTimeout(() => {
    isWaiting = false;
    resolve(undefined);
  }, waitMs);
  const restarted = admin.restart(name).catch((error: unknown) => {
    if (isServerTrouble(error)) return isWaiting ? admin.describe(name).server : undefined;
    if (isWaiting) throw error;
    requestLog.error({ err: error, server: name }, "Restart failed");
  });
  try {
    return await Promise.race([restarted.then((status) => status ?? undefined), waited]);
  } finally {
    clearTimeout(timer);
  }
}

function isServerTrouble(error: unknown): boolean {
  return error instanceof LinkClosed ||
    error instanceof GatewayError && SERVER_TROUBLE.includes(error.code);
}
