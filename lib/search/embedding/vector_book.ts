import type { SearchDocument } from "../search_document.ts";
import { dot, lengthOf, unit } from "./quantize.ts";
import { serverText, textHash, toolText } from "./semantic_text.ts";
import { VectorScores } from "./vector_scores.ts";

interface Kept {
  vector: Int8Array;
  length: number;
  /** What it was last compared in, and how near it was then. */
  comparison: number;
  nearness: number;
}

interface Texts {
  tool: string;
  server: string | undefined;
}

/** Which vectors each tool has, and which are still missing. */
export class VectorBook {
  readonly #texts = new Map<string, Texts>();
  readonly #kept = new Map<string, Kept>();
  /** The texts without a vector, by hash. */
  #missing = new Map<string, string>();
  #comparisons = 0;

  /** How many texts have a vector. */
  get done(): number {
    return this.#kept.size;
  }

  get total(): number {
    return this.#kept.size + this.#missing.size;
  }

  add(document: SearchDocument): void {
    const server = serverText(document);
    this.#texts.set(document.key, {
      tool: this.#want(toolText(document)),
      server: server === "" ? undefined : this.#want(server),
    });
  }

  /** Forgets everything. */
  clear(): void {
    this.#texts.clear();
    this.#kept.clear();
    this.#missing.clear();
  }

  remove(key: string): void {
    this.#texts.delete(key);
  }

  /** The texts to embed next. */
  missing(limit: number): Map<string, string> {
    return new Map(
      limit >= this.#missing.size ? this.#missing : this.#missing.entries().take(limit),
    );
  }

  put(hash: string, vector: Int8Array): void {
    this.#missing.delete(hash);
    this.#kept.set(hash, { vector, length: lengthOf(vector) || 1, comparison: 0, nearness: 0 });
  }

  /** The hashes of all texts that some tool has. */
  used(): Set<string> {
    return new Set(
      this.#texts.values().flatMap(({ tool, server }) =>
        server === undefined ? [tool] : [tool, server]
      ),
    );
  }

  /** Forgets the vectors and wishes that no tool has any more. */
  tidy(): void {
    const used = this.used();
    for (const hash of this.#kept.keys()) if (!used.has(hash)) this.#kept.delete(hash);
    // Texts of one length go together: a model takes as long for each as for the longest of a batch.
    this.#missing = new Map(
      [...this.#missing].filter(([hash]) => used.has(hash))
        .sort(([, one], [, other]) => one.length - other.length),
    );
  }

  /** How near each tool is to the query. */
  compare(query: Float32Array): VectorScores {
    const direction = unit(query);
    const comparison = ++this.#comparisons;
    const near = (hash: string | undefined): number => {
      const kept = hash === undefined ? undefined : this.#kept.get(hash);
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
    const hash = textHash(text);
    if (!this.#kept.has(hash)) this.#missing.set(hash, text);
    return hash;
  }
}
