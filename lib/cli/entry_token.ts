import { z } from "zod";
import type { ClientEntry } from "../config/client_dialects.ts";

/** Stands where a client's token belongs. */
export const TOKEN_PLACE = "YOUR_TOKEN";

/** The gateway is on this machine: one that takes longer says nothing about tokens either. */
const LIMIT_MS = 5_000;

const WithHeaders = z.looseObject({ headers: z.record(z.string(), z.string()) });
const WithEnv = z.looseObject({ env: z.record(z.string(), z.unknown()) });

/** Whether a gateway that runs lets in only those who have a token. */
export async function asksForToken(address: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(LIMIT_MS);
    const response = await fetch(new URL("/api/status.show", address), { signal });
    await response.body?.cancel();
    return response.status === 401;
  } catch {
    return false;
  }
}

/** The entry of a client that has to show a token. */
export function withTokenPlace(entry: ClientEntry): ClientEntry {
  // One that is started as a program reads the gateway's data, and comes in by that.
  if (!("url" in entry) || Object.keys(headersOf(entry)).some(isAuthorization)) return entry;
  const headers = { Authorization: `Bearer ${TOKEN_PLACE}`, ...headersOf(entry) };
  const whole = { ...entry, headers };
  return whole;
}

/** The entry with what its owner put into the one before: headers and variables, tokens among them. */
export function withOwn(entry: ClientEntry, before: unknown): ClientEntry {
  const env = WithEnv.safeParse(before).data?.env;
  // Nobody's token: where none is needed it would be refused, and else it is put there again.
  const headers = Object.entries(headersOf(before)).filter(([name, value]) =>
    !(isAuthorization(name) && value === `Bearer ${TOKEN_PLACE}`)
  );
  if ("url" in entry) {
    return headers.length === 0 ? entry : { ...entry, ...{ headers: Object.fromEntries(headers) } };
  }
  return env === undefined ? entry : { ...entry, ...{ env } };
}

function headersOf(entry: unknown): Record<string, string> {
  return WithHeaders.safeParse(entry).data?.headers ?? {};
}

/** Names of headers are the same in any case. */
function isAuthorization(name: string): boolean {
  return name.toLowerCase() === "authorization";
}
