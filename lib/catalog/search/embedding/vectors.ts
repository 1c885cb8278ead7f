import { createHash } from "node:crypto";
import type { SearchDocument } from "../search_document.ts";
import type { SemanticScores } from "../ranking.ts";
import { lengthOf, VectorBlock } from "./vector_block.ts";

/** Vectors as one block of bytes, and the rows that each tool uses; made after a change. */
interface Layout {
  keys: string[];
  positions: ReadonlyMap<string, number>;
  /** Rows by the position of a key; -1 if there is no vector. */
  tool: Int32Array;
  server: Int32Array;
  block: VectorBlock;
}

export class ToolVectors {
  readonly #texts = new Map<string, { tool: string; server: string | undefined }>();
  readonly #vectors = new Map<string, Int8Array>();
  #missing = new Map<string, string>();
  /** Tools are added a few at a time: looking at all of them each time would take longer than all else. */
  #hasUnused = false;
  #isSorted = true;
  #layout: Layout | undefined;

  get done(): number {
    return this.#vectors.size;
  }

  get total(): number {
    return this.#vectors.size + this.#missing.size;
  }

  add(document: SearchDocument): void {
    this.#layout = undefined;
    if (this.#texts.has(document.key)) this.#hasUnused = true;
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
    if (this.#texts.delete(key)) this.#hasUnused = true;
  }

  missing(limit: number): Map<string, string> {
    // Texts of one length go together: a model takes as long for each as for the longest of a batch.
    if (!this.#isSorted) {
      this.#missing = new Map(
        [...this.#missing].sort(([, one], [, other]) => one.length - other.length),
      );
      this.#isSorted = true;
    }
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

  /** Forgets texts and vectors that no tool uses any more. */
  tidy(): void {
    if (!this.#hasUnused) return;
    this.#hasUnused = false;
    const used = this.used();
    for (const known of [this.#vectors, this.#missing]) {
      for (const hash of known.keys()) if (!used.has(hash)) known.delete(hash);
    }
  }

  compare(query: Float32Array, clauses: readonly Float32Array[] = []): VectorScores {
    const layout = this.#layout ??= this.#lay(query.length);
    return new VectorScores(layout, query, clauses);
  }

  /** Vectors of another length than the query's belong to another model: they count as missing. */
  #lay(dimensions: number): Layout {
    const fitting = [...this.#vectors].filter(([, { length }]) => length === dimensions);
    const block = new VectorBlock(fitting.map(([, vector]) => vector), dimensions);
    const rowOf = new Map<string | undefined, number>();
    fitting.forEach(([hash], row) => {
      rowOf.set(hash, row);
      // The block is the only copy.
      this.#vectors.set(hash, block.row(row));
    });
    const keys = [...this.#texts.keys()];
    const texts = [...this.#texts.values()];
    return {
      keys,
      positions: new Map(keys.map((key, position) => [key, position])),
      tool: Int32Array.from(texts, ({ tool }) => rowOf.get(tool) ?? -1),
      server: Int32Array.from(texts, ({ server }) => rowOf.get(server) ?? -1),
      block,
    };
  }

  #want(text: string): string {
    const hash = createHash("sha256").update(text).digest("hex").slice(0, 32);
    if (this.#vectors.has(hash) || this.#missing.has(hash)) return hash;
    this.#missing.set(hash, text);
    this.#isSorted = false;
    return hash;
  }
}

/** What a standard deviation of nearness to the tool itself is worth, and to its server. */
const TOOL_WEIGHT = 0.6;
const SERVER_WEIGHT = 0.25;
/** So many rows tell how near a clause is to the average tool. */
const SAMPLE = 400;

/** Nearness in standard deviations above the average tool, because cosines differ by model and query. */
interface MeaningOfTool {
  tool: number;
  server: number;
  /** By clause of the query; empty if it is one. */
  clauses: number[];
  /** The cosine itself, for how sure the best is. */
  cosine: number;
}

export class VectorScores implements SemanticScores {
  readonly #layout: Layout;
  readonly #cosines: Float32Array;
  readonly #tool: Float64Array;
  readonly #server: Float64Array;
  /** By clause, then by position; empty if the query is one. */
  readonly #clauses: ClauseScores[];
  #sums: Float64Array | undefined;

  constructor(layout: Layout, query: Float32Array, clauses: readonly Float32Array[]) {
    this.#layout = layout;
    const { block } = layout;
    const direction = quantize(query);
    const size = lengthOf(direction) || 1;
    block.aim(direction);
    const products = block.products();
    this.#cosines = block.lengths.map((length, row) => products[row]! / (length * size));
    this.#tool = spreadOf(layout.tool, this.#cosines);
    this.#server = spreadOf(layout.server, this.#cosines);
    this.#clauses = clauses.length < 2
      ? []
      : clauses.map((clause) => new ClauseScores(layout, quantize(clause)));
  }

  of(key: string): MeaningOfTool | undefined {
    const position = this.#layout.positions.get(key);
    const row = position === undefined ? -1 : this.#layout.tool[position]!;
    if (position === undefined || row < 0) return undefined;
    const tool = this.#tool[position]!;
    const clauses = this.#clauses.map((clause) => clause.of(row));
    return { tool, server: this.#server[position]!, clauses, cosine: this.#cosines[row]! };
  }

  nearest(limit: number, admits: (key: string) => boolean = () => true): string[] {
    const values = this.#sums ??= this.#tool.map((tool, position) =>
      TOOL_WEIGHT * tool + SERVER_WEIGHT * this.#server[position]!
    );
    const { keys } = this.#layout;
    // One pass that keeps the nearest in order: sorting all of them takes ten times as long.
    const near: number[] = [];
    let least = -Infinity;
    for (let position = 0; position < values.length && limit > 0; position++) {
      const value = values[position]!;
      if ((near.length >= limit && value <= least) || !admits(keys[position]!)) continue;
      if (near.length >= limit) near.pop();
      let place = near.length;
      for (; place > 0 && values[near[place - 1]!]! < value; place--) {
        near[place] = near[place - 1]!;
      }
      near[place] = position;
      least = values[near.at(-1)!]!;
    }
    return near.map((position) => keys[position]!);
  }
}

/** Nearness to one clause of a query. */
class ClauseScores {
  readonly #block: VectorBlock;
  readonly #vector: Int8Array;
  readonly #size: number;
  readonly #mean: number;
  readonly #deviation: number;

  constructor({ block, tool }: Layout, vector: Int8Array) {
    this.#block = block;
    this.#vector = vector;
    this.#size = lengthOf(vector) || 1;
    const step = Math.max(1, Math.floor(tool.length / SAMPLE));
    let [count, sum, squares] = [0, 0, 0];
    for (let position = 0; position < tool.length; position += step) {
      if (tool[position]! < 0) continue;
      const cosine = this.#cosine(tool[position]!);
      count++;
      sum += cosine;
      squares += cosine * cosine;
    }
    const { mean, deviation } = momentsOf(count, sum, squares);
    this.#mean = mean;
    this.#deviation = deviation;
  }

  of(row: number): number {
    return (this.#cosine(row) - this.#mean) / this.#deviation;
  }

  #cosine(row: number): number {
    this.#block.aim(this.#vector);
    return this.#block.product(row) / (this.#block.lengths[row]! * this.#size);
  }
}

/** In standard deviations above the average, by position; 0 where there is no row. */
function spreadOf(rows: Int32Array, values: Float32Array): Float64Array {
  const spread = new Float64Array(rows.length);
  let [count, sum, squares] = [0, 0, 0];
  for (const row of rows) {
    if (row < 0) continue;
    const value = values[row]!;
    count++;
    sum += value;
    squares += value * value;
  }
  const { mean, deviation } = momentsOf(count, sum, squares);
  for (let position = 0; position < rows.length; position++) {
    const row = rows[position]!;
    if (row >= 0) spread[position] = (values[row]! - mean) / deviation;
  }
  return spread;
}

function momentsOf(count: number, sum: number, squares: number) {
  const mean = sum / Math.max(1, count);
  const deviation = Math.sqrt(Math.max(0, squares / Math.max(1, count) - mean * mean));
  // Where all are as near, none is nearer.
  return { mean, deviation: deviation < 1e-6 ? Infinity : deviation };
}

const STEPS = 127;

/** A vector's direction in a byte a dimension; what is lost does not change a ranking. */
export function quantize(vector: Float32Array): Int8Array<ArrayBuffer> {
  let most = 0;
  for (const value of vector) most = Math.max(most, Math.abs(value));
  if (most === 0 || !Number.isFinite(most)) return new Int8Array(vector.length);
  return Int8Array.from(vector, (value) => Math.round(value / most * STEPS));
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
  return query.replace(/\s+/g, " ").trim().slice(0, MOST_QUERY_CHARS).toWellFormed();
}

function spaced(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .replace(/[_\-./]+/g, " ");
}
