import { pathToFileURL } from "node:url";
import type { DatabaseSync } from "node:sqlite";
import { basename, dirname, join } from "node:path";

type FileState =
  | { state: "absent" }
  | { state: "empty" }
  /** A Deno KV file, ours or new; nothing says that it is not. */
  | { state: "usable" }
  | { state: "damaged"; why: string; extra: string[] }
  | { state: "foreign"; why: string }
  | { state: "unusable"; why: string };

/** A whole check of a file of this size takes about 5 ms. */
const WHOLE_CHECK_BYTES = 8 * 1024 * 1024;

const KV_TABLES = new Set(["migration_state", "data_version", "kv", "queue", "queue_running"]);

/** What Deno KV reads by itself as it opens a file: damage there ends the whole process. */
const READ_AT_OPEN = [
  "select version from migration_state limit 1",
  "select version from data_version limit 1",
  "select id from queue_running order by deadline limit 1",
  "select ts from queue order by ts limit 1",
  "select expiration_ms from kv where expiration_ms >= 0 order by expiration_ms limit 1",
];

/** Our schema marker's key, as Deno KV encodes a key of one string. */
const SCHEMA_KEY = new Uint8Array([2, ...new TextEncoder().encode("schema"), 0]);

/**
 * Looks at a data file without changing it, before Deno KV opens it.
 *
 * Deno KV adds its tables to any SQLite file it is given, and panics on some damaged ones:
 * neither can be taken back, so both are found out here.
 */
export async function inspectFile(path: string): Promise<FileState> {
  const extra = await extraFiles(path);
  const info = await ifFound(Deno.stat(path));
  if (info === undefined || info.size === 0 && info.isFile) {
    // SQLite would delete the log without a word, and with it what was saved last.
    if (extra.some(({ end, size }) => end === "-wal" && size > 0)) {
      const why = info === undefined ? "it is missing" : "it is empty";
      return { state: "damaged", why: `${why}, but its log "${path}-wal" exists`, extra: [] };
    }
    return { state: info === undefined ? "absent" : "empty" };
  }
  if (info.isDirectory) return { state: "unusable", why: "it is a folder, not a file" };
  if (!info.isFile) return { state: "unusable", why: "it is not a regular file" };

  const { DatabaseSync } = await import("node:sqlite");
  const open = (immutable: boolean) => {
    const url = pathToFileURL(path);
    if (immutable) url.searchParams.set("immutable", "1");
    try {
      // A string: Deno 2.5 and 2.6 do not accept a URL object.
      return new DatabaseSync(url.href, { readOnly: true });
    } catch (error) {
      // Where not everything is permitted Deno takes the URL for the name of a file.
      if (!String(error).includes("file:/")) throw error;
      return new DatabaseSync(path, { readOnly: true });
    }
  };
  const look = (immutable: boolean): FileState => {
    try {
      const database = open(immutable);
      try {
        return inspectDatabase(database, info.size);
      } finally {
        database.close();
      }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (/not a database|malformed/i.test(why)) {
        return { state: "damaged", why, extra: extra.map(({ end }) => end) };
      }
      // Anything else (a lock, a missing right) is for the real opening to meet and to retry.
      return { state: "usable" };
    }
  };
  if (extra.length > 0) return look(false);
  // Without a log nobody has it open, and an immutable look leaves no files beside it. Somebody
  // may have opened it just then: only a look that honors locks may call it damaged.
  const first = look(true);
  return first.state === "damaged" && (await extraFiles(path)).length > 0 ? look(false) : first;
}

function inspectDatabase(database: DatabaseSync, size: number): FileState {
  const tables = database.prepare(
    "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'",
  ).all().map(({ name }) => String(name));
  const other = tables.find((name) => !KV_TABLES.has(name));
  if (other !== undefined) {
    return { state: "foreign", why: `it is an SQLite database with a table "${other}"` };
  }
  // Fewer tables: its very first opening was cut short, and Deno KV goes on from there.
  if (tables.length < KV_TABLES.size) return { state: "usable" };

  for (const query of READ_AT_OPEN) database.prepare(query).all();
  if (size <= WHOLE_CHECK_BYTES) {
    const finding = String(database.prepare("pragma quick_check(1)").get()?.["quick_check"]);
    if (finding !== "ok") throw new Error(`malformed (${finding.replaceAll(/\s+/g, " ")})`);
  }
  const hasEntries = database.prepare("select 1 from kv limit 1").get() !== undefined;
  const isOurs = database.prepare("select 1 from kv where k = ?").get(SCHEMA_KEY) !== undefined;
  return hasEntries && !isOurs
    ? { state: "foreign", why: "it contains another program's Deno KV entries" }
    : { state: "usable" };
}

async function extraFiles(path: string): Promise<{ end: string; size: number }[]> {
  const found: { end: string; size: number }[] = [];
  for (const end of ["-wal", "-shm"]) {
    const info = await ifFound(Deno.stat(path + end));
    if (info !== undefined) found.push({ end, size: info.size });
  }
  return found;
}

/** The result of the work; undefined if it failed because a file is not there. */
export async function ifFound<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Not `file.writable`: it holds back small writes until it is closed, past any sync. */
export async function writeBytes(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    written += await file.write(bytes.subarray(written));
  }
}

/** A database in write-ahead mode is up to three files; a log must never meet another file. */
const ENDS = ["", "-wal", "-shm"];

/** Names that tell which files belong to one restore. */
export function swapNames(path: string, stamp: string) {
  return {
    building: `${path}.restoring-${stamp}`,
    ready: `${path}.restored-${stamp}`,
    before: `${path}.before-restore-${stamp}`,
  };
}

/**
 * Puts the finished file `ready` in the place of `path` and keeps what was there as `before`.
 *
 * The old file goes first: from then on a kill leaves `before` and `ready` with one stamp and no
 * `path`, by which the next opening knows to finish. Before that moment the old one is in force.
 */
export async function swapFiles(path: string, stamp: string): Promise<string | undefined> {
  const { ready, before } = swapNames(path, stamp);
  let moved: string | undefined;
  for (const end of ENDS) {
    if (await renameIfThere(path + end, before + end)) moved = before;
  }
  // An opening gateway may have seen the gap and finished the swap itself.
  if (!await renameIfThere(ready, path) && !await exists(path)) {
    throw new Deno.errors.NotFound(`The restored file "${ready}" is missing`);
  }
  return moved;
}

/** Finishes a swap that was cut short between its two steps; false if there was none. */
export async function finishInterruptedSwap(path: string): Promise<boolean> {
  if (await exists(path)) return false;
  const names = new Set(await namesBeside(path));
  const prefix = `${basename(path)}.restored-`;
  const stamps = [...names].filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length)).sort();
  // Without the old file's move the swap had not begun, and `ready` is only a leftover.
  const stamp = stamps.findLast((stamp) => names.has(`${basename(path)}.before-restore-${stamp}`));
  if (stamp === undefined) return false;
  const { ready, before } = swapNames(path, stamp);
  for (const end of ENDS.slice(1)) await renameIfThere(path + end, before + end);
  // Another process may be finishing it as well: whose rename comes second finds nothing.
  await renameIfThere(ready, path);
  return await exists(path);
}

export async function removeLeftovers(path: string): Promise<void> {
  const prefixes = [`${basename(path)}.restoring-`, `${basename(path)}.restored-`];
  for (const name of await namesBeside(path)) {
    if (prefixes.some((prefix) => name.startsWith(prefix))) {
      await Deno.remove(join(dirname(path), name)).catch(() => {});
    }
  }
}

async function namesBeside(path: string): Promise<string[]> {
  const entries = Array.fromAsync(Deno.readDir(dirname(path)), ({ name }) => name);
  return await ifFound(entries) ?? [];
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

async function renameIfThere(from: string, to: string): Promise<boolean> {
  return await ifFound(Deno.rename(from, to).then(() => true)) ?? false;
}
