import { createHash } from "node:crypto";

/** Stands for an address where it is only compared: it may hold a secret. */
export function addressMark(url: string): string {
  return createHash("sha256").update(url).digest("hex");
}
