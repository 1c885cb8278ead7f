import { z } from "zod";
import { keys } from "./keys.ts";
import type { Store } from "./store.ts";

const Secret = z.strictObject({ secret: z.string().regex(/^[0-9a-f]{64}$/) });

/** The secret that all gateways on a store sign with; made by the first that needs it. */
export async function signingSecret(store: Store): Promise<Uint8Array> {
  const key = keys.signingSecret();
  for (let attempt = 0; attempt < 10; attempt++) {
    const found = Secret.safeParse((await store.read(key))?.value);
    if (found.success) return Uint8Array.fromHex(found.data.secret);
    const value = { secret: crypto.getRandomValues(new Uint8Array(32)).toHex() };
    await store.tryCommit({
      checks: [{ key, versionstamp: null }],
      sets: [{ key, value }],
      announce: false,
    });
  }
  throw new Error("The signing secret cannot be kept");
}
