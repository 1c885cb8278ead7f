/**
 * Multiplies 16 bytes at a time, which JavaScript cannot: a tenth of the time. Assembled from
 *
 *   (func (export "dots") (param $row i32) (param $end i32) (param $stride i32) (param $out i32)
 *     ;; for each row from $row to $end: the sum over $at in 0, 16 .. $stride of
 *     (i32x4.add
 *       (i32x4.extadd_pairwise_i16x8_s (i16x8.extmul_low_i8x16_s
 *         (v128.load (local.get $at)) (v128.load (i32.add (local.get $row) (local.get $at)))))
 *       (i32x4.extadd_pairwise_i16x8_s (i16x8.extmul_high_i8x16_s ...the same...)))
 *     ;; its four lanes added, stored at $out; $out += 4, $row += $stride
 *   )
 */
const DOTS =
  "AGFzbQEAAAABCAFgBH9/f38AAgwBAAZtZW1vcnkCAAEDAgEABwgBBGRvdHMAAAqYAQGVAQIBfwN7AkADQCAAIAFPDQH9DAAAAAAAAAAAAAAAAAAAAAAhBUEAIQQDQCAE/QAEACEGIAAgBGr9AAQAIQcgBSAGIAf9nAH9fiAGIAf9nQH9fv2uAf2uASEFIARBEGoiBCACSQ0ACyADIAX9GwAgBf0bAWogBf0bAiAF/RsDamo2AgAgA0EEaiEDIAAgAmohAAwACwsL";
const LANE = 16;
const PAGE = 65_536;

type Dots = (row: number, end: number, stride: number, out: number) => void;

/** Vectors of bytes in one block of memory, to be multiplied by another. */
export class VectorBlock {
  /** Of each row, its vector's length. */
  readonly lengths: Float32Array;
  readonly #bytes: Int8Array;
  readonly #products: Int32Array;
  readonly #rowsStart: number;
  readonly #stride: number;
  readonly #dimensions: number;
  readonly #dots: Dots;

  constructor(vectors: readonly Int8Array[], dimensions: number) {
    const count = vectors.length;
    // First the vector to multiply by, then the products, then the rows; rows end in zeros.
    this.#stride = Math.max(1, Math.ceil(dimensions / LANE)) * LANE;
    this.#rowsStart = this.#stride + count * Int32Array.BYTES_PER_ELEMENT;
    const size = this.#rowsStart + count * this.#stride;
    const memory = new WebAssembly.Memory({ initial: Math.ceil(size / PAGE) });
    const module = new WebAssembly.Module(Uint8Array.fromBase64(DOTS));
    this.#dots = new WebAssembly.Instance(module, { "": { memory } }).exports.dots as Dots;
    this.#bytes = new Int8Array(memory.buffer);
    this.#products = new Int32Array(memory.buffer, this.#stride, count);
    this.#dimensions = dimensions;
    this.lengths = Float32Array.from(vectors, (vector) => lengthOf(vector) || 1);
    vectors.forEach((vector, row) => this.row(row).set(vector));
  }

  row(index: number): Int8Array {
    const start = this.#rowsStart + index * this.#stride;
    return this.#bytes.subarray(start, start + this.#dimensions);
  }

  /** Sets what rows are compared with. */
  aim(vector: Int8Array): void {
    // What stands behind it meets the zeros of the rows.
    this.#bytes.set(vector);
  }

  /** The products of all rows; they stay only until the next call. */
  products(): Int32Array {
    const end = this.#rowsStart + this.#products.length * this.#stride;
    this.#dots(this.#rowsStart, end, this.#stride, this.#stride);
    return this.#products;
  }

  product(row: number): number {
    const start = this.#rowsStart + row * this.#stride;
    this.#dots(start, start + this.#stride, this.#stride, this.#stride);
    return this.#products[0]!;
  }
}

export function lengthOf(vector: Int8Array): number {
  let sum = 0;
  for (const value of vector) sum += value * value;
  return Math.sqrt(sum);
}
