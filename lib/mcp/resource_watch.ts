import { setTimeout as sleep } from "node:timers/promises";
import { inTurn } from "../core/async.ts";
import { backoffMs } from "../servers/shared_connection.ts";
import type { ManagedServer } from "../servers/server.ts";
import { Subscription } from "../servers/subscription.ts";

/** Consecutive attempts to listen again; about twenty minutes. */
const MAX_TRIES = 30;

/** One client's subscriptions to resources of a stateless server: one stream for all of them. */
export class ResourceWatch implements Disposable {
  readonly #server: ManagedServer;
  readonly #onUpdated: (uri: string) => void;
  readonly #inTurn = inTurn();
  readonly #closing = new AbortController();
  readonly #wanted: () => ReadonlySet<string>;
  #uris: ReadonlySet<string> = new Set();
  #stream: Disposable | undefined;
  #next: Promise<void> | undefined;

  constructor(
    server: ManagedServer,
    wanted: () => ReadonlySet<string>,
    onUpdated: (uri: string) => void,
  ) {
    this.#server = server;
    this.#wanted = wanted;
    this.#onUpdated = onUpdated;
  }

  /**
   * Resolves when the server tells of the resources that are now wanted, and of no others. Each stream
   * names all of them, so changes that come meanwhile share the next one.
   */
  update(): Promise<void> {
    return this.#next ??= this.#inTurn(async () => {
      this.#next = undefined;
      const uris = this.#wanted();
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
    const stream = uris.size > 0 ? await this.#listen(uris, signal) : undefined;
    if (signal.aborted) return stream?.[Symbol.dispose]();
    // Only once the next one listens: an update in between would be lost.
    this.#stream?.[Symbol.dispose]();
    this.#stream = stream;
  }

  async #listen(uris: ReadonlySet<string>, signal: AbortSignal): Promise<Disposable> {
    const connection = await this.#server.connection(signal);
    const subscription = new Subscription({
      connection,
      filter: { resourceSubscriptions: [...uris] },
      onNotification: (_, { uri }) => {
        if (typeof uri === "string") this.#onUpdated(uri);
      },
      onGap: () => uris.forEach((uri) => this.#onUpdated(uri)),
    });
    try {
      await subscription.opened;
      signal.throwIfAborted();
      if (connection.over.aborted) throw new Error("The connection was closed");
    } catch (error) {
      subscription[Symbol.dispose]();
      throw error;
    }
    const again = () => void this.#reopen(stream).catch(() => {});
    connection.over.addEventListener("abort", again);
    const stream: Disposable = {
      [Symbol.dispose]() {
        connection.over.removeEventListener("abort", again);
        subscription[Symbol.dispose]();
      },
    };
    return stream;
  }

  /** The connection is gone: the next one is asked for the same. */
  async #reopen(lost: Disposable): Promise<void> {
    const { signal } = this.#closing;
    for (let tries = 1; this.#stream === lost && tries <= MAX_TRIES; tries++) {
      await sleep(backoffMs(tries), undefined, { signal, ref: false });
      const open = async () => {
        if (this.#stream !== lost) return;
        await this.#open(this.#uris);
        // Changes made in the meantime are not announced again.
        for (const uri of this.#uris) this.#onUpdated(uri);
      };
      await this.#inTurn(open).catch(() => {});
    }
  }
}
