import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";

/** Three parts of this size make a key that Deno KV takes, even if every byte needs a second one. */
const PART_BYTES = 300;
/** What a part that stands for another text begins with, and no other part. */
const HASHED = "#";

/**
 * A text of any length and content as one part of a key: itself wherever that is possible, so that
 * keys sort as their texts do.
 */
export function keyPart(text: string): string {
  // The store keeps no lone surrogates, so that the key would be another one when read back.
  const isKept = text.isWellFormed() && !text.startsWith(HASHED) &&
    new TextEncoder().encode(text).length <= PART_BYTES;
  // As UTF-16: in UTF-8, all lone surrogates are the same.
  return isKept
    ? text
    : HASHED + createHash("sha256").update(Buffer.from(text, "utf16le")).digest("hex");
}
