import { GatewayError } from "../../../core/errors.ts";
import { builtFile } from "../../../core/product.ts";
import type { Embedder } from "./embedder.ts";

/** How it is made, and what it can do: bench/embedding/README.md. */
const TABLE = builtFile("lib/catalog/search/data/embeddings.bin");

const MOST_TOKENS = 128;
/** Longer ones are data, not words. */
const LONGEST_WORD = 40;
const MOST_CACHED = 20_000;

/** What the table's file begins with, as one line of JSON. */
interface TableHeader {
  id: string;
  dimensions: number;
  tokens: number;
}

/**
 * Embeds a text as the sum of its tokens' vectors, from a table trained for finding tools. It takes
 * microseconds and needs no process, so vectors are ready as soon as the tools are.
 */
export class TableEmbedder implements Embedder {
  readonly id: string;
  readonly batch = 256;
  readonly isInstant = true;
  readonly #dimensions: number;
  readonly #tokens: ReadonlyMap<string, number>;
  /** What one step of a row is worth: rows differ in length by how much their token tells. */
  readonly #scales: Float32Array;
  readonly #rows: Int8Array;
  readonly #cache = new Map<string, readonly number[]>();

  /** Reads a table: a line of JSON, the tokens a line each, then scales and rows as bytes. */
  constructor(bytes: Uint8Array<ArrayBuffer>) {
    const headEnd = bytes.indexOf(10);
    const header: TableHeader = JSON.parse(new TextDecoder().decode(bytes.subarray(0, headEnd)));
    const { id, dimensions, tokens } = header;
    const rowsStart = bytes.length - tokens * dimensions;
    const scalesStart = rowsStart - tokens * 4;
    const names = new TextDecoder().decode(bytes.subarray(headEnd + 1, scalesStart)).split("\n");
    if (names.length !== tokens + 1) throw new TypeError("The embedding table is damaged");
    this.id = `local:${id}`;
    this.#dimensions = dimensions;
    this.#tokens = new Map(names.slice(0, tokens).map((name, row) => [name, row]));
    this.#scales = new Float32Array(bytes.slice(scalesStart, rowsStart).buffer);
    this.#rows = new Int8Array(bytes.buffer, bytes.byteOffset + rowsStart);
  }

  /** The built-in table is read once for all who use it at the same time: it never changes. */
  static #builtIn: WeakRef<TableEmbedder> | undefined;

  static async open(path: string | URL = TABLE): Promise<TableEmbedder> {
    const known = path === TABLE ? TableEmbedder.#builtIn?.deref() : undefined;
    if (known) return known;
    try {
      const opened = new TableEmbedder(await Deno.readFile(path));
      if (path === TABLE) TableEmbedder.#builtIn = new WeakRef(opened);
      return opened;
    } catch (error) {
      throw new GatewayError("NOT_AVAILABLE_HERE", {
        message: "Cannot read the built-in embedding table",
        recoveryAction: "Reinstall Quartermaster, or choose another embedding backend",
        cause: error,
      });
    }
  }

  knows(word: string): boolean {
    return this.#tokens.has(word.toLowerCase());
  }

  embed(texts: readonly string[]): Promise<Float32Array[]> {
    return Promise.resolve(texts.map((text) => this.vectorOf(text)));
  }

  /** All zeros for a text without a known token, such as one in another script. */
  vectorOf(text: string): Float32Array {
    const vector = new Float32Array(this.#dimensions);
    let count = 0;
    for (const [word] of unaccented(text).matchAll(/[A-Za-z0-9]+/g)) {
      for (const row of this.#rowsOf(word)) {
        if (count++ >= MOST_TOKENS) return vector;
        const scale = this.#scales[row]!;
        const start = row * this.#dimensions;
        for (let place = 0; place < vector.length; place++) {
          vector[place]! += scale * this.#rows[start + place]!;
        }
      }
    }
    return vector;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }

  /** A known word is one token; another one is split at its humps, then into known pieces. */
  #rowsOf(word: string): readonly number[] {
    let rows = this.#cache.get(word);
    if (rows) return rows;
    const whole = this.#tokens.get(word.toLowerCase());
    rows = whole === undefined
      ? splitHumps(word).flatMap((part) => this.#piecesOf(part.toLowerCase()))
      : [whole];
    if (this.#cache.size >= MOST_CACHED) this.#cache.clear();
    this.#cache.set(word, rows);
    return rows;
  }

  #piecesOf(word: string): number[] {
    const rows: number[] = [];
    const most = Math.min(word.length, LONGEST_WORD);
    for (let start = 0; start < most;) {
      let end = most;
      let row: number | undefined;
      for (; end > start; end--) {
        row = this.#tokens.get((start === 0 ? "" : "##") + word.slice(start, end));
        if (row !== undefined) break;
      }
      if (row !== undefined) rows.push(row);
      start = Math.max(end, start + 1);
    }
    return rows;
  }
}

function unaccented(text: string): string {
  return text.normalize("NFD").replace(/\p{Mn}/gu, "");
}

function splitHumps(word: string): string[] {
  return word.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .split(" ");
}
