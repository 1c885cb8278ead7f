import { createHash } from "node:crypto";
import { nameArguments } from "../text.ts";
import type { SearchDocument } from "../search_document.ts";
import type { SemanticScores } from "../ranking.ts";

interface StoredVector {
  vector: Int8Array;
  length: number;
  /** What it was last compared in, and how near it was then. */
  comparison: number;
  nearness: number;
}

export class ToolVectors {
  readonly #texts = new Map<string, { tool: string; server: string | undefined }>();
  readonly #vectors = new Map<string, StoredVector>();
  #missing = new Map<string, string>();
  #comparisons = 0;

  get done(): number {
    return this.#vectors.size;
  }

  get total(): number {
    return this.#vectors.size + this.#missing.size;
  }

  add(document: SearchDocument): void {
    const server = serverText(document);
    this.#texts.set(document.key, {
      tool: this.#want(toolText(document)),
      server: server === "" ? undefined : this.#want(server),
    });
  }

  clear(): void {
    this.#texts.clear();
    this.#vectors.clear();
    this.#missing.clear();
  }

  remove(key: string): void {
    this.#texts.delete(key);
  }

  missing(limit: number): Map<string, string> {
    return new Map(
      limit >= this.#missing.size ? this.#missing : this.#missing.entries().take(limit),
    );
  }

  put(hash: string, vector: Int8Array): void {
    this.#missing.delete(hash);
    this.#vectors.set(hash, { vector, length: lengthOf(vector) || 1, comparison: 0, nearness: 0 });
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
    const direction = unit(query);
    const comparison = ++this.#comparisons;
    const near = (hash: string | undefined): number => {
      const kept = hash === undefined ? undefined : this.#vectors.get(hash);
      if (kept === undefined) return NaN;
      // Tools of one server share its text: compared once.
      if (kept.comparison !== comparison) {
        kept.comparison = comparison;
        kept.nearness = dot(direction, kept.vector) / kept.length;
      }
      return kept.nearness;
    };
    const keys = [...this.#texts.keys()];
    const tool = new Float64Array(keys.length);
    const server = new Float64Array(keys.length);
    let position = 0;
    for (const texts of this.#texts.values()) {
      tool[position] = near(texts.tool);
      server[position++] = near(texts.server);
    }
    return new VectorScores({ keys, tool, server });
  }

  #want(text: string): string {
    const hash = createHash("sha256").update(text).digest("hex").slice(0, 32);
    if (!this.#vectors.has(hash)) this.#missing.set(hash, text);
    return hash;
  }
}

/** What a standard deviation of nearness to the tool itself is worth, and to its server. */
const TOOL_WEIGHT = 0.6;
const SERVER_WEIGHT = 0.25;

interface Nearness {
  keys: string[];
  /** Cosines in the order of keys; NaN where there is no vector. */
  tool: Float64Array;
  server: Float64Array;
}

/** In standard deviations above the average tool, because cosines differ by model and by query. */
export class VectorScores implements SemanticScores {
  readonly #keys: string[];
  readonly #values: Float64Array;
  #positions: Map<string, number> | undefined;

  constructor({ keys, tool, server }: Nearness) {
    this.#keys = keys;
    this.#values = new Float64Array(keys.length);
    addSpread(this.#values, tool, TOOL_WEIGHT);
    addSpread(this.#values, server, SERVER_WEIGHT);
  }

  of(key: string): number {
    this.#positions ??= new Map(this.#keys.map((each, position) => [each, position]));
    return this.#values[this.#positions.get(key) ?? -1] ?? 0;
  }

  nearest(limit: number): string[] {
    const least = this.#values.toSorted().at(-Math.max(1, limit)) ?? -Infinity;
    const near: number[] = [];
    this.#values.forEach((value, position) => {
      if (value >= least) near.push(position);
    });
    return near.sort((one, other) => this.#values[other]! - this.#values[one]!)
      .slice(0, limit).map((position) => this.#keys[position]!);
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
  values.forEach((value, position) => {
    if (!Number.isNaN(value)) sums[position]! += weight * (value - mean) / deviation;
  });
}

const STEPS = 127;

/** A vector's direction in a byte a dimension; what is lost does not change a ranking. */
export function quantize(vector: Float32Array): Int8Array<ArrayBuffer> {
  let most = 0;
  for (const value of vector) most = Math.max(most, Math.abs(value));
  if (most === 0 || !Number.isFinite(most)) return new Int8Array(vector.length);
  return Int8Array.from(vector, (value) => Math.round(value / most * STEPS));
}

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
