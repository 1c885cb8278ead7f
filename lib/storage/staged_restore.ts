import { GatewayError } from "../core/errors.ts";
import { type BackupContents, backupContents } from "./backup_contents.ts";
import { backupStore } from "./backup.ts";
import { ifFound } from "./data_file.ts";
import type { WarningListener } from "./kv_client.ts";
import { restoreBackup, type RestoreOptions, type RestoreResult } from "./restore.ts";
import { Store } from "./store.ts";

export interface WaitingBackup extends BackupContents {
  /** Tells it from another one that came in its place. */
  id: string;
}

interface WaitingBackups {
  /** Found to be whole; nobody has said yet that it is wanted. */
  checked?: WaitingBackup;
  staged?: WaitingBackup;
}

const KNOWN = 4;

export function stagedFile(path: string): string {
  return `${path}.restore-staged`;
}

/**
 * Takes a backup for a store that is in use. No file can be swapped under a running gateway, so that
 * it is checked and laid beside the data file; the next start puts it in place.
 */
export class StagedRestore {
  readonly #path: string;
  readonly #known = new Map<string, WaitingBackup>();
  #moving: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  get path(): string {
    return this.#path;
  }

  /** Keeps a backup if it is whole; else throws, and everything is as it was. */
  async check(content: ReadableStream<Uint8Array>, name: string): Promise<void> {
    const temporary = `${this.#path}.restore-upload-${crypto.randomUUID()}`;
    try {
      const file = await Deno.open(temporary, { write: true, createNew: true, mode: 0o600 });
      await content.pipeTo(file.writable);
      await backupContents(temporary);
      await this.#alone(() => Deno.rename(temporary, this.#checked));
    } catch (error) {
      throw inNameOf(error, temporary, name);
    } finally {
      await Deno.remove(temporary).catch(() => {});
    }
  }

  async find(): Promise<WaitingBackups> {
    const [checked, staged] = await Promise.all(
      [this.#checked, stagedFile(this.#path)].map((file) => this.#read(file)),
    );
    return { ...(checked && { checked }), ...(staged && { staged }) };
  }

  /** Has the backup that somebody saw put in place at the next start. */
  confirm(id: string): Promise<void> {
    return this.#alone(async () => {
      const { checked } = await this.find();
      if (checked?.id !== id) {
        throw new GatewayError("CONFLICT", {
          message: "Cannot restore: the checked backup no longer exists",
          recoveryAction: "Choose the file again",
        });
      }
      await Deno.rename(this.#checked, stagedFile(this.#path));
    });
  }

  async discard(which: keyof WaitingBackups): Promise<void> {
    const file = which === "checked" ? this.#checked : stagedFile(this.#path);
    await ifFound(Deno.remove(file));
  }

  /** One after the other: else another backup could come in the place of the one that was looked at. */
  #alone(work: () => Promise<void>): Promise<void> {
    const done = this.#moving.then(work);
    this.#moving = done.catch(() => {});
    return done;
  }

  get #checked(): string {
    return `${this.#path}.restore-checked`;
  }

  async #read(file: string): Promise<WaitingBackup | undefined> {
    const info = await Deno.stat(file).catch(() => undefined);
    if (info === undefined) return undefined;
    const id = `${info.mtime?.getTime() ?? 0}-${info.size}`;
    const known = this.#known.get(id);
    if (known) return known;
    // Somebody else may have written there: what cannot be read is nothing to offer.
    const contents = await backupContents(file).catch(() => undefined);
    if (contents === undefined) return undefined;
    const waiting = { id, ...contents };
    if (this.#known.size > KNOWN) this.#known.clear();
    this.#known.set(id, waiting);
    return waiting;
  }
}

/** The person knows the file by its own name. */
function inNameOf(error: unknown, path: string, name: string): unknown {
  if (!(error instanceof GatewayError)) return error;
  const message = error.message.replaceAll(path, name.slice(0, 200));
  return new GatewayError(error.code, { ...error.details, message, cause: error });
}

export type AppliedRestore =
  | (RestoreResult & {
    ok: true;
    before?: string;
  })
  /** The store is as it was, and the backup still waits. */
  | { ok: false; problem: string };

/** Puts a backup in place that waits for this start; undefined if none does. Never throws. */
export async function applyStagedRestore(
  path: string,
  { isAlive, now = Date.now, onWarning }: Pick<RestoreOptions, "isAlive" | "now"> & {
    onWarning: WarningListener;
  },
): Promise<AppliedRestore | undefined> {
  const file = stagedFile(path);
  if (!await Deno.stat(file).then(({ isFile }) => isFile, () => false)) return undefined;
  const stamp = new Date(now()).toISOString().replaceAll(/[:.]/g, "-");
  const backup = `${path}.before-restore-${stamp}.backup`;
  let before: string | undefined;
  let result: RestoreResult;
  try {
    result = await restoreBackup({
      file,
      location: path,
      now,
      onWarning,
      ...(isAlive === undefined ? {} : { isAlive }),
      async keepBefore() {
        try {
          await using store = await Store.open({ location: path, onWarning });
          before = (await backupStore(store, backup)).file;
        } catch (error) {
          // The data file itself is kept as well.
          onWarning("Cannot back up the data store before a restore", { error });
        }
      },
    });
  } catch (error) {
    if (before !== undefined) await Deno.remove(before).catch(() => {});
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
  await Deno.remove(file).catch((error) =>
    onWarning("Cannot remove a restored backup: the next start will restore it again", {
      file,
      error,
    })
  );
  return { ok: true, ...result, ...(before === undefined ? {} : { before }) };
}
