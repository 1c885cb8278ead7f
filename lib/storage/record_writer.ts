import { z } from "zod";
import { GatewayError } from "../core/errors.ts";
import { keyBytes, keys } from "./keys.ts";
import type { RecordKey } from "./keys.ts";
import type { Check, KvClient, KvWrite } from "./kv_client.ts";
import {
  decodeRecord,
  encodeRecord,
  PART_BYTES,
  type PartsPointer,
  RECORD_BYTES,
  splitBytes,
} from "./record_codec.ts";
import { pointerOf } from "./record_reader.ts";

/** Deno KV takes 800 KiB, 80 KiB of keys, 1,000 mutations and 10 checks in one commit. */
export const COMMIT_BYTES = 700 * 1024;
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

/** Records to change together: all of it happens, or nothing. */
export interface Changes {
  checks?: Check[];
  sets?: { key: RecordKey; value: unknown }[];
  deletes?: RecordKey[];
  increments?: RecordKey[];
}

interface Outgoing {
  key: RecordKey;
  bytes: Uint8Array<ArrayBuffer>;
  /** Written ahead of the commit, because the commit would be too large with it. */
  ahead: boolean;
}

/** Writes records of any size; undefined where a check failed and nothing has changed. */
export async function writeRecords(
  client: KvClient,
  changes: Changes,
  now: number,
): Promise<string | undefined> {
  const outgoing = (changes.sets ?? []).map(({ key, value }): Outgoing => ({
    key,
    bytes: encodeRecord(value),
    ahead: false,
  }));
  chooseAhead(outgoing);

  const write = {
    checks: [...changes.checks ?? []],
    sets: [] as NonNullable<KvWrite["sets"]>,
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
    if (record.ahead) {
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
  if (versionstamp === undefined) await discard(client, ahead).catch(() => {});
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
        { key: keys.partOwner(id), versionstamp: entry.versionstamp },
      ],
      deletes: keysOfParts(id, owner.count),
    });
    if (done !== undefined) swept++;
  }
  return swept;
}

function chooseAhead(outgoing: Outgoing[]): void {
  let total = outgoing.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const largestFirst = outgoing.filter(({ bytes }) => bytes.length > PART_BYTES)
    .sort((one, other) => other.bytes.length - one.bytes.length);
  for (const record of largestFirst) {
    if (record.bytes.length > RECORD_BYTES) {
      throw new GatewayError("LIMIT_EXCEEDED", {
        message: `Cannot save ${record.bytes.length} bytes as one record: ` +
          `at most ${RECORD_BYTES} are possible`,
        recoveryAction: "Keep less in it",
      });
    }
    if (total <= COMMIT_BYTES) return;
    record.ahead = true;
    total -= record.bytes.length;
  }
}

function toParts(record: Outgoing, now: number) {
  const id = crypto.randomUUID();
  const parts = splitBytes(record.bytes);
  const pointer: PartsPointer = { parts: id, count: parts.length, bytes: record.bytes.length };
  const owner = encodeRecord({ key: record.key, count: parts.length, at: now });
  const entries = [
    { key: keys.partOwner(id) as RecordKey, value: owner },
    ...parts.map((value, index) => ({ key: keys.part(id, index) as RecordKey, value })),
  ];
  return { pointer, entries };
}

async function writeAhead(
  client: KvClient,
  pointer: PartsPointer,
  entries: NonNullable<KvWrite["sets"]>,
): Promise<Check> {
  const perCommit = Math.floor(COMMIT_BYTES / PART_BYTES);
  let check: Check | undefined;
  for (let start = 0; start < entries.length; start += perCommit) {
    const versionstamp = await client.commit({ sets: entries.slice(start, start + perCommit) });
    check ??= { key: keys.partOwner(pointer.parts), versionstamp: versionstamp ?? null };
  }
  if (check === undefined) throw new GatewayError("INTERNAL");
  return check;
}

/** The parts of the records that this change replaces or deletes. */
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
function deletionsThatFit(replaced: PartsPointer[], write: Required<KvWrite>): RecordKey[] {
  let { mutations, keySize } = measure(write);
  const deletions: RecordKey[] = [];
  for (const { parts, count } of replaced) {
    const more = keysOfParts(parts, count);
    mutations += more.length;
    keySize += more.reduce((sum, key) => sum + keyBytes(key), 0);
    if (mutations > COMMIT_MUTATIONS || keySize > COMMIT_KEY_BYTES) break;
    deletions.push(...more);
  }
  return deletions;
}

function refuseTooLarge(write: Required<KvWrite>): void {
  const { mutations, keySize, valueSize } = measure(write);
  if (
    write.checks.length > COMMIT_CHECKS || mutations > COMMIT_MUTATIONS ||
    keySize > COMMIT_KEY_BYTES || valueSize > COMMIT_BYTES + PART_BYTES
  ) {
    throw new GatewayError("LIMIT_EXCEEDED", {
      message: `Cannot save ${mutations} changes with ${write.checks.length} checks and ` +
        `${valueSize} bytes at once`,
      recoveryAction: "Save them in several steps",
    });
  }
}

function measure(write: Required<KvWrite>) {
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

async function discard(client: KvClient, pointers: PartsPointer[]): Promise<void> {
  for (const { parts, count } of pointers) {
    await client.commit({ deletes: keysOfParts(parts, count) });
  }
}

function keysOfParts(id: string, count: number): RecordKey[] {
  return [
    keys.partOwner(id),
    ...Array.from({ length: count }, (_, index) => keys.part(id, index)),
  ];
}
