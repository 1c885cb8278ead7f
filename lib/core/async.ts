import { setTimeout as sleep } from "node:timers/promises";
import { GatewayError } from "./errors.ts";

/** The result of the work, or the signal's reason once it aborts; the work itself goes on. */
export async function abortable<T>(
  work: Promise<T>,
  signal: CancelSignal | undefined,
): Promise<T> {
  if (!signal) return await work;
  // Nobody listens any more when it fails after the abort.
  work.catch(() => {});
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** The result of the work; undefined if it takes longer than that. The work itself goes on. */
export async function within<T>(work: PromiseLike<T>, ms: number): Promise<T | undefined> {
  const limit = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => limit.resolve(undefined), ms);
  try {
    return await Promise.race([work, limit.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Does the work once for all callers; after a failure, the next caller tries again. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => {
    if (done) return done;
    const doing = done = work();
    doing.catch(() => done = undefined);
    return doing;
  };
}

/** Runs work one piece after the other, in the order in which it was handed in. */
export function inTurn(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn;
  };
}

/** Resolves when the work has ended, after so long, or when the signal aborts; leaves no timer. */
export async function settledWithin(
  work: Promise<unknown> | undefined,
  ms: number,
  signal?: AbortSignal,
): Promise<void> {
  const ending = new AbortController();
  const signals = [ending.signal, ...(signal ? [signal] : [])];
  const pause = sleep(ms, undefined, { signal: AbortSignal.any(signals) }).catch(() => {});
  try {
    await (work ? Promise.race([work, pause]) : pause);
  } finally {
    ending.abort();
  }
}

/** Reads and writes again, a few times, if the data changed between the two. */
export async function retryStale<T>(readAndWrite: () => Promise<T>, most = 5): Promise<T> {
  for (let tries = 1;; tries++) {
    try {
      return await readAndWrite();
    } catch (error) {
      const isStale = error instanceof GatewayError && error.code === "CONFLICT";
      if (!isStale || tries >= most) throw error;
    }
  }
}

const WAIT_MS = 20;
/** When so many wait they are done at once, so that it never takes long. */
const MOST = 64;

/** Work that nobody waits for; done right behind an answer, it would make its client wait. */
export class DeferredWork implements Disposable {
  readonly #onError: (error: unknown) => void;
  #waiting: (() => void)[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  /** `onError` gets what a piece of work throws; the others still run. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  add(work: () => void): void {
    const count = this.#waiting.push(work);
    if (count >= MOST || this.#isOver) this.run();
    else this.#timer ??= setTimeout(() => this.run(), WAIT_MS);
  }

  /** Does what waits, before its results are read. */
  run(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const work of waiting) {
      try {
        work();
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  /** Does what waits, and what comes from now on at once. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    this.run();
  }
}

/** Tells that something is to end early; an AbortSignal is one. */
export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/**
 * A controller and its signal in one, for each request: to make an AbortSignal, to listen to it and
 * to stop is a good part of a relayed call, and hardly any request is cancelled.
 */
export class Cancellation implements CancelSignal {
  #listeners: (() => void)[] = [];
  aborted = false;
  reason: unknown;

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at !== -1) this.#listeners.splice(at, 1);
  }
}

const abortSignals = new WeakMap<CancelSignal, AbortSignal>();

/** For what can do with nothing less; the same signal each time. */
export function asAbortSignal(signal: CancelSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const known = abortSignals.get(signal);
  if (known) return known;
  const controller = new AbortController();
  if (signal.aborted) controller.abort(signal.reason);
  else signal.addEventListener("abort", () => controller.abort(signal.reason));
  abortSignals.set(signal, controller.signal);
  return controller.signal;
}

export interface Timeout {
  at: number;
  onTimeout: (() => void) | undefined;
  before: Timeout | undefined;
  after: Timeout | undefined;
}

/**
 * Many waits of the same length behind one timer: most are over long before their time, and a timer
 * for each would be a good part of what a relayed call costs.
 *
 * Linked, and emptied when they are over: a set that often grows and shrinks leaves tables behind
 * which, until the next full collection, hold on to what was in them, and with that to whole calls.
 */
export class TimeoutQueue implements Disposable {
  readonly #ms: number;
  /** In the order of their time, because all last the same. */
  #first: Timeout | undefined;
  #last: Timeout | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  add(onTimeout: () => void): Timeout {
    const before = this.#last;
    const wait = { at: performance.now() + this.#ms, onTimeout, before, after: undefined };
    if (before) before.after = wait;
    else this.#first = wait;
    this.#last = wait;
    this.#timer ??= setTimeout(() => this.#expire(), this.#ms);
    return wait;
  }

  delete(wait: Timeout): void {
    if (!wait.onTimeout) return;
    const { before, after } = wait;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
    wait.onTimeout = wait.before = wait.after = undefined;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    while (this.#first) this.delete(this.#first);
  }

  #expire(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (let wait = this.#first; wait; wait = this.#first) {
      if (wait.at > now) {
        // One that was added meanwhile has set it for itself, and its time is later.
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#expire(), wait.at - now);
        return;
      }
      const { onTimeout } = wait;
      this.delete(wait);
      onTimeout?.();
    }
  }
}

interface UpkeepOptions {
  work(): Promise<unknown>;
  everyMs: number;
  onError(error: unknown): void;
}

/** Does something at once and then again and again; when it is disposed of, nothing of it runs. */
export function keepUp({ work, everyMs, onError }: UpkeepOptions): AsyncDisposable {
  let working: Promise<unknown> | undefined;
  const turn = () => {
    // One that takes longer than the time between two is not begun twice.
    working ??= work().catch(onError).finally(() => working = undefined);
  };
  turn();
  const timer = setInterval(turn, everyMs);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await working;
    },
  };
}

/** Repeats work on request: never twice at once; requests during a run are merged into one more. */
export class Refresher {
  readonly #work: () => Promise<void>;
  readonly #signal: AbortSignal;
  readonly #gapMs: number;
  #running: Promise<void> | undefined;
  #isAskedAgain = false;

  /** `work` must not throw. */
  constructor(work: () => Promise<void>, signal: AbortSignal, gapMs: number) {
    this.#work = work;
    this.#signal = signal;
    this.#gapMs = gapMs;
  }

  /** Resolves when work that began after this request is done. */
  request(): Promise<void> {
    this.#isAskedAgain = this.#running !== undefined;
    return this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    // Begun later, or a server in this process could ask again before this run is known.
    await Promise.resolve();
    do {
      this.#isAskedAgain = false;
      await this.#work();
      if (!this.#isAskedAgain) break;
      await sleep(this.#gapMs, undefined, { signal: this.#signal }).catch(() => {});
    } while (!this.#signal.aborted);
    // No await between the last check and this line, or a request in between would be lost.
    this.#running = undefined;
  }
}
