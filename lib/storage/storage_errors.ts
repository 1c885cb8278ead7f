import { GatewayError } from "../core/errors.ts";
import type { Location } from "./kv_client.ts";

/** The steps that lead out of a damaged store; `extra` are further files of the same database. */
function recoverySteps(location: Location, suffix: string, extra: string[]): string[] {
  const restore = "Restore a backup: quartermaster restore FILE";
  if (location.kind !== "file") return [restore];
  const moves = ["", ...extra].map((end) =>
    `mv "${location.path}${end}" "${location.path}.${suffix}${end}"`
  );
  return [restore, `Or move the file away and start empty: ${moves.join(" && ")}`];
}

export function damaged(
  location: Location,
  why: string,
  { cause, extra = [] }: { cause?: unknown; extra?: string[] } = {},
): GatewayError {
  return new GatewayError("STORAGE_CORRUPT", {
    message: `The data store ${location.label} is damaged: ${why}`,
    recoverySteps: recoverySteps(location, "damaged", extra),
    cause,
  });
}

export function foreign(location: Location, why: string): GatewayError {
  const steps = location.kind === "file"
    ? [
      "Choose another file with --kv, or another folder with --data-dir",
      `Or move the file away: mv "${location.path}" "${location.path}.foreign"`,
    ]
    : ["Choose another store with --kv"];
  return new GatewayError("STORAGE_CORRUPT", {
    message: `The data store ${location.label} does not belong to Quartermaster: ${why}`,
    recoveryAction: "Choose another data store; this one was not changed",
    recoverySteps: steps,
  });
}

export function unavailable(
  location: Location,
  why: string,
  { cause, hint }: { cause?: unknown; hint?: string | undefined } = {},
): GatewayError {
  return new GatewayError("STORAGE_UNAVAILABLE", {
    message: `Cannot use the data store ${location.label}: ${why}`,
    ...(location.kind === "remote"
      ? { recoveryAction: "Check --kv, QUARTERMASTER_KV_TOKEN, and that the KV server is running" }
      : {}),
    ...(hint === undefined ? {} : { hint }),
    cause,
  });
}

export function full(location: Location, cause: unknown): GatewayError {
  return new GatewayError("STORAGE_FULL", {
    message: `Cannot save to ${location.label}: the disk is full`,
    cause,
  });
}

export function busy(location: Location, what: string): GatewayError {
  return new GatewayError("OPERATION_IN_PROGRESS", {
    message: `Cannot ${what} ${location.label}: other processes keep changing it`,
  });
}

/** The errors of Deno KV, SQLite and the file system as ours. */
export function toStorageError(error: unknown, location: Location): GatewayError {
  if (error instanceof GatewayError) return error;
  const text = error instanceof Error ? error.message : String(error);
  const because = (why: string) => unavailable(location, why, { cause: error });
  if (isDatabaseLocked(error)) return because("another process has it locked");
  if (/disk is full|no space left|quota exceeded/i.test(text)) return full(location, error);
  if (/not a database|malformed|value encoding .* is unknown/i.test(text)) {
    return damaged(location, text, { cause: error });
  }
  if (/read-?only database/i.test(text)) return because("it is read-only");
  if (/disk I\/O error|unable to open database/i.test(text)) return because(text);
  if (/database is closed/i.test(text) || error instanceof Deno.errors.BadResource) {
    return because("it was closed");
  }
  if (error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotCapable) {
    return because("permission denied");
  }
  if (error instanceof TypeError || error instanceof RangeError) {
    return new GatewayError("INTERNAL", { cause: error });
  }
  return because(text);
}

const LIMIT_MS = 5_000;
const LONGEST_PAUSE_MS = 250;

/** Whether another process had the database file to itself at that moment. */
function isDatabaseLocked(error: unknown): boolean {
  return error instanceof Error &&
    /database (table |schema )?is (locked|busy)/i.test(error.message);
}

/**
 * Repeats an operation while the database file is locked, for up to five seconds.
 *
 * The pauses are random, or two processes that collided once would go on colliding.
 */
export async function retryLocked<T>(
  operation: () => Promise<T>,
  { limitMs = LIMIT_MS, random = Math.random } = {},
): Promise<T> {
  const end = performance.now() + limitMs;
  for (let attempt = 0;; attempt++) {
    try {
      return await operation();
    } catch (error) {
      if (!isDatabaseLocked(error) || performance.now() >= end) throw error;
      const ceiling = Math.min(LONGEST_PAUSE_MS, 4 * 2 ** attempt);
      await new Promise((resolve) => setTimeout(resolve, 1 + random() * ceiling));
    }
  }
}
