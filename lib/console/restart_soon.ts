import type { Gateway } from "../compose.ts";
import { GatewayError } from "../core/errors.ts";

const WAIT_MS = 300;

/**
 * Restarts a server without waiting for all of it: the page shows its state as it changes, and why
 * it failed if it did. Throws only where nothing can be restarted.
 */
export async function restartSoon(
  { admin }: Pick<Gateway, "admin">,
  name: string,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, WAIT_MS);
  let refused: GatewayError | undefined;
  const restarted = admin.restart(name).then(() => {}, (error) => {
    const isRefusal = error instanceof GatewayError &&
      (error.code === "SERVER_NOT_RUNNING" || error.code === "SERVER_NOT_FOUND");
    if (isRefusal) refused = error;
  });
  await Promise.race([restarted, promise]);
  clearTimeout(timer);
  if (refused) throw refused;
}
