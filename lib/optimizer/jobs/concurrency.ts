import { abortable } from "../../core/async.ts";
import { defined } from "../../core/defined.ts";
import type { Evaluator } from "../evaluators/evaluator.ts";
import type { TextModel } from "../generation/text_model.ts";

export class ModelQueue {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = Math.max(1, count);
  }

  async use<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#take(signal);
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  evaluator(evaluator: Evaluator): Evaluator {
    return {
      kind: evaluator.kind,
      model: evaluator.model,
      ...defined({ isPriced: evaluator.isPriced, price: evaluator.price }),
      check: () => evaluator.check(),
      run: (request) => this.use(request.signal, () => evaluator.run(request)),
    };
  }

  textModel(model: TextModel): TextModel {
    return {
      kind: model.kind,
      complete: (request) => this.use(request.signal, () => model.complete(request)),
    };
  }

  async #take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    try {
      await abortable(promise, signal);
    } catch (error) {
      const index = this.#waiting.indexOf(resolve);
      // It was given a place at the very moment when it no longer wanted one.
      if (index === -1) this.#release();
      else this.#waiting.splice(index, 1);
      throw error;
    }
  }

  #release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }
}
