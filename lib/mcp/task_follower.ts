import { Refresher } from "../core/async.ts";

/** Between two states that are sent. */
const GAP_MS = 500;

/** Where the state of one task comes from: a held call of the gateway, or a server. */
export interface TaskSource {
  /** The result of `tasks/get`; undefined if there is no such task for the caller. */
  state(): Promise<string | undefined>;
  /** Lasts until the signal aborts; calls back once changes are noticed, and with each of them. */
  follow(onChange: () => void, signal: AbortSignal): Promise<unknown>;
}

/**
 * One task that a client listens for. What is sent after a change is what `tasks/get` tells then, so it
 * has passed the same checks. Changes in quick succession are sent as one.
 */
export class TaskFollower implements Disposable {
  readonly #source: TaskSource;
  readonly #stop = new AbortController();
  readonly #refresher = new Refresher(() => this.#tell(), this.#stop.signal, GAP_MS);
  #send: ((state: string) => void) | undefined;

  private constructor(source: TaskSource) {
    this.#source = source;
  }

  /** Undefined if the task is not the caller's, or its server announces no changes. */
  static async open(source: TaskSource): Promise<TaskFollower | undefined> {
    const follower = new TaskFollower(source);
    if (await follower.#follow()) return follower;
    follower[Symbol.dispose]();
  }

  /** Sends the state, which may have changed since the client last asked, and then each change. */
  start(send: (state: string) => void): void {
    this.#send = send;
    void this.#refresher.request();
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
  }

  async #follow(): Promise<boolean> {
    const state = await this.#source.state().catch(() => undefined);
    if (state === undefined) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const onChange = () => {
      resolve(true);
      if (this.#send) void this.#refresher.request();
    };
    void this.#source.follow(onChange, this.#stop.signal).catch(() => {})
      .finally(() => resolve(false));
    return await promise;
  }

  async #tell(): Promise<void> {
    const state = await this.#source.state().catch(() => undefined);
    if (state !== undefined && !this.#stop.signal.aborted) this.#send?.(state);
  }
}
