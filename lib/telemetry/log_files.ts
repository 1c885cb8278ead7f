import { join } from "@std/path";

const NAME = /^quartermaster_\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(_\d+)?\.log$/;

/** A new, empty log file for this run, readable by its owner only. */
export async function createLogFile(folder: string, now: Date): Promise<string> {
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  const stem = `quartermaster_${now.toISOString().slice(0, 19).replaceAll(":", "-")}`;
  for (let attempt = 1;; attempt++) {
    const path = join(folder, attempt === 1 ? `${stem}.log` : `${stem}_${attempt}.log`);
    try {
      (await Deno.open(path, { write: true, createNew: true, mode: 0o600 })).close();
      return path;
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists) || attempt === 100) throw error;
    }
  }
}

/** Removes the oldest log files beyond the newest `keep`; other files are left alone. */
export async function pruneLogFiles(folder: string, keep: number): Promise<void> {
  const names: string[] = [];
  for await (const entry of Deno.readDir(folder)) {
    if (entry.isFile && NAME.test(entry.name)) names.push(entry.name);
  }
  const stale = names.sort().slice(0, Math.max(0, names.length - keep));
  // Another gateway on the same folder may have removed it first.
  await Promise.all(stale.map((name) => Deno.remove(join(folder, name)).catch(() => {})));
}
