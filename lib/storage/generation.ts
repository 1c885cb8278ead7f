import { watchBell } from "./bell.ts";
import { pause } from "./pause.ts";
import type { Store } from "./store.ts";

/** Behind a file-system watch or a KV watch, for the day it misses something. */
const SLOW_POLL_MS = 2_000;
/** A remote store's watch is reliable and its reads cost money. */
const REMOTE_POLL_MS = 30_000;
/** Where nothing can be watched, so that gateways still agree within half a second. */
const FAST_POLL_MS = 250;
const REWATCH_MS = 1_000;

export interface FollowOptions {
  signal: AbortSignal;
  /** The generation that the caller has seen; a later one is reported at once. */
  since?: bigint;
}

/**
 * Calls back after announced changes, whichever process made them, until the signal aborts.
 *
 * Changes that come close together are one call, and calls never overlap.
 */
export async function followGeneration(
  store: Store,
  onChange: (generation: bigint) => void | Promise<void>,
  { signal, since }: FollowOptions,
): Promise<void> {
  const alarm = new Alarm();
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  const unsubscribe = store.onCommit(() => alarm.ring());
  stopped.addEventListener("abort", () => alarm.ring(), { once: true });
  const watching = watchElsewhere(store, () => alarm.ring(), stopped);

  let seen = since;
  try {
    while (!stopped.aborted) {
      try {
        const generation = await store.generation();
        seen ??= generation;
        if (generation !== seen) {
          await onChange(generation);
          // Not before: what failed is tried again at the next ring or poll.
          seen = generation;
        }
      } catch (error) {
        if (!stopped.aborted) store.warn("Cannot follow the data store's changes", { error });
      }
      await alarm.wait();
    }
  } finally {
    unsubscribe();
    stop.abort();
    await watching;
  }
}

/** Rings however often between two waits are one ring. */
class Alarm {
  #next = Promise.withResolvers<void>();

  ring(): void {
    this.#next.resolve();
  }

  async wait(): Promise<void> {
    await this.#next.promise;
    this.#next = Promise.withResolvers();
  }
}

async function watchElsewhere(
  store: Store,
  ring: () => void,
  signal: AbortSignal,
): Promise<void> {
  const { location } = store;
  if (location.kind === "memory") return;
  let pollMs = location.kind === "file" ? SLOW_POLL_MS : REMOTE_POLL_MS;
  let watching: Promise<void> | undefined;
  if (location.kind === "file") {
    try {
      watching = watchBell(location.path, ring, signal).catch((error) => {
        store.warn("The watch for changes broke off: asking every 2 s", { error });
      });
    } catch (error) {
      store.warn("Cannot watch for changes: asking every 250 ms instead", { error });
      pollMs = FAST_POLL_MS;
    }
  } else {
    watching = watchRemote(store, ring, signal);
  }
  const timer = setInterval(ring, pollMs);
  try {
    await aborted(signal);
  } finally {
    clearInterval(timer);
    await watching;
  }
}

async function watchRemote(store: Store, ring: () => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const reader = store.watchGeneration().getReader();
      const cancel = () => void reader.cancel().catch(() => {});
      signal.addEventListener("abort", cancel, { once: true });
      try {
        while (!(await reader.read()).done) ring();
      } finally {
        signal.removeEventListener("abort", cancel);
      }
    } catch (error) {
      if (!signal.aborted) {
        store.warn("The data store's watch broke off: starting it again", { error });
      }
    }
    await pause(REWATCH_MS, signal);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
