import { createHash } from "node:crypto";
import { nameArguments } from "../text.ts";
import type { SearchDocument } from "../search_document.ts";
import type { SemanticScores } from "../ranking.ts";

/** Vectors as one block of bytes, and the rows that each tool uses; made after a change. */
interface Layout {
  keys: string[];
  positions: ReadonlyMap<string, number>;
  /** Rows by the position of a key; -1 if there is no vector. */
  tool: Int32Array;
  server: Int32Array;
  dimensions: number;
  rows: Int8Array;
  lengths: Float32Array;
}

export class ToolVectors {
  readonly #texts = new Map<string, { tool: string; server: string | undefined }>();
  readonly #vectors = new Map<string, Int8Array>();
  #missing = new Map<string, string>();
  #layout: Layout | undefined;

  get done(): number {
    return this.#vectors.size;
  }

  get total(): number {
    return this.#vectors.size + this.#missing.size;
  }

  add(document: SearchDocument): void {
    this.#layout = undefined;
    const server = serverText(document);
    this.#texts.set(document.key, {
      tool: this.#want(toolText(document)),
      server: server === "" ? undefined : this.#want(server),
    });
  }

  clear(): void {
    this.#layout = undefined;
    this.#texts.clear();
    this.#vectors.clear();
    this.#missing.clear();
  }

  remove(key: string): void {
    this.#layout = undefined;
    this.#texts.delete(key);
  }

  missing(limit: number): Map<string, string> {
    return new Map(
      limit >= this.#missing.size ? this.#missing : this.#missing.entries().take(limit),
    );
  }

  put(hash: string, vector: Int8Array): void {
    this.#layout = undefined;
    this.#missing.delete(hash);
    this.#vectors.set(hash, vector);
  }

  used(): Set<string> {
    return new Set(
      this.#texts.values().flatMap(({ tool, server }) =>
        server === undefined ? [tool] : [tool, server]
      ),
    );
  }

  tidy(): void {
    const used = this.used();
    for (const hash of this.#vectors.keys()) if (!used.has(hash)) this.#vectors.delete(hash);
    // Texts of one length go together: a model takes as long for each as for the longest of a batch.
    this.#missing = new Map(
      [...this.#missing].filter(([hash]) => used.has(hash))
        .sort(([, one], [, other]) => one.length - other.length),
    );
  }

  compare(query: Float32Array): VectorScores {
    const { keys, positions, tool, server, dimensions, rows, lengths } = this.#layout ??= this.#lay(
      query.length,
    );
    const direction = quantize(query);
    const size = lengthOf(direction) || 1;
    const nearness = lengths.map((length, row) =>
      dot(direction, rows, row * dimensions) / (length * size)
    );
    return new VectorScores({
      keys,
      positions,
      tool: valuesAt(tool, nearness),
      server: valuesAt(server, nearness),
    });
  }

  /** Vectors of another length than the query's belong to another model: they count as missing. */
  #lay(dimensions: number): Layout {
    const fitting = [...this.#vectors].filter(([, { length }]) => length === dimensions);
    const rows = new Int8Array(fitting.length * dimensions);
    const rowOf = new Map<string | undefined, number>();
    fitting.forEach(([hash, vector], row) => {
      rows.set(vector, row * dimensions);
      rowOf.set(hash, row);
      // The block is the only copy.
      this.#vectors.set(hash, rows.subarray(row * dimensions, (row + 1) * dimensions));
    });
    const keys = [...this.#texts.keys()];
    const texts = [...this.#texts.values()];
    return {
      keys,
      positions: new Map(keys.map((key, position) => [key, position])),
      tool: Int32Array.from(texts, ({ tool }) => rowOf.get(tool) ?? -1),
      server: Int32Array.from(texts, ({ server }) => rowOf.get(server) ?? -1),
      dimensions,
      rows,
      lengths: Float32Array.from(fitting, ([, vector]) => lengthOf(vector) || 1),
    };
  }

  #want(text: string): string {
    const hash = createHash("sha256").update(text).digest("hex").slice(0, 32);
    if (!this.#vectors.has(hash)) this.#missing.set(hash, text);
    return hash;
  }
}

/** NaN for a row that is not there. */
function valuesAt(rows: Int32Array, values: Float32Array): Float64Array {
  const found = new Float64Array(rows.length);
  for (let position = 0; position < rows.length; position++) {
    found[position] = values[rows[position]!] ?? NaN;
  }
  return found;
}

/** What a standard deviation of nearness to the tool itself is worth, and to its server. */
const TOOL_WEIGHT = 0.6;
const SERVER_WEIGHT = 0.25;

interface Nearness {
  keys: string[];
  positions: ReadonlyMap<string, number>;
  /** Cosines in the order of keys; NaN where there is no vector. */
  tool: Float64Array;
  server: Float64Array;
}

/** In standard deviations above the average tool, because cosines differ by model and by query. */
export class VectorScores implements SemanticScores {
  readonly #keys: string[];
  readonly #values: Float64Array;
  readonly #positions: ReadonlyMap<string, number>;

  constructor({ keys, positions, tool, server }: Nearness) {
    this.#keys = keys;
    this.#positions = positions;
    this.#values = new Float64Array(keys.length);
    addSpread(this.#values, tool, TOOL_WEIGHT);
    addSpread(this.#values, server, SERVER_WEIGHT);
  }

  of(key: string): number {
    return this.#values[this.#positions.get(key) ?? -1] ?? 0;
  }

  nearest(limit: number, admits: (key: string) => boolean = () => true): string[] {
    const sorted = this.#values.toSorted();
    let near: string[] = [];
    // Most callers see most tools: the first few are enough nearly always.
    for (let count = Math.max(1, limit); near.length < limit; count *= 4) {
      const least = sorted.at(-count) ?? -Infinity;
      const positions: number[] = [];
      this.#values.forEach((value, position) => {
        if (value >= least) positions.push(position);
      });
      near = positions.sort((one, other) => this.#values[other]! - this.#values[one]!)
        .map((position) => this.#keys[position]!).filter(admits).slice(0, limit);
      if (count >= sorted.length) break;
    }
    return near;
  }
}

function addSpread(sums: Float64Array, values: Float64Array, weight: number): void {
  let [count, sum, squares] = [0, 0, 0];
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    count++;
    sum += value;
    squares += value * value;
  }
  const mean = sum / Math.max(1, count);
  const deviation = Math.sqrt(Math.max(0, squares / Math.max(1, count) - mean * mean));
  if (deviation < 1e-6) return;
  for (let position = 0; position < values.length; position++) {
    const value = values[position]!;
    if (!Number.isNaN(value)) sums[position]! += weight * (value - mean) / deviation;
  }
}

const STEPS = 127;

/** A vector's direction in a byte a dimension; what is lost does not change a ranking. */
export function quantize(vector: Float32Array): Int8Array<ArrayBuffer> {
  let most = 0;
  for (const value of vector) most = Math.max(most, Math.abs(value));
  if (most === 0 || !Number.isFinite(most)) return new Int8Array(vector.length);
  return Int8Array.from(vector, (value) => Math.round(value / most * STEPS));
}

export function lengthOf(vector: Int8Array): number {
  let sum = 0;
  for (const value of vector) sum += value * value;
  return Math.sqrt(sum);
}

/** Of a vector and the row that begins at `start`; whole numbers are three times as fast as fractions. */
export function dot(one: Int8Array, rows: Int8Array, start = 0): number {
  let sum = 0;
  for (let index = 0; index < one.length; index++) {
    sum = (sum + Math.imul(one[index]!, rows[start + index]!)) | 0;
  }
  return sum;
}

/** The beginning says what a tool does; the model's time grows with the length. */
const MOST_CHARS = 150;
const MOST_QUERY_CHARS = 600;

function toolText({ name, description }: SearchDocument): string {
  return `${spaced(name)}. ${description}`.slice(0, MOST_CHARS).toWellFormed();
}

function serverText({ server, serverTitle, serverDescription }: SearchDocument): string {
  if (!serverTitle && !serverDescription) return "";
  return `${serverTitle ?? server}. ${serverDescription ?? ""}`.slice(0, MOST_CHARS).toWellFormed();
}

export function queryText(query: string): string {
  const text = nameArguments(query.slice(0, 4 * MOST_QUERY_CHARS)).replace(/\s+/g, " ");
  return text.trim().slice(0, MOST_QUERY_CHARS).toWellFormed();
}

function spaced(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .replace(/[_\-./]+/g, " ");
}
