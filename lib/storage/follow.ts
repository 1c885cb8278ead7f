import { once } from "node:events";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { keys, NEWS, type News } from "./keys.ts";
import type { Location } from "./kv_client.ts";
import type { Mailbox } from "./mailbox.ts";
import type { NewsCounts, Store } from "./store.ts";

/** Behind a file-system watch or a KV watch, for the day it misses something. */
const SLOW_POLL_MS = 2_000;
/** A remote store's watch is reliable and its reads cost money. */
const REMOTE_POLL_MS = 30_000;
/** Where nothing can be watched, so that gateways still agree within half a second. */
const FAST_POLL_MS = 250;
const REWATCH_MS = 1_000;

interface FollowGenerationOptions {
  signal: AbortSignal;
  /** The generation that the caller has seen; a later one is reported at once. */
  since?: bigint;
  pollMs?: number | undefined;
  /** Told to read whenever its key, or anything else, may have changed elsewhere. */
  mailbox?: Pick<Mailbox, "bell" | "read" | "keepReading"> | undefined;
}

/**
 * Calls back after announced changes, whichever process made them, until the signal aborts.
 *
 * Changes that come close together are one call, and calls never overlap.
 */
export async function followGeneration(
  store: Store,
  onChange: (generation: bigint) => void | Promise<void>,
  { signal, since, ...options }: FollowGenerationOptions,
): Promise<void> {
  let alarm = Promise.withResolvers<void>();
  const ring = () => {
    options.mailbox?.read();
    alarm.resolve();
  };
  const unsubscribe = store.onCommit(ring);
  signal.addEventListener("abort", ring, { once: true });
  const watching = watchElsewhere(store, ring, { signal, ...options });
  let seen = since;
  try {
    while (!signal.aborted) {
      try {
        const generation = await store.generation();
        seen ??= generation;
        if (generation !== seen) {
          await onChange(generation);
          // Not before: what failed is tried again at the next ring or poll.
          seen = generation;
        }
      } catch (error) {
        if (!signal.aborted) store.warn("Cannot follow the data store's changes", { error });
      }
      // Any number of rings between two waits are one.
      await alarm.promise;
      alarm = Promise.withResolvers();
    }
  } finally {
    unsubscribe();
    options.mailbox?.keepReading();
    await watching;
  }
}

async function watchElsewhere(
  store: Store,
  ring: () => void,
  { signal, pollMs: wantedMs, mailbox }: FollowGenerationOptions,
): Promise<void> {
  const { location } = store;
  if (location.kind === "memory") return;
  let pollMs = wantedMs ?? (location.kind === "file" ? SLOW_POLL_MS : REMOTE_POLL_MS);
  let watching: Promise<void> | undefined;
  if (location.kind === "file") {
    try {
      watching = watchBell(location.path, ring, signal).catch((error) => {
        store.warn("Watching the data store for changes failed: polling every 2 s", { error });
      });
    } catch (error) {
      store.warn("Cannot watch the data store for changes: polling every 250 ms", { error });
      pollMs = FAST_POLL_MS;
    }
  } else {
    watching = watchRemote(store, ring, { signal, mailbox });
  }
  const timer = setInterval(ring, pollMs);
  try {
    if (!signal.aborted) await once(signal, "abort");
  } finally {
    clearInterval(timer);
    await watching;
  }
}

async function watchRemote(
  store: Store,
  ring: () => void,
  { signal, mailbox }: FollowGenerationOptions,
): Promise<void> {
  const watched = [keys.generation(), ...mailbox ? [mailbox.bell] : []];
  while (!signal.aborted) {
    try {
      const reader = store.watch(watched).getReader();
      const cancel = () => void reader.cancel().catch(() => {});
      signal.addEventListener("abort", cancel, { once: true });
      try {
        while (!(await reader.read()).done) ring();
      } finally {
        signal.removeEventListener("abort", cancel);
      }
    } catch (error) {
      if (!signal.aborted) {
        store.warn("Watching the data store for changes failed: restarting", { error });
      }
    }
    await pause(REWATCH_MS, signal);
  }
}

/**
 * How processes on one data file hear of each other's changes. The bell has a folder of its own: to
 * watch the data file's would open and close the file, and the system takes all locks of a process
 * from a file that it closes. Another process would then believe itself alone with the database, and
 * delete the log that ours still writes to.
 */
function bellFolder(path: string): string {
  return `${path}-bell`;
}

/** Says that something has changed; where that cannot be said, others find out by asking. */
export async function ringBell(location: Location): Promise<void> {
  if (location.kind !== "file") return;
  try {
    const rung = join(bellFolder(location.path), "rung");
    await Deno.writeTextFile(rung, `${Date.now()}\n`, { mode: 0o600 });
  } catch { /* nobody has ever listened, or the disk is full */ }
}

function watchBell(path: string, ring: () => void, signal: AbortSignal): Promise<void> {
  Deno.mkdirSync(bellFolder(path), { recursive: true, mode: 0o700 });
  const watcher = Deno.watchFs(bellFolder(path), { recursive: false });
  signal.addEventListener("abort", () => watcher.close(), { once: true });
  return (async () => {
    for await (const { kind } of watcher) if (kind !== "access") ring();
  })();
}

/** Resolves after so long, or as soon as the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => {});
}

/** Local reads cost next to nothing; those of a remote store cost money. */
const EVERY_MS = 400;
const REMOTE_EVERY_MS = 1_000;

interface FollowNewsOptions {
  signal: AbortSignal;
  /** Resolves when somebody wants to know; until then the store is not asked. */
  whenWanted(signal: AbortSignal): Promise<void>;
  /** With how often it was said since the last time. */
  onNews(kind: News, times: number): Promise<void> | void;
}

/**
 * Tells of other processes' news until the signal aborts. What came while nobody wanted to know is
 * told when somebody does.
 */
export async function followNews(
  store: Store,
  { signal, whenWanted, onNews }: FollowNewsOptions,
): Promise<void> {
  const { kind } = store.location;
  // Nobody else writes into our memory.
  if (kind === "memory") return;
  let seen: NewsCounts | undefined;
  let isFailing = false;
  while (!signal.aborted) {
    try {
      // The first time at once: it says what was before.
      if (seen !== undefined) await whenWanted(signal);
      if (signal.aborted) return;
      const counts = await store.newsElsewhere();
      const before = seen ??= counts;
      for (const kind of NEWS) {
        const times = Number(counts[kind] - before[kind]);
        // Fewer for a moment while this process writes some: not news, and no reason to forget.
        if (times <= 0) continue;
        await onNews(kind, times);
        // Not before: what failed is tried again.
        seen[kind] = counts[kind];
      }
      isFailing = false;
    } catch (error) {
      if (signal.aborted) return;
      if (!isFailing) store.warn("Cannot read the activity of other gateways", { error });
      isFailing = true;
    }
    await pause(kind === "file" ? EVERY_MS : REMOTE_EVERY_MS, signal);
  }
}
