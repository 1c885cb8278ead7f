import { z } from "zod";
import type { ClientEntry } from "../config/client_entry.ts";

/** Stands where a client's token belongs. */
export const TOKEN_PLACE = "YOUR_TOKEN";

/** The gateway is on this machine: one that takes longer says nothing about tokens either. */
const LIMIT_MS = 5_000;

const WithHeaders = z.looseObject({ headers: z.record(z.string(), z.string()) });

/** Whether a gateway that runs lets in only those who have a token. */
export async function asksForToken(address: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(LIMIT_MS);
    const response = await fetch(new URL("/api/status", address), { signal });
    await response.body?.cancel();
    return response.status === 401;
  } catch {
    return false;
  }
}

/** The entry of a client that has to show a token; the headers it had stay. */
export function withTokenPlace(entry: ClientEntry, before?: unknown): ClientEntry {
  // One that is started as a program reads the gateway's data, and comes in by that.
  if (!("url" in entry)) return entry;
  const kept = WithHeaders.safeParse(before).data?.headers ?? {};
  const headers = { Authorization: `Bearer ${TOKEN_PLACE}`, ...kept };
  const whole = { ...entry, headers };
  return whole;
}
