/** Every word of the corpus with a number of its own and how many tools have it. */
export class Vocabulary {
  readonly #ids = new Map<string, number>();
  readonly #words: (string | undefined)[] = [];
  readonly #counts: number[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#ids.size;
  }

  find(word: string): number | undefined {
    return this.#ids.get(word);
  }

  wordOf(id: number): string {
    return this.#words[id] ?? "";
  }

  countOf(id: number): number {
    return this.#counts[id] ?? 0;
  }

  words(): Iterable<string> {
    return this.#ids.keys();
  }

  /** One more tool has this word. */
  add(word: string): number {
    const known = this.#ids.get(word);
    if (known !== undefined) {
      this.#counts[known]!++;
      return known;
    }
    const id = this.#free.pop() ?? this.#words.length;
    this.#ids.set(word, id);
    this.#words[id] = word;
    this.#counts[id] = 1;
    return id;
  }

  /** One tool fewer has it; a word that nobody has is forgotten. */
  remove(id: number): void {
    const left = (this.#counts[id] ?? 0) - 1;
    this.#counts[id] = Math.max(0, left);
    if (left > 0) return;
    const word = this.#words[id];
    if (word === undefined) return;
    this.#ids.delete(word);
    this.#words[id] = undefined;
    this.#free.push(id);
  }
}
