import { DatabaseSync } from "node:sqlite";

/**
 * A KV Connect server for the gateways of a test: reads, atomic writes and watches, over a file that
 * outlives it, or in memory. It can fall silent, as a server does whose machine is gone.
 */
export interface KvConnect extends AsyncDisposable {
  url: string;
  /** Resolves with the first request. */
  asked: Promise<void>;
  /** Requests so far for reads and writes. */
  readonly requests: number;
  /** From now on nothing is answered. */
  hang(): void;
  /** Does not answer the next request for reads or writes. */
  loseNext(): void;
  /** From now on everything is answered again, also what came in the meantime. */
  resume(): void;
  /** From now on nobody listens. */
  close(): Promise<void>;
}

interface Stored {
  key: Uint8Array;
  value: Uint8Array;
  encoding: number;
  versionstamp: Uint8Array;
}

/** Counters, as Deno.KvU64 is stored. */
const LE64 = 2;
const SET = 1, DELETE = 2, SUM = 3;

export function startKvConnect(path = ":memory:"): KvConnect {
  const stored = new StoredEntries(path);
  const watches = new Set<() => void>();
  let silence = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  let isSilent = false;
  let losesNext = false;
  let requests = 0;

  const stopped = new AbortController();
  const options = { hostname: "127.0.0.1", port: 0, signal: stopped.signal, onListen() {} };
  const server = Deno.serve(options, async (request) => {
    asked.resolve();
    const { pathname, origin } = new URL(request.url);
    const isOperation = pathname !== "/" && pathname !== "/data/watch";
    if (isOperation) requests++;
    const isLost = losesNext && isOperation;
    if (isLost) losesNext = false;
    if (isSilent || isLost) await silence.promise;
    if (stopped.signal.aborted) return new Response(null, { status: 503 });
    const body = new Uint8Array(await request.arrayBuffer());
    const protobuf = (bytes: Uint8Array<ArrayBuffer>) =>
      new Response(bytes, { headers: { "content-type": "application/x-protobuf" } });
    switch (pathname) {
      case "/":
        return Response.json({
          version: 3,
          databaseId: "00000000-0000-4000-8000-000000000000",
          endpoints: [{ url: `${origin}/data`, consistency: "strong" }],
          token: "token",
          expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
        });
      case "/data/snapshot_read":
        return protobuf(snapshotRead(body));
      case "/data/atomic_write":
        return protobuf(atomicWrite(body));
      case "/data/watch":
        return new Response(watch(body), {
          headers: { "content-type": "application/octet-stream" },
        });
      default:
        return new Response(null, { status: 404 });
    }
  });

  function snapshotRead(body: Uint8Array): Uint8Array<ArrayBuffer> {
    const ranges = fieldsOf(body).filter(({ field }) => field === 1).map(({ bytes }) => {
      const range = fieldsOf(bytes);
      const found = stored.list(bytesAt(range, 1), bytesAt(range, 2), {
        limit: Number(numberAt(range, 3)),
        isReverse: numberAt(range, 4) === 1n,
      });
      return message(1, found.flatMap((entry) => entryAt(1, entry)));
    });
    return new Uint8Array([...ranges.flat(), ...number(4, 1), ...number(8, 1)]);
  }

  /** First all watched entries, then those that changed, each time any did. */
  function watch(body: Uint8Array): ReadableStream<Uint8Array> {
    const watched = fieldsOf(body).map(({ bytes }) => bytesAt(fieldsOf(bytes), 1));
    /** The version of each watched entry that was sent last; empty if there was none. */
    const seen: (string | undefined)[] = watched.map(() => undefined);
    let tell = () => {};
    return new ReadableStream({
      start(controller) {
        tell = () => {
          const entries = watched.map((key) => stored.get(key));
          const versions = entries.map((entry) => entry?.versionstamp.toHex() ?? "");
          if (versions.every((version, index) => version === seen[index])) return;
          const outputs = entries.flatMap((entry, index) => {
            const isNews = versions[index] !== seen[index];
            return message(2, isNews ? [...number(1, 1), ...entryAt(2, entry)] : number(1, 0));
          });
          seen.splice(0, seen.length, ...versions);
          const output = [...number(1, 1), ...outputs];
          const frame = new Uint8Array(4 + output.length);
          new DataView(frame.buffer).setUint32(0, output.length, true);
          frame.set(output, 4);
          controller.enqueue(frame);
        };
        watches.add(tell);
        tell();
      },
      cancel: () => void watches.delete(tell),
    });
  }

  function atomicWrite(body: Uint8Array): Uint8Array<ArrayBuffer> {
    const parts = fieldsOf(body);
    for (const { bytes } of parts.filter(({ field }) => field === 1)) {
      const check = fieldsOf(bytes);
      const known = stored.get(bytesAt(check, 1))?.versionstamp ?? new Uint8Array();
      if (known.toHex() !== bytesAt(check, 2).toHex()) return new Uint8Array(number(1, 2));
    }
    const versionstamp = stored.change((versionstamp) => {
      for (const { bytes } of parts.filter(({ field }) => field === 2)) {
        const mutation = fieldsOf(bytes);
        const key = bytesAt(mutation, 1);
        const written = fieldsOf(bytesAt(mutation, 2));
        const value = bytesAt(written, 1);
        const encoding = Number(numberAt(written, 2));
        const type = Number(numberAt(mutation, 3));
        if (type === DELETE) stored.delete(key);
        if (type === SET) stored.set({ key, value, encoding, versionstamp });
        if (type === SUM) {
          const before = stored.get(key)?.value ?? new Uint8Array(8);
          stored.set({ key, value: sum(before, value), encoding: LE64, versionstamp });
        }
      }
    });
    for (const tell of watches) tell();
    return new Uint8Array([...number(1, 1), ...blob(2, versionstamp)]);
  }

  let closing: Promise<void> | undefined;
  const close = () => closing ??= closeOnce();

  async function closeOnce(): Promise<void> {
    stopped.abort();
    silence.resolve();
    await server.finished;
    stored.close();
  }

  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    asked: asked.promise,
    get requests() {
      return requests;
    },
    hang() {
      isSilent = true;
      silence = Promise.withResolvers();
    },
    loseNext() {
      losesNext = true;
    },
    resume() {
      isSilent = false;
      silence.resolve();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The entries in a SQLite database, whose order of keys is that of their bytes. */
class StoredEntries {
  readonly #database: DatabaseSync;

  constructor(path: string) {
    this.#database = new DatabaseSync(path);
    this.#database.exec(`
      PRAGMA journal_mode = WAL;
      CREATE TABLE IF NOT EXISTS entries (
        key BLOB PRIMARY KEY, value BLOB, encoding INTEGER, versionstamp BLOB
      ) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS versions (last INTEGER);
      INSERT INTO versions SELECT 0 WHERE NOT EXISTS (SELECT * FROM versions);
    `);
  }

  get(key: Uint8Array): Stored | undefined {
    const row = this.#database.prepare("SELECT * FROM entries WHERE key = ?").get(key);
    return row as Stored | undefined;
  }

  list(
    start: Uint8Array,
    end: Uint8Array,
    { limit, isReverse }: { limit: number; isReverse: boolean },
  ): Stored[] {
    const order = isReverse ? "DESC" : "ASC";
    const rows = this.#database.prepare(
      `SELECT * FROM entries WHERE key >= ? AND key < ? ORDER BY key ${order} LIMIT ?`,
    ).all(start, end, limit);
    return rows as unknown as Stored[];
  }

  set({ key, value, encoding, versionstamp }: Stored): void {
    this.#database.prepare("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)")
      .run(key, value, encoding, versionstamp);
  }

  delete(key: Uint8Array): void {
    this.#database.prepare("DELETE FROM entries WHERE key = ?").run(key);
  }

  /** All changes of a write or none, with the next versionstamp. */
  change(apply: (versionstamp: Uint8Array) => void): Uint8Array {
    const versionstamp = new Uint8Array(10);
    this.#database.exec("BEGIN; UPDATE versions SET last = last + 1");
    try {
      const { last } = this.#database.prepare("SELECT last FROM versions").get() as {
        last: number;
      };
      new DataView(versionstamp.buffer).setBigUint64(0, BigInt(last));
      apply(versionstamp);
      this.#database.exec("COMMIT");
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
    return versionstamp;
  }

  close(): void {
    this.#database.close();
  }
}

function entryAt(field: number, entry: Stored | undefined): number[] {
  if (!entry) return [];
  return message(field, [
    ...blob(1, entry.key),
    ...blob(2, entry.value),
    ...number(3, entry.encoding),
    ...blob(4, entry.versionstamp),
  ]);
}

function sum(left: Uint8Array, right: Uint8Array): Uint8Array {
  const read = (bytes: Uint8Array) =>
    new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true);
  const total = new Uint8Array(8);
  new DataView(total.buffer).setBigUint64(0, read(left) + read(right), true);
  return total;
}

interface Field {
  field: number;
  value: bigint;
  bytes: Uint8Array;
}

/** The fields of a protobuf message that has numbers, bytes and messages only. */
function fieldsOf(message: Uint8Array): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n;; shift += 7n) {
      const byte = message[at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = Number(varint());
    const field = tag >> 3;
    const value = varint();
    if ((tag & 7) === 0) fields.push({ field, value, bytes: new Uint8Array() });
    else fields.push({ field, value, bytes: message.slice(at, at += Number(value)) });
  }
  return fields;
}

function bytesAt(fields: Field[], wanted: number): Uint8Array {
  return fields.find(({ field }) => field === wanted)?.bytes ?? new Uint8Array();
}

function numberAt(fields: Field[], wanted: number): bigint {
  return fields.find(({ field }) => field === wanted)?.value ?? 0n;
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [value & 0x7f | 0x80, ...varint(value >>> 7)];
}

function number(field: number, value: number): number[] {
  return [...varint(field << 3), ...varint(value)];
}

function blob(field: number, bytes: Uint8Array): number[] {
  return message(field, [...bytes]);
}

function message(field: number, bytes: number[]): number[] {
  return [...varint(field << 3 | 2), ...varint(bytes.length), ...bytes];
}
