import { setTimeout as sleep } from "node:timers/promises";
import { Refresher, within } from "../core/async.ts";
import { backoffMs } from "../servers/shared_connection.ts";

/** Consecutive attempts to follow a task again; a few minutes. */
const MAX_FAILURES = 10;
/** How long a server may take to confirm that it announces changes. */
const OPEN_MS = 30_000;
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

  /** Undefined if the task is not the caller's, or its server confirms no changes in time. */
  static async open(source: TaskSource, openMs = OPEN_MS): Promise<TaskFollower | undefined> {
    const follower = new TaskFollower(source);
    if (await within(follower.#follow(), openMs)) return follower;
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

  /** Whether changes are noticed from now on. */
  async #follow(): Promise<boolean> {
    if (await this.#state() === undefined || this.#stop.signal.aborted) return false;
    const opened = Promise.withResolvers<boolean>();
    void this.#keepFollowing(opened.resolve).finally(() => opened.resolve(false));
    return await opened.promise;
  }

  /** Follows again after a server's connection was lost, for as long as the task is there. */
  async #keepFollowing(onOpen: (isOpen: boolean) => void): Promise<void> {
    const { signal } = this.#stop;
    let [isOpen, failures] = [false, 0];
    const onChange = () => {
      [isOpen, failures] = [true, 0];
      onOpen(true);
      if (this.#send) void this.#refresher.request();
    };
    for (;;) {
      await this.#source.follow(onChange, signal).catch(() => {});
      if (!isOpen || ++failures > MAX_FAILURES) return;
      await sleep(backoffMs(failures), undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted || await this.#state() === undefined) return;
    }
  }

  async #state(): Promise<string | undefined> {
    return await this.#source.state().catch(() => undefined);
  }

  async #tell(): Promise<void> {
    const state = await this.#state();
    if (state !== undefined && !this.#stop.signal.aborted) this.#send?.(state);
  }
}
