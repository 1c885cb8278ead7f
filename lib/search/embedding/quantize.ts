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
  // Four sums at once: the processor need not wait for each addition.
  let [one, two, three, four] = [0, 0, 0, 0];
  const whole = kept.length & ~3;
  for (let index = 0; index < whole; index += 4) {
    one += query[index]! * kept[index]!;
    two += query[index + 1]! * kept[index + 1]!;
    three += query[index + 2]! * kept[index + 2]!;
    four += query[index + 3]! * kept[index + 3]!;
  }
  for (let index = whole; index < kept.length; index++) one += query[index]! * kept[index]!;
  return one + two + three + four;
}
