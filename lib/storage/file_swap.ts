import { basename, dirname, join } from "node:path";

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
    throw new Deno.errors.NotFound(`The restored file "${ready}" has vanished`);
  }
  return moved;
}

/** Finishes a swap that was cut short between its two steps; false where there was none. */
export async function finishInterruptedSwap(path: string): Promise<boolean> {
  if (await exists(path)) return false;
  const stamp = await findStamp(path);
  if (stamp === undefined) return false;
  const { ready, before } = swapNames(path, stamp);
  for (const end of ENDS.slice(1)) await renameIfThere(path + end, before + end);
  // Another process may be finishing it as well: whose rename comes second finds nothing.
  await renameIfThere(ready, path);
  return await exists(path);
}

/** Removes what restores that were cut short before their swap have left. */
export async function removeLeftovers(path: string): Promise<void> {
  const prefixes = [`${basename(path)}.restoring-`, `${basename(path)}.restored-`];
  for (const name of await namesBeside(path)) {
    if (prefixes.some((prefix) => name.startsWith(prefix))) {
      await Deno.remove(join(dirname(path), name)).catch(() => {});
    }
  }
}

async function findStamp(path: string): Promise<string | undefined> {
  const names = new Set(await namesBeside(path));
  const ready = `${basename(path)}.restored-`;
  const stamps = [...names].filter((name) => name.startsWith(ready))
    .map((name) => name.slice(ready.length)).sort();
  // Without the old file's move the swap had not begun, and `ready` is only a leftover.
  return stamps.findLast((stamp) => names.has(`${basename(path)}.before-restore-${stamp}`));
}

async function namesBeside(path: string): Promise<string[]> {
  try {
    return (await Array.fromAsync(Deno.readDir(dirname(path)))).map(({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

async function renameIfThere(from: string, to: string): Promise<boolean> {
  try {
    await Deno.rename(from, to);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
