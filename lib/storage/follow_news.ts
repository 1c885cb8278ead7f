import { pause } from "./pause.ts";
import { NEWS, type News, type NewsCounts, type Store } from "./store.ts";

/** Local reads cost next to nothing; those of a remote store cost money. */
const EVERY_MS = 400;
const REMOTE_EVERY_MS = 1_000;

export interface FollowNewsOptions {
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
        // Fewer for a moment while this process writes some: that is no news, and no reason to forget.
        if (times <= 0) continue;
        await onNews(kind, times);
        // Not before: what failed is tried again.
        seen[kind] = counts[kind];
      }
      isFailing = false;
    } catch (error) {
      if (signal.aborted) return;
      if (!isFailing) store.warn("Cannot read what other gateways do", { error });
      isFailing = true;
    }
    await pause(kind === "file" ? EVERY_MS : REMOTE_EVERY_MS, signal);
  }
}
