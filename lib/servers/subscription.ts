import type { SubscriptionFilter } from "@modelcontextprotocol/client";
import { setTimeout as sleep } from "node:timers/promises";
import { abortable } from "../core/async.ts";
import { isObject } from "../core/rpc.ts";
import type { Connection } from "./connection.ts";
import { backoffMs } from "./shared_connection.ts";

/** One that held this long was a good one: the next is opened without a wait. */
const STEADY_MS = 30_000;

interface SubscriptionOptions {
  connection: Connection;
  filter: SubscriptionFilter & { taskIds?: string[] };
  onNotification(method: string, params: Record<string, unknown>): void;
  /** What changed while the stream was away is not told again. */
  onGap(): void;
}

/**
 * What a stateless server tells on its own: a stream that is opened again whenever it ends, for as
 * long as the connection lasts.
 */
export class Subscription implements Disposable {
  /** Resolves when the server hears what is wanted; rejects if it refuses. */
  readonly opened: Promise<void>;
  /** Resolves when it is not opened again: the connection is over, or the server refuses. */
  readonly ended: Promise<void>;
  readonly #options: SubscriptionOptions;
  readonly #stop = new AbortController();

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    const first = Promise.withResolvers<void>();
    this.opened = first.promise;
    first.promise.catch(() => {});
    this.ended = this.#keep(first).catch(() => {});
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
  }

  async #keep(first: PromiseWithResolvers<void>): Promise<void> {
    const { connection, filter, onNotification, onGap } = this.#options;
    const { signal } = this.#stop;
    let acknowledged: Record<string, unknown> = {};
    const stop = () => this.#stop.abort();
    connection.over.addEventListener("abort", stop);
    if (connection.over.aborted) stop();
    try {
      const listener = await connection.session.openListener((filter) => acknowledged = filter);
      await using client = disposable(listener);
      client.fallbackNotificationHandler = ({ method, params = {} }) => {
        onNotification(method, params);
        return Promise.resolve();
      };
      for (let failures = 0; !signal.aborted;) {
        const openedAt = Date.now();
        try {
          const { closed } = await client.listen(filter, { signal });
          if (filter.taskIds && !Array.isArray(acknowledged.taskIds)) {
            return first.reject(new Error("The server does not announce changes of tasks"));
          }
          if (failures > 0) onGap();
          first.resolve();
          await abortable(closed, signal);
        } catch (error) {
          first.reject(error);
          if (isRefusal(error)) return;
        }
        failures = Date.now() - openedAt > STEADY_MS ? 1 : failures + 1;
        await sleep(backoffMs(failures), undefined, { signal, ref: false });
      }
    } finally {
      connection.over.removeEventListener("abort", stop);
      first.reject(new Error("The connection was closed"));
    }
  }
}

/** Lists whose changes a server may announce. */
const LISTS = ["tools", "prompts", "resources"] as const;

/** Hears of changed lists, which a stateless server tells only those who listen. */
export function listenForChanges(
  connection: Connection,
  onChanged: (method: string) => void,
): Subscription | undefined {
  if (!connection.isStateless) return undefined;
  const announced = LISTS.filter((list) => {
    const capability = connection.info.capabilities[list];
    return isObject(capability) && capability.listChanged === true;
  });
  if (announced.length === 0) return undefined;
  return new Subscription({
    connection,
    filter: Object.fromEntries(announced.map((list) => [`${list}ListChanged`, true])),
    onNotification: onChanged,
    onGap: () => announced.forEach((list) => onChanged(`notifications/${list}/list_changed`)),
  });
}

function disposable<T extends { close(): Promise<void> }>(client: T): T & AsyncDisposable {
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

/** Whether the server answered that it does not do this; then there is no use in asking again. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "number";
}
