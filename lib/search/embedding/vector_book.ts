import type { SearchDocument } from "../search_document.ts";
import { dot, lengthOf, unit } from "./quantize.ts";
import { serverText, textHash, toolText } from "./semantic_text.ts";
import { type Nearness, VectorScores } from "./vector_scores.ts";

interface Kept {
  vector: Int8Array;
  length: number;
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
  readonly #missing = new Map<string, string>();

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
    this.#kept.set(hash, { vector, length: lengthOf(vector) || 1 });
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
    for (const hash of this.#missing.keys()) if (!used.has(hash)) this.#missing.delete(hash);
  }

  /** How near each tool is to the query. */
  compare(query: Float32Array): VectorScores {
    const direction = unit(query);
    const known = new Map<string, number>();
    const near = (hash: string | undefined): number | undefined => {
      const kept = hash === undefined ? undefined : this.#kept.get(hash);
      if (kept === undefined || hash === undefined) return undefined;
      const before = known.get(hash);
      if (before !== undefined) return before;
      const now = dot(direction, kept.vector) / kept.length;
      known.set(hash, now);
      return now;
    };
    return new VectorScores(
      Array.from(this.#texts, ([key, { tool, server }]): Nearness => ({
        key,
        tool: near(tool),
        server: near(server),
      })),
    );
  }

  #want(text: string): string {
    const hash = textHash(text);
    if (!this.#kept.has(hash)) this.#missing.set(hash, text);
    return hash;
  }
}
