import { join } from "node:path";

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
export async function ringBell(path: string): Promise<void> {
  try {
    await Deno.writeTextFile(join(bellFolder(path), "rung"), `${Date.now()}\n`);
  } catch { /* nobody has ever listened, or the disk is full */ }
}

/** Calls back whenever the bell is rung, until the signal aborts; throws where it cannot be heard. */
export function watchBell(path: string, ring: () => void, signal: AbortSignal): Promise<void> {
  Deno.mkdirSync(bellFolder(path), { recursive: true, mode: 0o700 });
  const watcher = Deno.watchFs(bellFolder(path), { recursive: false });
  signal.addEventListener("abort", () => watcher.close(), { once: true });
  return (async () => {
    for await (const { kind } of watcher) if (kind !== "access") ring();
  })();
}
