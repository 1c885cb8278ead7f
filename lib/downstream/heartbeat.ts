import { GatewayError } from "../core/errors.ts";
import type { Connection } from "./connection.ts";

export interface HeartbeatOptions {
  everyMs: number;
  timeoutMs: number;
  /** A server at work on calls may be too busy to answer; past this silence it is given up all the same. */
  patienceMs: number;
  onAlive(latencyMs: number): void;
  /** It does not answer, but has calls in flight that it may be busy with. */
  onSilent(): void;
  onDead(reason: Error): void;
}

/** Asks a server at intervals whether it is still there. */
export class Heartbeat implements Disposable {
  readonly #connection: Connection;
  readonly #options: HeartbeatOptions;
  readonly #timer: ReturnType<typeof setInterval>;
  #checking: Promise<void> | undefined;
  #isOver = false;

  constructor(connection: Connection, options: HeartbeatOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#timer = setInterval(() => void this.check(), options.everyMs);
    this.#timer.unref();
  }

  /** Asks now; for when there is reason to doubt. Never throws. */
  check(): Promise<void> {
    return this.#checking ??= this.#check().finally(() => this.#checking = undefined);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearInterval(this.#timer);
  }

  async #check(): Promise<void> {
    const { timeoutMs, patienceMs, onAlive, onSilent, onDead } = this.#options;
    const asked = Date.now();
    const started = performance.now();
    try {
      await this.#connection.call({ method: "ping", timeoutMs, streams: false });
      if (!this.#isOver) onAlive(performance.now() - started);
    } catch (error) {
      if (this.#isOver) return;
      const { heardAt, inFlight } = this.#connection;
      const isSilent = error instanceof GatewayError && error.code === "TIMEOUT";
      // It has said something else meanwhile, perhaps in the same millisecond.
      if (isSilent && heardAt >= asked) return;
      if (isSilent && inFlight > 0 && Date.now() - heardAt < patienceMs) onSilent();
      else onDead(error instanceof Error ? error : new Error(String(error)));
    }
  }
}
