import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import * as z from "zod";
import { GatewayError } from "../core/errors.ts";
import { writeBytes } from "./data_file.ts";
import { UNPORTABLE_ROOTS } from "./keys.ts";
import { MIGRATIONS, newestVersion } from "./migrations.ts";
import { busy } from "./storage_errors.ts";
import type { Store } from "./store.ts";

const FORMAT = "quartermaster-backup";
const FORMAT_VERSION = 1;
const NEWLINE = 10;

const ATTEMPTS = 5;

const Header = z.strictObject({
  format: z.literal(FORMAT),
  formatVersion: z.int().positive(),
  schemaVersion: z.int().positive(),
  createdAt: z.iso.datetime(),
});
export type BackupHeader = z.infer<typeof Header>;

const Line = z.strictObject({
  key: z.array(z.union([z.string(), z.number()])).min(1),
  value: z.unknown(),
});
type Line = z.infer<typeof Line>;

const Footer = z.strictObject({
  end: z.literal(true),
  entries: z.int().nonnegative(),
  /** Of all bytes before this line. */
  sha256: z.string(),
});
type Footer = z.infer<typeof Footer>;

interface BackupResult {
  file: string;
  entries: number;
  createdAt: Date;
}

/**
 * Writes all records to one portable file that only its owner may read, while gateways run on.
 *
 * Deno KV has no snapshot over many reads: it is repeated until no change came in between.
 */
export async function backupStore(
  store: Store,
  file: string,
  { now = Date.now }: { now?: () => number } = {},
): Promise<BackupResult> {
  await refuseForeignFile(file);
  const temporary = `${file}.${crypto.randomUUID()}.tmp`;
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const before = await store.generation();
      const createdAt = new Date(now());
      const entries = await writeTo(temporary, store, createdAt);
      if (await store.generation() === before) {
        await Deno.rename(temporary, file);
        return { file, entries, createdAt };
      }
    }
    throw busy(store.location, "back up");
  } finally {
    await Deno.remove(temporary).catch(() => {});
  }
}

/** Writes a header, one record a line, and a footer that proves the whole. */
async function writeTo(path: string, store: Store, createdAt: Date): Promise<number> {
  using file = await Deno.open(path, { write: true, create: true, truncate: true, mode: 0o600 })
    .catch((cause) => {
      throw cannotWrite(path, cause instanceof Error ? cause.message : String(cause), cause);
    });
  const hash = createHash("sha256");
  const writeLine = async (line: BackupHeader | Line | Footer) => {
    const bytes = new TextEncoder().encode(`${JSON.stringify(line)}\n`);
    hash.update(bytes);
    await writeBytes(file, bytes);
  };
  await writeLine({
    format: FORMAT,
    formatVersion: FORMAT_VERSION,
    schemaVersion: store.schemaVersion,
    createdAt: createdAt.toISOString(),
  });
  let entries = 0;
  for await (const record of store.list({ prefix: [] }, { skipRoots: UNPORTABLE_ROOTS })) {
    await writeLine({ key: [...record.key], value: record.value });
    entries++;
  }
  await writeLine({ end: true, entries, sha256: hash.copy().digest("hex") });
  await file.sync();
  return entries;
}

/** A slip of the hand must not replace something else, least of all the data file itself. */
async function refuseForeignFile(file: string): Promise<void> {
  const info = await Deno.stat(file).catch(() => undefined);
  if (info === undefined) return;
  for await (const line of info.isFile ? readLines(file, 4_096) : []) {
    if (Header.safeParse(parseJson(line)).success) return;
    break;
  }
  throw cannotWrite(file, "the file exists and is not a backup");
}

/** Reads a backup to its end before anything is done with it. */
export async function verifyBackup(
  path: string,
): Promise<{ header: BackupHeader; entries: number }> {
  const hash = createHash("sha256");
  let header: BackupHeader | undefined;
  let footer: Footer | undefined;
  let lineNumber = 0;
  for await (const bytes of readLines(path)) {
    lineNumber++;
    if (footer !== undefined) throw invalid(path, "there is extra data after its end");
    const parsed = parseJson(bytes);
    if (header === undefined) {
      header = Header.safeParse(parsed).data;
      if (header === undefined) throw invalid(path, "it is not a backup file");
      if (header.formatVersion > FORMAT_VERSION) {
        throw invalid(
          path,
          `its format ${header.formatVersion} is newer than this version supports`,
        );
      }
    } else {
      footer = Footer.safeParse(parsed).data;
      if (footer === undefined && !Line.safeParse(parsed).success) {
        throw invalid(path, `line ${lineNumber} is not an entry`);
      }
    }
    if (footer === undefined) hash.update(bytes).update("\n");
  }
  if (header === undefined) throw invalid(path, "it is empty");
  if (footer === undefined) throw invalid(path, "its end is missing");
  if (footer.entries !== lineNumber - 2) throw invalid(path, "entries are missing");
  if (footer.sha256 !== hash.digest("hex")) throw invalid(path, "its checksum does not match");
  const newest = newestVersion(MIGRATIONS);
  if (header.schemaVersion > newest) {
    // What a later version wrote may hold what this one would lose.
    throw new GatewayError("STORAGE_NEWER", {
      message: `The backup "${path}" has schema version ${header.schemaVersion}; ` +
        `this version of Quartermaster supports versions up to ${newest}`,
    });
  }
  return { header, entries: footer.entries };
}

export async function* readBackup(
  path: string,
): AsyncGenerator<Line, void> {
  let isHeader = true;
  for await (const bytes of readLines(path)) {
    const line = Line.safeParse(isHeader ? undefined : parseJson(bytes));
    isHeader = false;
    if (line.success) yield line.data;
  }
}

async function* readLines(path: string, limit = Infinity): AsyncGenerator<Uint8Array, void> {
  const file = await Deno.open(path).catch((cause) => {
    throw invalid(path, cause instanceof Error ? cause.message : String(cause), cause);
  });
  // Pieces are put together once a line, not once a read: a line may be megabytes long.
  let pieces: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of file.readable) {
    let start = 0;
    for (let end; (end = chunk.indexOf(NEWLINE, start)) >= 0; start = end + 1) {
      yield Buffer.concat([...pieces, chunk.subarray(start, end)]);
      pieces = [];
      size = 0;
    }
    pieces.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > limit) return;
  }
  if (size > 0) yield Buffer.concat(pieces);
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

function invalid(path: string, why: string, cause?: unknown): GatewayError {
  return new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot restore "${path}": ${why}`,
    recoveryAction: "Use another backup; nothing was changed",
    cause,
  });
}

function cannotWrite(file: string, why: string, cause?: unknown): GatewayError {
  return new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot write the backup "${file}": ${why}`,
    recoveryAction: "Choose another file",
    cause,
  });
}
