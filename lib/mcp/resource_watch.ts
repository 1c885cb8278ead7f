import { setTimeout as sleep } from "node:timers/promises";
import { inTurn } from "../core/async.ts";
import { backoffMs } from "../servers/shared_connection.ts";
import type { ManagedServer } from "../servers/server.ts";
import { Subscription } from "../servers/subscription.ts";

/** Tries in a row to listen again; about twenty minutes. */
const MAX_TRIES = 30;

/** One client's subscriptions to resources of a stateless server: one stream for all of them. */
export class ResourceWatch implements Disposable {
  readonly #server: ManagedServer;
  readonly #onUpdated: (uri: string) => void;
  readonly #inTurn = inTurn();
  readonly #closing = new AbortController();
  #uris: ReadonlySet<string> = new Set();
  #stream: Subscription | undefined;

  constructor(server: ManagedServer, onUpdated: (uri: string) => void) {
    this.#server = server;
    this.#onUpdated = onUpdated;
  }

  /** Resolves when the server tells of these resources, and of no others. */
  watch(uris: ReadonlySet<string>): Promise<void> {
    return this.#inTurn(async () => {
      await this.#open(uris);
      this.#uris = uris;
    });
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
    this.#stream?.[Symbol.dispose]();
  }

  async #open(uris: ReadonlySet<string>): Promise<void> {
    const { signal } = this.#closing;
    const before = this.#stream;
    this.#stream = undefined;
    try {
      if (uris.size > 0) await this.#listen(uris, signal);
    } finally {
      // Not before the next one listens: an update in between would be lost.
      before?.[Symbol.dispose]();
    }
  }

  async #listen(uris: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const connection = await this.#server.connection(signal);
    const stream = new Subscription({
      connection,
      filter: { resourceSubscriptions: [...uris] },
      onNotification: (_, { uri }) => {
        if (typeof uri === "string") this.#onUpdated(uri);
      },
      onGap: () => uris.forEach((uri) => this.#onUpdated(uri)),
    });
    try {
      await stream.opened;
      signal.throwIfAborted();
    } catch (error) {
      stream[Symbol.dispose]();
      throw error;
    }
    this.#stream = stream;
    const again = () => {
      if (this.#stream === stream) void this.#reopen(stream).catch(() => {});
    };
    connection.over.addEventListener("abort", again, { once: true });
  }

  /** The connection is gone: the next one is asked for the same. */
  async #reopen(lost: Subscription): Promise<void> {
    const { signal } = this.#closing;
    for (let tries = 1; this.#stream === lost && tries <= MAX_TRIES; tries++) {
      await sleep(backoffMs(tries), undefined, { signal, ref: false });
      const open = async () => {
        if (this.#stream !== lost) return;
        await this.#open(this.#uris);
        // What changed meanwhile is not told again.
        for (const uri of this.#uris) this.#onUpdated(uri);
      };
      await this.#inTurn(open).catch(() => {
        this.#stream ??= lost;
      });
    }
  }
}
