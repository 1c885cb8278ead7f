import { builtFile } from "./product.ts";

/** How long the tokenizer stays in memory after its last use. */
const KEEP_MS = 10_000;
const KNOWN_TEXTS = 20_000;
/** Thousands of definitions take a second or two. */
const LIMIT_MS = 30_000;

/** What each kind of character run costs, fitted to the tokenizer's counts of tool lists. */
const COSTS = { short: 0.62, middle: 1, long: 1.16, digits: 2.47, marks: 1.07, space: 0.2 };
const OTHER_CHARACTER = 1.15;

/**
 * About what a text costs, without the tokenizer: within a tenth for tool lists and answers. For
 * what is counted with every answer, where nobody can wait for a worker.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (let place = 0; place < text.length;) {
    const kind = kindOf(text.charCodeAt(place));
    const start = place++;
    // A capital begins a word, as in "toolKey".
    const rest = kind === "capital" ? "letter" : kind;
    while (place < text.length && kind !== "other" && kindOf(text.charCodeAt(place)) === rest) {
      place++;
    }
    tokens += costOf(kind, place - start);
  }
  return Math.ceil(tokens);
}

type Kind = "letter" | "capital" | "digit" | "space" | "mark" | "other";

function kindOf(code: number): Kind {
  if (code >= 97 && code <= 122) return "letter";
  if (code >= 65 && code <= 90) return "capital";
  if (code >= 48 && code <= 57) return "digit";
  if (code === 32 || code === 10 || code === 9 || code === 13) return "space";
  return code < 128 ? "mark" : "other";
}

function costOf(kind: Kind, length: number): number {
  switch (kind) {
    case "letter":
    case "capital":
      return length <= 5 ? COSTS.short : length <= 9 ? COSTS.middle : COSTS.long;
    case "digit":
      return COSTS.digits * Math.ceil(length / 3);
    case "mark":
      return COSTS.marks * Math.ceil(length / 3);
    case "space":
      return COSTS.space;
    case "other":
      return OTHER_CHARACTER;
  }
}

interface TokenCounterOptions {
  worker?: URL;
  limitMs?: number;
}

/**
 * Counts tokens as Claude's models roughly do (ai-tokenizer's `claude` encoding; an estimate). The
 * tokenizer takes tens of megabytes, so it lives in a worker that ends when it is idle.
 */
export class TokenCounter implements Disposable {
  readonly #workerUrl: URL;
  readonly #limitMs: number;
  readonly #known = new Map<string, number>();
  readonly #waiting = new Map<number, (counts: number[]) => void>();
  #worker: Worker | undefined;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #nextId = 1;

  constructor(options: TokenCounterOptions = {}) {
    this.#workerUrl = options.worker ?? builtFile("lib/core/token_worker.ts");
    this.#limitMs = options.limitMs ?? LIMIT_MS;
  }

  /** What each text costs; nothing, where it cannot be counted now. */
  async count(texts: readonly string[]): Promise<number[]> {
    const counts = new Map<string, number>();
    const unknown = new Set<string>();
    for (const text of texts) {
      const known = this.#known.get(text);
      if (known === undefined) unknown.add(text);
      else counts.set(text, known);
    }
    if (unknown.size > 0) {
      const asked = [...unknown];
      if (this.#known.size + asked.length > KNOWN_TEXTS) this.#known.clear();
      for (const [index, count] of (await this.#ask(asked)).entries()) {
        counts.set(asked[index]!, count);
        this.#known.set(asked[index]!, count);
      }
    }
    return texts.map((text) => counts.get(text) ?? 0);
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
    // One that does not answer is ended, and the next count starts another.
    const limit = setTimeout(() => this[Symbol.dispose](), this.#limitMs);
    try {
      return await promise;
    } finally {
      clearTimeout(limit);
      if (this.#waiting.size === 0) {
        clearTimeout(this.#idleTimer);
        this.#idleTimer = setTimeout(() => this[Symbol.dispose](), KEEP_MS);
        Deno.unrefTimer(Number(this.#idleTimer));
      }
    }
  }

  #start(): Worker {
    const worker = new Worker(this.#workerUrl, { type: "module" });
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
