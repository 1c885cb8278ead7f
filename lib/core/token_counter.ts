/** How long the tokenizer stays in memory after its last use. */
const KEEP_MS = 10_000;
const KNOWN_TEXTS = 20_000;

/**
 * Counts tokens as Claude's models roughly do (ai-tokenizer's `claude` encoding; an estimate). The
 * tokenizer takes tens of megabytes, so it lives in a worker that ends when it is idle.
 */
export class TokenCounter implements Disposable {
  readonly #known = new Map<string, number>();
  readonly #waiting = new Map<number, (counts: number[]) => void>();
  #worker: Worker | undefined;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #nextId = 1;

  /** What each text costs. */
  async count(texts: readonly string[]): Promise<number[]> {
    const unknown = [...new Set(texts.filter((text) => !this.#known.has(text)))];
    if (unknown.length > 0) {
      const counts = await this.#ask(unknown);
      if (this.#known.size + unknown.length > KNOWN_TEXTS) this.#known.clear();
      const fresh = new Map(unknown.map((text, index) => [text, counts[index] ?? 0]));
      for (const [text, count] of fresh) this.#known.set(text, count);
      return texts.map((text) => fresh.get(text) ?? this.#known.get(text) ?? 0);
    }
    return texts.map((text) => this.#known.get(text)!);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#idleTimer);
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const resolve of this.#waiting.values()) resolve([]);
    this.#waiting.clear();
  }

  async #ask(texts: string[]): Promise<number[]> {
    clearTimeout(this.#idleTimer);
    const worker = this.#worker ??= this.#start();
    const id = this.#nextId++;
    const { promise, resolve } = Promise.withResolvers<number[]>();
    this.#waiting.set(id, resolve);
    worker.postMessage({ id, texts });
    try {
      return await promise;
    } finally {
      if (this.#waiting.size === 0) {
        clearTimeout(this.#idleTimer);
        this.#idleTimer = setTimeout(() => this[Symbol.dispose](), KEEP_MS);
        Deno.unrefTimer(Number(this.#idleTimer));
      }
    }
  }

  #start(): Worker {
    const worker = new Worker(new URL("./token_worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = ({ data: { id, counts } }) => {
      this.#waiting.get(id)?.(counts);
      this.#waiting.delete(id);
    };
    // What cannot be counted costs nothing, rather than the request that asked.
    worker.onerror = (event) => {
      event.preventDefault();
      this[Symbol.dispose]();
    };
    return worker;
  }
}
