import { GatewayError } from "../core/errors.ts";
import type { Connection } from "./connection.ts";

const MAX_CONNECTIONS = 100;

interface Slot {
  /** Undefined where it could not be opened. */
  opening?: Promise<Connection | undefined>;
}

/** The connections of single clients to one server, those that are still being opened included. */
export class OwnConnections {
  readonly #serverName: string;
  readonly #signal: AbortSignal;
  readonly #slots = new Set<Slot>();
  #stop = new AbortController();
  #closed: Promise<unknown> = Promise.resolve();

  /** The signal aborts when the server is done with: nothing is waited for then. */
  constructor(serverName: string, signal: AbortSignal) {
    this.#serverName = serverName;
    this.#signal = signal;
  }

  /** Opens one more; `connect` has to call back when the connection has closed. */
  async open(
    connect: (signal: AbortSignal, onClose: () => void) => Promise<Connection>,
  ): Promise<Connection> {
    if (this.#slots.size >= MAX_CONNECTIONS) {
      throw new GatewayError("LIMIT_EXCEEDED", {
        message:
          `Server "${this.#serverName}" has ${MAX_CONNECTIONS} clients with connections of their own`,
      });
    }
    const slot: Slot = {};
    this.#slots.add(slot);
    try {
      const connecting = connect(this.#stop.signal, () => this.#slots.delete(slot));
      slot.opening = connecting.catch(() => undefined);
      return await connecting;
    } catch (error) {
      this.#slots.delete(slot);
      throw error;
    }
  }

  /** Ends all of them, each once its calls have come to their end or the time is up. */
  async closeAll(settleMs = 0): Promise<void> {
    this.#stop.abort(
      new GatewayError("SERVER_DISCONNECTED", {
        message: `Server "${this.#serverName}" was stopped`,
      }),
    );
    this.#stop = new AbortController();
    const slots = [...this.#slots];
    this.#slots.clear();
    const ended = slots.map(async ({ opening }) =>
      await (await opening)?.end(settleMs, this.#signal).catch(() => {})
    );
    await (this.#closed = Promise.all([this.#closed, ...ended]));
  }
}
