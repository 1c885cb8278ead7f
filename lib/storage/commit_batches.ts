import { keyBytes, type RecordKey } from "./keys.ts";

/** Well under what one commit can hold. */
const BYTES = 400_000;
const KEY_BYTES = 60_000;
const RECORDS = 200;

/** Splits what is to be set or deleted so that each batch fits into one commit. */
export function* commitBatches<T>(
  items: Iterable<T>,
  keyOf: (item: T) => RecordKey,
  bytesOf: (item: T) => number = () => 0,
): Generator<T[]> {
  let batch: T[] = [];
  let [bytes, inKeys] = [0, 0];
  for (const item of items) {
    const [own, inKey] = [bytesOf(item), keyBytes(keyOf(item))];
    const isFull = batch.length >= RECORDS || bytes + own > BYTES || inKeys + inKey > KEY_BYTES;
    if (isFull && batch.length > 0) {
      yield batch;
      [batch, bytes, inKeys] = [[], 0, 0];
    }
    batch.push(item);
    bytes += own;
    inKeys += inKey;
  }
  if (batch.length > 0) yield batch;
}
