import { GatewayError } from "../core/errors.ts";

/** Whether the store is in trouble, and not what was asked of it. */
export function isStorageError(error: unknown): boolean {
  return error instanceof GatewayError && error.code.startsWith("STORAGE_");
}
