/** What a gateway has done: another number for each when there was more. */
export interface Work {
  tools: number;
  answered: number;
}

/** Quick: what was made last and is needed no more. Thorough: all that can be given back. */
export type Tidying = "quick" | "thorough";

export interface TidyOptions {
  /** How often it is looked at in the first minute, when most is done that is done once. */
  soonMs?: number;
  laterMs?: number;
  /** After how long a rest nobody is expected to go on where they stopped. */
  longMs?: number;
  /** The memory of this process in bytes; it is given back after a short rest if there is much more. */
  held?: () => number;
  now?: () => number;
  tidy?: (kind: Tidying) => void;
}

const SOON_TURNS = 60;
/** So many requests leave enough behind that it is worth a pause. */
const MANY = 500;
/** A few requests between two checks still count as rest: some clients ping. */
const FEW = 20;

/** After large results, or many sessions: more than any burst of small calls that goes on soon. */
const MUCH_BYTES = 32 * 1024 * 1024;
/** The engine may have collected most of it by itself; less than this is not worth a pause. */
const SOME_BYTES = 8 * 1024 * 1024;
/** Between two looks; more than an idle gateway needs. */
const GROWING_BYTES = 4 * 1024 * 1024;
/** With a look every ten seconds, it is given back within half a minute. */
const RELEASE_AFTER_MS = 15_000;
/** After a collection, other threads of V8 free the buffers. */
const TRIM_AFTER_MS = 1_000;

/**
 * Gives memory back each time that next to nothing has been done for a while after much was. Quickly
 * after requests: a thorough collection throws away the optimized code of all that has no instance
 * left, which at rest is the whole way of a call, and the next thousands of calls would be slower.
 */
export function tidyAtRest(
  work: () => Work,
  { soonMs = 1_000, laterMs = 10_000, longMs = 300_000, ...options }: TidyOptions = {},
): () => void {
  const { now = () => performance.now(), tidy = collectGarbage } = options;
  const held = options.held ?? (() => Deno.memoryUsage().rss);
  /** The least and the most that was held after a thorough tidying, and since. */
  let [least, most] = [Infinity, 0];
  let thorough: Work = { tools: -1, answered: 0 };
  let quick = thorough;
  let seen = thorough;
  let seenBytes = Infinity;
  let busyAt = now();
  let turns = 0;
  let timer = setTimeout(look, soonMs);

  function look(): void {
    const current = work();
    const bytes = held();
    // The search index is made after the tools have come, a little at a time.
    const isGrowing = bytes - seenBytes >= GROWING_BYTES;
    const isAtRest = current.tools === seen.tools && current.answered - seen.answered < FEW &&
      !isGrowing;
    if (!isAtRest) busyAt = now();
    seen = current;
    seenBytes = bytes;
    most = Math.max(most, bytes);
    const kind = isAtRest ? due(current) : undefined;
    if (kind) {
      quick = current;
      if (kind === "thorough") thorough = current;
      tidy(kind);
      seenBytes = held();
      if (kind === "thorough") [least, most] = [seenBytes, seenBytes];
    }
    least = Math.min(least, seenBytes);
    timer = setTimeout(look, ++turns < SOON_TURNS ? soonMs : laterMs);
  }

  function due({ tools, answered }: Work): Tidying | undefined {
    if (tools !== thorough.tools) return "thorough";
    const rested = now() - busyAt;
    const isWorthIt = most - least >= MUCH_BYTES && seenBytes - least >= SOME_BYTES;
    if (rested >= RELEASE_AFTER_MS && isWorthIt) return "thorough";
    const isLong = rested >= longMs;
    if (isLong && answered - thorough.answered >= MANY) return "thorough";
    return answered - quick.answered >= MANY ? "quick" : undefined;
  }
  return () => clearTimeout(timer);
}

/** Has the engine give back what it keeps for the next burst: an eighth of an idle gateway. */
function collectGarbage(kind: Tidying): void {
  const { gc } = globalThis as { gc?: (options: Record<string, string>) => void };
  if (kind === "quick") return gc?.({ type: "minor", execution: "sync" });
  gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
  if (mayTrim()) Deno.unrefTimer(Number(setTimeout(trim, TRIM_AFTER_MS)));
}

/** Deno trims at SIGUSR2, if this variable was set when it started. */
function mayTrim(): boolean {
  return Deno.build.os === "linux" && Deno.env.has("DENO_USR2_MEMORY_TRIM") &&
    Deno.permissions.querySync({ name: "run" }).state === "granted";
}

/**
 * Has glibc give back its free pages. By itself it only gives back those above the last block in use:
 * the buffers of thousands of closed connections stay because of one that came after them.
 */
function trim(): void {
  // With a listener, the signal cannot end the process, whatever Deno makes of it.
  Deno.addSignalListener("SIGUSR2", ignore);
  Deno.kill(Deno.pid, "SIGUSR2");
}

function ignore(): void {}
