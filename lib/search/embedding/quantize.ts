const STEPS = 127;

/** A vector's direction in a byte a dimension; what is lost does not change a ranking. */
export function quantize(vector: Float32Array): Int8Array<ArrayBuffer> {
  let most = 0;
  for (const value of vector) most = Math.max(most, Math.abs(value));
  if (most === 0 || !Number.isFinite(most)) return new Int8Array(vector.length);
  return Int8Array.from(vector, (value) => Math.round(value / most * STEPS));
}

/** A vector's direction, its length 1. */
export function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return length === 0 || !Number.isFinite(length)
    ? new Float32Array(vector.length)
    : vector.map((value) => value / length);
}

export function lengthOf(vector: Int8Array): number {
  let sum = 0;
  for (const value of vector) sum += value * value;
  return Math.sqrt(sum);
}

/** The product of both; 0 where they have different dimensions. */
export function dot(query: Float32Array, kept: Int8Array): number {
  if (query.length !== kept.length) return 0;
  let sum = 0;
  for (let index = 0; index < kept.length; index++) sum += query[index]! * kept[index]!;
  return sum;
}
