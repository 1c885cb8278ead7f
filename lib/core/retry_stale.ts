import { GatewayError } from "./errors.ts";

/** Reads and writes anew, a few times, where what was read has changed before it was written. */
export async function retryStale<T>(readAndWrite: () => Promise<T>, most = 5): Promise<T> {
  for (let tries = 1;; tries++) {
    try {
      return await readAndWrite();
    } catch (error) {
      const isStale = error instanceof GatewayError && error.code === "CONFLICT";
      if (!isStale || tries >= most) throw error;
    }
  }
}
