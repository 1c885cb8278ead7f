import { z } from "zod";

/** What one entry, or one part of a large record, holds at most; Deno KV's limit is 65,536. */
export const PART_BYTES = 60_000;
/** More than any record should need, and few enough parts to be deleted in one commit. */
export const RECORD_BYTES = 32 * 1024 * 1024;

/** Stands in a record's place where the record is kept in parts. */
export const PartsPointer = z.strictObject({
  parts: z.string(),
  count: z.int().positive(),
  bytes: z.int().positive(),
});
export type PartsPointer = z.infer<typeof PartsPointer>;

export function encodeRecord(value: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** Throws where the bytes are not the JSON text that was written. */
export function decodeRecord(bytes: Uint8Array): unknown {
  return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
}

export function splitBytes(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (let start = 0; start < bytes.length; start += PART_BYTES) {
    parts.push(bytes.subarray(start, start + PART_BYTES));
  }
  return parts;
}

/** The whole again, or undefined where a part is missing or of the wrong size. */
export function joinBytes(parts: readonly unknown[], total: number): Uint8Array | undefined {
  const whole = new Uint8Array(total);
  let offset = 0;
  for (const part of parts) {
    if (!(part instanceof Uint8Array) || offset + part.length > total) return undefined;
    whole.set(part, offset);
    offset += part.length;
  }
  return offset === total ? whole : undefined;
}
