import { Buffer } from "node:buffer";
import * as z from "zod";
import { keyBytes, keys, type RecordKey } from "./keys.ts";
import type { Changes, Check, KvClient, ListOptions } from "./kv_client.ts";
import { busy, damaged } from "./storage_errors.ts";
import { GatewayError } from "../core/errors.ts";

/** What one entry, or one part of a large record, holds at most; Deno KV's limit is 65,536. */
const PART_BYTES = 60_000;
/** More than any record should need, and few enough parts to be deleted in one commit. */
export const RECORD_BYTES = 32 * 1024 * 1024;

/** Stands in a record's place where the record is kept in parts. */
const PartsPointer = z.strictObject({
  parts: z.string(),
  count: z.int().positive(),
  bytes: z.int().positive(),
});
type PartsPointer = z.infer<typeof PartsPointer>;

/** A value, and the versionstamp to hand in when changing it. */
export interface Stored<T> {
  value: T;
  versionstamp: string;
}

export interface StoredRecord extends Stored<unknown> {
  key: RecordKey;
}

/** A reader can lose only to a writer that finished meanwhile, so this many are never met. */
const READ_ATTEMPTS = 20;

export async function readRecord(
  client: KvClient,
  key: RecordKey,
): Promise<StoredRecord | undefined> {
  return await resolveEntry(client, key, await client.get(key));
}

export async function* listRecords(
  client: KvClient,
  selector: Deno.KvListSelector,
  options: ListOptions & { skipRoots?: ReadonlySet<unknown> } = {},
): AsyncGenerator<StoredRecord, void> {
  for await (const entry of client.list(selector, options)) {
    if (options.skipRoots?.has(entry.key[0])) continue;
    const key = entry.key.map((part) => {
      if (typeof part === "string" || typeof part === "number") return part;
      throw damaged(client.location, `it contains an unknown key: ${Deno.inspect(entry.key)}`);
    });
    const record = await resolveEntry(client, key, entry);
    if (record !== undefined) yield record;
  }
}

function pointerOf(entry: Deno.KvEntryMaybe<unknown>): PartsPointer | undefined {
  return PartsPointer.safeParse(entry.value).data;
}

async function resolveEntry(
  client: KvClient,
  key: RecordKey,
  first: Deno.KvEntryMaybe<unknown>,
): Promise<StoredRecord | undefined> {
  let entry = first;
  for (let attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
    if (entry.versionstamp === null) return undefined;
    const bytes = await readBytes(client, entry);
    if (bytes !== undefined) {
      try {
        return { key, value: decodeRecord(bytes), versionstamp: entry.versionstamp };
      } catch (cause) {
        throw damaged(client.location, `record ${name(key)} is not JSON`, { cause });
      }
    }
    const again = await client.get(key);
    if (again.versionstamp === entry.versionstamp) {
      throw damaged(client.location, `record ${name(key)} is incomplete`);
    }
    entry = again;
  }
  throw busy(client.location, `read record ${name(key)} of`);
}

async function readBytes(
  client: KvClient,
  entry: Deno.KvEntry<unknown>,
): Promise<Uint8Array | undefined> {
  if (entry.value instanceof Uint8Array) return entry.value;
  const pointer = pointerOf(entry);
  if (pointer === undefined) return undefined;
  const [, ...partKeys] = keysOfParts(pointer);
  const parts = (await client.getMany(partKeys)).map(({ value }) => value);
  if (!parts.every((part) => part instanceof Uint8Array)) return undefined;
  const whole = Buffer.concat(parts);
  return whole.length === pointer.bytes ? whole : undefined;
}

function name(key: RecordKey): string {
  return JSON.stringify(key.join("/"));
}

export function encodeRecord(value: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** Throws if the bytes are not the JSON text that was written. */
export function decodeRecord(bytes: Uint8Array): unknown {
  return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
}

/** Deno KV takes 800 KiB, 80 KiB of keys, 1,000 mutations and 10 checks in one commit. */
const COMMIT_BYTES = 700 * 1024;
const COMMIT_KEY_BYTES = 72 * 1024;
const COMMIT_MUTATIONS = 990;
const COMMIT_CHECKS = 10;
/** A set of parts this old with no record was abandoned, not just being written. */
const ABANDONED_MS = 10 * 60_000;

/** Kept as long as the parts are. */
const PartOwner = z.strictObject({
  key: z.array(z.union([z.string(), z.number()])),
  count: z.int().positive(),
  at: z.number(),
});

interface Outgoing {
  key: RecordKey;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Writes records of any size; undefined if a check failed and nothing has changed. */
export async function writeRecords(
  client: KvClient,
  changes: Changes,
  now: number,
): Promise<string | undefined> {
  const outgoing = (changes.sets ?? []).map(({ key, value }) => ({
    key,
    bytes: encodeRecord(value),
  }));
  const tooLarge = chooseAhead(outgoing);
  const write: Required<Changes> = {
    checks: [...changes.checks ?? []],
    sets: [],
    deletes: [...changes.deletes ?? []],
    increments: changes.increments ?? [],
  };
  const ahead: PartsPointer[] = [];
  for (const record of outgoing) {
    if (record.bytes.length <= PART_BYTES) {
      write.sets.push({ key: record.key, value: record.bytes });
      continue;
    }
    const { pointer, entries } = toParts(record, now);
    if (tooLarge.has(record)) {
      // If the owner is gone by the time of the commit, so are the parts.
      write.checks.push(await writeAhead(client, pointer, entries));
      ahead.push(pointer);
    } else {
      write.sets.push(...entries);
    }
    write.sets.push({ key: record.key, value: pointer });
  }
  write.deletes.push(...deletionsThatFit(await findReplaced(client, changes), write));
  refuseTooLarge(write);
  const versionstamp = await client.commit(write);
  // Only on a plain no: a commit that failed on its way may have been done, and the parts be in
  // use. The sweep can tell.
  for (const pointer of versionstamp === undefined ? ahead : []) {
    await client.commit({ deletes: keysOfParts(pointer) }).catch(() => {});
  }
  return versionstamp;
}

/** Deletes the parts that no record points to and that nobody can still be writing. */
export async function sweepParts(client: KvClient, now: number): Promise<number> {
  let swept = 0;
  for await (const entry of client.list({ prefix: keys.partOwners() })) {
    const id = String(entry.key[1]);
    const owner = entry.value instanceof Uint8Array
      ? PartOwner.safeParse(decodeRecord(entry.value)).data
      : undefined;
    if (owner === undefined || now - owner.at < ABANDONED_MS) continue;
    const record = await client.get(owner.key);
    if (pointerOf(record)?.parts === id) continue;
    const done = await client.commit({
      checks: [
        { key: owner.key, versionstamp: record.versionstamp },
        { key: keys.partOwners(id), versionstamp: entry.versionstamp },
      ],
      deletes: keysOfParts({ parts: id, count: owner.count }),
    });
    if (done !== undefined) swept++;
  }
  return swept;
}

/** The records to write ahead of the commit, because it would be too large with them. */
function chooseAhead(outgoing: readonly Outgoing[]): Set<Outgoing> {
  let total = outgoing.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const ahead = new Set<Outgoing>();
  const largestFirst = outgoing.filter(({ bytes }) => bytes.length > PART_BYTES)
    .sort((one, other) => other.bytes.length - one.bytes.length);
  for (const record of largestFirst) {
    if (record.bytes.length > RECORD_BYTES) {
      throw new GatewayError("LIMIT_EXCEEDED", {
        message: `Cannot save ${record.bytes.length} bytes as one record: ` +
          `the limit is ${RECORD_BYTES}`,
        recoveryAction: "Save less data at once",
      });
    }
    if (total <= COMMIT_BYTES) break;
    ahead.add(record);
    total -= record.bytes.length;
  }
  return ahead;
}

function toParts({ key, bytes }: Outgoing, now: number) {
  const count = Math.ceil(bytes.length / PART_BYTES);
  const pointer: PartsPointer = { parts: crypto.randomUUID(), count, bytes: bytes.length };
  const entries = keysOfParts(pointer).map((partKey, index) => ({
    key: partKey,
    value: index === 0
      ? encodeRecord({ key, count, at: now })
      : bytes.subarray((index - 1) * PART_BYTES, index * PART_BYTES),
  }));
  return { pointer, entries };
}

async function writeAhead(
  client: KvClient,
  pointer: PartsPointer,
  entries: Required<Changes>["sets"],
): Promise<Check> {
  const perCommit = Math.floor(COMMIT_BYTES / PART_BYTES);
  const stamps: (string | undefined)[] = [];
  for (let start = 0; start < entries.length; start += perCommit) {
    stamps.push(await client.commit({ sets: entries.slice(start, start + perCommit) }));
  }
  return { key: keys.partOwners(pointer.parts), versionstamp: stamps[0] ?? null };
}

async function findReplaced(client: KvClient, changes: Changes): Promise<PartsPointer[]> {
  const created = new Set(
    (changes.checks ?? []).filter(({ versionstamp }) => versionstamp === null)
      .map(({ key }) => JSON.stringify(key)),
  );
  const touched = [...(changes.sets ?? []).map(({ key }) => key), ...changes.deletes ?? []]
    .filter((key) => !created.has(JSON.stringify(key)));
  const entries = await client.getMany(touched);
  return entries.map(pointerOf).filter((pointer) => pointer !== undefined);
}

/**
 * Old parts go in the commit that replaces them. Those for which it has no room are left to the
 * sweep, and so are those of a record that somebody else replaced since it was looked up: an id
 * is never used twice, so none that is still in use is ever deleted.
 */
function deletionsThatFit(replaced: PartsPointer[], write: Required<Changes>): RecordKey[] {
  let { mutations, keySize } = measure(write);
  const deletions: RecordKey[] = [];
  for (const pointer of replaced) {
    const more = keysOfParts(pointer);
    mutations += more.length;
    keySize += more.reduce((sum, key) => sum + keyBytes(key), 0);
    if (mutations > COMMIT_MUTATIONS || keySize > COMMIT_KEY_BYTES) break;
    deletions.push(...more);
  }
  return deletions;
}

function refuseTooLarge(write: Required<Changes>): void {
  const { mutations, keySize, valueSize } = measure(write);
  if (
    write.checks.length > COMMIT_CHECKS || mutations > COMMIT_MUTATIONS ||
    keySize > COMMIT_KEY_BYTES || valueSize > COMMIT_BYTES + PART_BYTES
  ) {
    throw new GatewayError("LIMIT_EXCEEDED", {
      message: `Cannot save ${mutations} changes with ${write.checks.length} checks and ` +
        `${valueSize} bytes at once`,
      recoveryAction: "Save them in smaller steps",
    });
  }
}

function measure(write: Required<Changes>) {
  const changed = [...write.sets.map(({ key }) => key), ...write.deletes, ...write.increments];
  const checked = write.checks.map(({ key }) => key);
  return {
    mutations: changed.length,
    keySize: [...changed, ...checked].reduce((sum, key) => sum + keyBytes(key), 0),
    valueSize: write.sets.reduce(
      (sum, { value }) => sum + (value instanceof Uint8Array ? value.length : 200),
      0,
    ),
  };
}

function keysOfParts({ parts, count }: Pick<PartsPointer, "parts" | "count">): RecordKey[] {
  return [
    keys.partOwners(parts),
    ...Array.from({ length: count }, (_, index) => keys.parts(parts, index)),
  ];
}
