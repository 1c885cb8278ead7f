import { basename, dirname, resolve } from "node:path";

/** Editors write a file in several steps. */
const SETTLE_MS = 100;
/** For file systems that tell nothing, such as network folders. */
const POLL_MS = 5_000;
/** For a folder that must not be watched. */
const QUICK_POLL_MS = 500;

export interface WatchOptions {
  /** The stamp from before the files were read, so that what changed since then is not missed. */
  since: string;
  signal: AbortSignal;
  /** A callback that fails is called again at the next look. */
  onError(error: unknown): void;
  pollMs?: number;
  /**
   * A folder with a database in it. A watch opens and closes each file that changes, and with that
   * the system forgets the locks that this process holds on the file.
   */
  unwatchable?: string | undefined;
}

/** Calls back when one of the files was written, made or removed, until the signal aborts. */
export async function watchFiles(
  files: readonly string[],
  onChange: () => void | Promise<void>,
  { since, signal, onError, unwatchable, ...options }: WatchOptions,
): Promise<void> {
  const folders = [...new Set(files.map((file) => dirname(file)))];
  const watched = folders.filter((folder) => !isSameFolder(folder, unwatchable));
  const pollMs = options.pollMs ?? (watched.length < folders.length ? QUICK_POLL_MS : POLL_MS);
  let last = since;
  let checking: Promise<void> = Promise.resolve();
  const check = () => {
    checking = checking.then(async () => {
      const now = await stampFiles(files);
      if (now === last || signal.aborted) return;
      await onChange();
      last = now;
    }).catch(onError);
  };
  const watchers = watched.flatMap((folder) => {
    try {
      return [Deno.watchFs(folder, { recursive: false })];
    } catch {
      return []; // The folder is not there; the poll will see if it comes.
    }
  });
  const names = new Set(files.map((file) => basename(file)));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const watching = watchers.map(async (watcher) => {
    for await (const { kind, paths } of watcher) {
      if (kind === "access" || !paths.some((path) => names.has(basename(path)))) continue;
      clearTimeout(timer);
      timer = setTimeout(check, SETTLE_MS);
    }
  });
  const poll = setInterval(check, pollMs);
  check();
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  clearInterval(poll);
  clearTimeout(timer);
  for (const watcher of watchers) watcher.close();
  await Promise.all(watching);
  await checking;
}

export async function stampFiles(files: readonly string[]): Promise<string> {
  const infos = await Promise.all(files.map((file) => Deno.stat(file).catch(() => undefined)));
  return infos.map((info) => info ? `${info.size} ${info.mtime?.getTime()} ${info.ino}` : "-").join(
    "|",
  );
}

function isSameFolder(folder: string, other: string | undefined): boolean {
  if (other === undefined) return false;
  const real = (path: string) => {
    try {
      return Deno.realPathSync(path);
    } catch {
      return resolve(path);
    }
  };
  return real(folder) === real(other);
}
