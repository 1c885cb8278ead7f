import { dirname } from "node:path";
import { GatewayError } from "../core/errors.ts";
import { readBackup, verifyBackup } from "./backup.ts";
import { commitBatches } from "./collection.ts";
import { inspectFile, removeLeftovers, swapFiles, swapNames } from "./data_file.ts";
import { keys, type RecordKey } from "./keys.ts";
import { KvClient, type Location, parseLocation, type WarningListener } from "./kv_client.ts";
import { Lease } from "./leases_repository.ts";
import { readSchema, schemaEntry } from "./migrations.ts";
import { encodeRecord, listRecords, writeRecords } from "./records.ts";
import { foreign, unavailable } from "./storage_errors.ts";

export interface RestoreOptions {
  file: string;
  location: string | undefined;
  /** Replace what a remote store holds, or another program's file. */
  force?: boolean;
  now?: () => number;
  onWarning?: WarningListener;
  /** Whether the holder of a lease that has not lapsed is still there; believed unless asked. */
  isAlive?: (lease: Lease) => Promise<boolean>;
  /** Done once it is sure that a data file which can be read will be replaced. */
  keepBefore?: () => Promise<void>;
}

export interface RestoreResult {
  entries: number;
  createdAt: string;
  movedTo?: string;
}

/** Replaces a store's records by a backup's. No gateway may be running on the store. */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreResult> {
  const location = parseLocation(options.location);
  const { header: { schemaVersion, createdAt }, entries } = await verifyBackup(options.file);
  if (location.kind === "memory") {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: "Cannot restore into memory: the data would be lost when the gateway stops",
      recoveryAction: "Set --kv to a file or a KV Connect URL",
    });
  }
  const movedTo = location.kind === "file"
    ? await restoreFile(location, schemaVersion, options)
    : await restoreInPlace(location, schemaVersion, options);
  return { entries, createdAt, ...(movedTo ? { movedTo } : {}) };
}

async function restoreFile(
  location: Location & { kind: "file" },
  schemaVersion: number,
  { file, force = false, now = Date.now, onWarning, isAlive, keepBefore }: RestoreOptions,
): Promise<string | undefined> {
  const { path } = location;
  const found = await inspectFile(path);
  if (found.state === "unusable") throw unavailable(location, found.why);
  if (found.state === "foreign" && !force) throw foreign(location, found.why);
  if (found.state === "damaged") {
    onWarning?.("The data file is damaged: cannot tell whether a gateway is using it", { path });
  }
  const refuseIfInUse = async () => {
    if (found.state !== "usable") return;
    using client = await KvClient.open(location, { onWarning });
    await refuseLiving(client, now(), isAlive);
  };
  await refuseIfInUse();
  if (found.state === "usable") await keepBefore?.();

  const stamp = new Date(now()).toISOString().replaceAll(/[:.]/g, "-");
  const { building, ready } = swapNames(path, stamp);
  await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await removeLeftovers(path);
  {
    using client = await KvClient.open(parseLocation(building));
    await fill(client, file, now);
    await client.commit({ sets: [schemaEntry(schemaVersion)], increments: [keys.generation()] });
  }
  await settle(building);
  await Deno.rename(building, ready);
  await refuseIfInUse();
  return await swapFiles(path, stamp);
}

/** A store that cannot be swapped as a file is marked, emptied and filled; a rerun starts over. */
async function restoreInPlace(
  location: Location,
  schemaVersion: number,
  { file, force = false, now = Date.now, onWarning, isAlive }: RestoreOptions,
): Promise<void> {
  using client = await KvClient.open(location, { onWarning });
  const marked = (await client.get(keys.restoring())).versionstamp !== null;
  if (!marked) {
    const isEmpty = await readSchema(client) === undefined;
    if (!isEmpty && !force && await hasRecords(client)) {
      throw new GatewayError("CONFLICT", {
        message: `Cannot restore into ${location.label}: it is not empty`,
        recoveryAction: "Back it up, then run the command again with --force",
      });
    }
  }
  await client.commit({
    sets: [{ key: keys.restoring(), value: encodeRecord({ at: now() }) }],
  });
  try {
    // After the mark, which keeps a new gateway from taking a lease.
    await refuseLiving(client, now(), isAlive);
  } catch (error) {
    if (!marked) await client.commit({ deletes: [keys.restoring()] });
    throw error;
  }
  await empty(client);
  await fill(client, file, now);
  await client.commit({
    sets: [schemaEntry(schemaVersion)],
    deletes: [keys.restoring()],
    increments: [keys.generation()],
  });
}

async function refuseLiving(
  client: KvClient,
  now: number,
  isAlive: RestoreOptions["isAlive"] = () => Promise.resolve(true),
): Promise<void> {
  for await (const { value } of listRecords(client, { prefix: keys.leases() })) {
    const lease = Lease.safeParse(value).data;
    if (lease === undefined || lease.expiresAt <= now || !await isAlive(lease)) continue;
    const seconds = Math.ceil((lease.expiresAt - now) / 1000);
    throw new GatewayError("OPERATION_IN_PROGRESS", {
      message: `Cannot restore into ${client.location.label}: ` +
        `a gateway is using it (process ${lease.pid} on ${lease.host})`,
      recoveryAction: `Stop it, then try again. If it has crashed, wait ${seconds} s`,
    });
  }
}

async function hasRecords(client: KvClient): Promise<boolean> {
  for await (const { key } of client.list({ prefix: [] })) {
    if (!KEPT_ROOTS.has(String(key[0]))) return true;
  }
  return false;
}

const KEPT_ROOTS = new Set(["schema", "generation", "restoring", "leases"]);

async function empty(client: KvClient): Promise<void> {
  const found: { key: RecordKey }[] = [];
  for await (const { key } of client.list({ prefix: [] })) {
    // The counter goes on: whoever followed it must see it change.
    if (key[0] === "restoring" || key[0] === "generation") continue;
    found.push({ key: key.map((part) => typeof part === "number" ? part : String(part)) });
  }
  for await (const batch of commitBatches(found)) {
    await client.commit({ deletes: batch.map(({ key }) => key) });
  }
}

async function fill(client: KvClient, file: string, now: () => number): Promise<void> {
  for await (const sets of commitBatches(readBackup(file))) {
    await writeRecords(client, { sets }, now());
  }
}

/** Waits until a database that was just closed is one file, and that file is on the disk. */
async function settle(path: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const log = await Deno.stat(`${path}-wal`).catch(() => undefined);
    if (log === undefined) {
      using file = await Deno.open(path, { read: true, write: true });
      return await file.sync();
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new GatewayError("STORAGE_UNAVAILABLE", {
    message: `Cannot finish the restored file "${path}": SQLite did not remove its log`,
  });
}
