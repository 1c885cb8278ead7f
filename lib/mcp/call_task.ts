import type { CancelSignal } from "../core/async.ts";
import { isObject, memberText, nestedText, parseJson } from "../core/rpc.ts";

const POLL_INTERVAL_MS = 1_000;
const MAX_STATUS_MESSAGE = 500;

/** The state of a call, of which a task shows a part. */
export interface CallState {
  /** The client's unanswered questions, as the members of `inputRequests`. */
  questions: string[];
  /** The answer to the call, once there is one. */
  answer: string | undefined;
  /** Why the call was canceled. */
  canceled: string | undefined;
}

/** A slow call as a task of the 2026-07-28 extension: what `tasks/get` tells about it. */
export class CallTask {
  readonly id: string;
  readonly #keptMs: number;
  readonly #createdAt = Date.now();
  #updatedAt = this.#createdAt;
  readonly #followers = new Set<() => void>();
  #message: string | undefined;

  /** It is kept for `keptMs` after the last request about it. */
  constructor(id: string, keptMs: number) {
    this.id = id;
    this.#keptMs = keptMs;
  }

  changed(): void {
    this.#updatedAt = Date.now();
    for (const onChange of this.#followers) onChange();
  }

  get isFollowed(): boolean {
    return this.#followers.size > 0;
  }

  /** Calls back now and with each change, until the signal aborts. */
  async follow(onChange: () => void, signal: CancelSignal): Promise<void> {
    this.#followers.add(onChange);
    onChange();
    const stopped = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve());
    });
    await stopped;
    this.#followers.delete(onChange);
  }

  noteProgress(text: string): void {
    const message = parseJson(nestedText(text, "params", "message") ?? "null");
    const progress = nestedText(text, "params", "progress");
    const total = nestedText(text, "params", "total");
    const counted = total === undefined ? progress : `${progress} of ${total}`;
    this.note(typeof message === "string" && message !== "" ? message : counted);
  }

  note(message: string | undefined): void {
    this.#message = message?.slice(0, MAX_STATUS_MESSAGE);
    this.changed();
  }

  /** The result of the call that continues as this task. */
  get created(): string {
    return JSON.stringify({ resultType: "task", ...this.#state("working", this.#message) });
  }

  /** The result of `tasks/get`. */
  details({ questions, answer, canceled }: CallState): string {
    if (canceled !== undefined) return this.#details("cancelled", [], canceled);
    if (answer !== undefined) return this.#finished(answer);
    if (questions.length === 0) return this.#details("working", [], this.#message);
    return this.#details("input_required", [`"inputRequests":{${questions.join()}}`]);
  }

  #finished(answer: string): string {
    const result = memberText(answer, "result");
    if (result !== undefined) return this.#details("completed", [`"result":${result}`]);
    const error = memberText(answer, "error") ?? "null";
    const parsed = parseJson(error);
    const message = isObject(parsed) && typeof parsed.message === "string"
      ? parsed.message.slice(0, MAX_STATUS_MESSAGE)
      : undefined;
    return this.#details("failed", [`"error":${error}`], message);
  }

  #details(status: string, members: string[], message?: string): string {
    const state = JSON.stringify({ resultType: "complete", ...this.#state(status, message) });
    return `${[state.slice(0, -1), ...members].join()}}`;
  }

  #state(status: string, statusMessage: string | undefined) {
    return {
      taskId: this.id,
      status,
      ...(statusMessage === undefined ? {} : { statusMessage }),
      createdAt: new Date(this.#createdAt).toISOString(),
      lastUpdatedAt: new Date(this.#updatedAt).toISOString(),
      ttlMs: Date.now() - this.#createdAt + this.#keptMs,
      pollIntervalMs: POLL_INTERVAL_MS,
    };
  }
}
