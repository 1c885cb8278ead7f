import { hostname } from "node:os";
import type { Platform } from "../config/platform.ts";
import type { Options } from "../config/option_table.ts";
import type { LogSource } from "../config/module.ts";
import { type AppliedRestore, applyStagedRestore, StagedRestore } from "./staged_restore.ts";
import { keepLease, type KeptLease, LeasesRepository } from "./leases_repository.ts";
import { parseLocation } from "./kv_client.ts";
import { Mailbox } from "./mailbox.ts";
import { once } from "../core/async.ts";
import type { AesBox } from "./sealing.ts";
import { Store } from "./store.ts";

export interface StorageInput {
  options: Pick<Options, "kv" | "secretKey" | "dataDir">;
  platform: Pick<Platform, "canWrite">;
  /** Where this gateway listens; empty if it does not. */
  localAddress: string;
  startedAt: number;
  /**
   * Opened for one command: no backup is put in place, and a lease (without an address) is only
   * taken before the command starts a program, so that no gateway ends it as an orphan.
   */
  isCommand?: boolean;
  logs: LogSource;
  isRunning(pid: number): Promise<boolean>;
  onWarning(message: string, details?: object): void;
}

export interface Restore {
  /** Takes a backup for the next start; undefined unless the store is a file on this machine. */
  staged?: StagedRestore;
  applied?: AppliedRestore;
}

/** The store, open and migrated, with this process's lease on it. */
export interface StorageModule extends AsyncDisposable {
  store: Store;
  restore: Restore;
  lease: KeptLease;
  /** Encrypts secrets in the store; opened at first use, because its key may have to be made. */
  box: () => Promise<AesBox>;
  /** Messages to and from other gateways on the store. */
  mailbox: Mailbox;
  path: string | undefined;
}

export async function openStorage(input: StorageInput): Promise<StorageModule> {
  const { options, platform, localAddress: address, startedAt, onWarning } = input;
  const { kv: location, secretKey, dataDir } = options;
  await using stack = new AsyncDisposableStack();
  const restore = input.isCommand ? {} : await applyRestore(input);
  const store = stack.use(await Store.open({ location, onWarning }));
  const leases = new LeasesRepository(store);
  // On Deno Deploy, isolates may share a host name, and nothing lists processes: only leases count.
  const isRunning = platform.canWrite ? input.isRunning : () => Promise.resolve(true);
  const lease = stack.use(keepLease(leases, { address, startedAt, isRunning, onWarning }));
  const box = once(async () => {
    const { openSecretBox } = await import("./secret_key.ts");
    const folder = platform.canWrite ? dataDir : undefined;
    return await openSecretBox({ secretKey, dataDir: folder, location: store.location });
  });
  const mailbox = stack.use(new Mailbox(store, lease, { box }));
  if (!input.isCommand) await lease.hold();
  const opened = stack.move();
  return {
    store,
    restore,
    lease,
    box,
    mailbox,
    path: store.location.kind === "file" ? store.location.path : undefined,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Replaces the store by a backup that waits for this start. */
async function applyRestore(
  { options, platform, logs, isRunning, onWarning }: StorageInput,
): Promise<Restore> {
  const log = logs.module("storage");
  const place = parseLocation(options.kv);
  if (place.kind !== "file" || !platform.canWrite) return {};
  const applied = await applyStagedRestore(place.path, {
    // A lease on this machine whose process is gone, or whose process id is now ours, counts as
    // lapsed.
    isAlive: async ({ host, pid }) =>
      host !== hostname() || (pid !== Deno.pid && await isRunning(pid)),
    onWarning,
  });
  if (applied?.ok) log.info(applied, "Restored the data store from a backup");
  else if (applied) log.error(applied, "Cannot restore the pending backup");
  return { staged: new StagedRestore(place.path), ...(applied && { applied }) };
}
