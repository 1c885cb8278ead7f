import { createHash } from "node:crypto";

const MAX_LENGTH = 64;

/** The name as the gateway can use it; the same name always becomes the same. */
export function usableServerName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/gu, "_");
  if (plain.length <= MAX_LENGTH) return plain;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
  return `${plain.slice(0, MAX_LENGTH - hash.length - 1)}_${hash}`;
}
