import { createHash } from "node:crypto";

const PREFIX = "qm_";

/** A token that nobody can guess: 256 bits. */
export function newTokenText(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return PREFIX + bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** What is kept of a secret that is only ever compared. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The token of an `Authorization: Bearer` header. */
export function bearerOf(authorization: string): string | undefined {
  return /^Bearer +([\x21-\x7e]{1,8192})$/i.exec(authorization)?.[1];
}
