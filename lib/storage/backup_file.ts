import { createHash } from "node:crypto";
import { z } from "zod";
import { GatewayError } from "../core/errors.ts";
import { joined } from "../core/joined.ts";
import type { StoredRecord } from "./record_reader.ts";

const FORMAT = "quartermaster-backup";
const FORMAT_VERSION = 1;
const NEWLINE = 10;

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

const Footer = z.strictObject({
  end: z.literal(true),
  entries: z.int().nonnegative(),
  /** Of all bytes before this line. */
  sha256: z.string(),
});

/** Writes a header, one record a line, and a footer that proves the whole. */
export async function writeBackup(
  file: Deno.FsFile,
  schemaVersion: number,
  createdAt: Date,
  records: AsyncIterable<StoredRecord>,
): Promise<number> {
  const hash = createHash("sha256");
  let entries = 0;
  const writeLine = async (line: BackupHeader | z.infer<typeof Line>) => {
    const bytes = toLine(line);
    hash.update(bytes);
    await writeAll(file, bytes);
  };
  await writeLine({
    format: FORMAT,
    formatVersion: FORMAT_VERSION,
    schemaVersion,
    createdAt: createdAt.toISOString(),
  });
  for await (const { key, value } of records) {
    await writeLine({ key: [...key], value });
    entries++;
  }
  const footer: z.infer<typeof Footer> = { end: true, entries, sha256: hash.digest("hex") };
  await writeAll(file, toLine(footer));
  return entries;
}

/** Whether a file begins as a backup does. */
export async function isBackup(path: string): Promise<boolean> {
  for await (const line of readLines(path, 4_096)) {
    return Header.safeParse(parseJson(line)).success;
  }
  return false;
}

/** Reads a backup to its end before anything is done with it. */
export async function verifyBackup(
  path: string,
): Promise<{ header: BackupHeader; entries: number }> {
  const hash = createHash("sha256");
  let header: BackupHeader | undefined;
  let footer: z.infer<typeof Footer> | undefined;
  let lineNumber = 0;
  for await (const bytes of readLines(path)) {
    lineNumber++;
    if (footer !== undefined) throw invalid(path, "something follows its end");
    const parsed = parseJson(bytes);
    if (header === undefined) {
      header = Header.safeParse(parsed).data;
      if (header === undefined) throw invalid(path, "it does not begin as a backup does");
      if (header.formatVersion > FORMAT_VERSION) {
        throw invalid(path, `its format ${header.formatVersion} is newer than this program's`);
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
  if (footer.sha256 !== hash.digest("hex")) throw invalid(path, "its checksum does not fit");
  return { header, entries: footer.entries };
}

/** The records of a backup that was verified. */
export async function* readBackup(
  path: string,
): AsyncGenerator<z.infer<typeof Line>, void> {
  let isHeader = true;
  for await (const bytes of readLines(path)) {
    const line = Line.safeParse(isHeader ? undefined : parseJson(bytes));
    isHeader = false;
    if (line.success) yield line.data;
  }
}

async function* readLines(path: string, limit = Infinity): AsyncGenerator<Uint8Array, void> {
  let file: Deno.FsFile;
  try {
    file = await Deno.open(path);
  } catch (cause) {
    throw invalid(path, cause instanceof Error ? cause.message : String(cause), cause);
  }
  // Pieces are put together once a line, not once a read: a line may be megabytes long.
  let pieces: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of file.readable) {
    let start = 0;
    for (let end; (end = chunk.indexOf(NEWLINE, start)) >= 0; start = end + 1) {
      yield joined([...pieces, chunk.subarray(start, end)]);
      pieces = [];
      size = 0;
    }
    pieces.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > limit) return;
  }
  if (size > 0) yield joined(pieces);
}

function toLine(value: unknown): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(value)}\n`);
}

/** Not `file.writable`: it holds back small writes until it is closed, past any sync. */
async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    written += await file.write(bytes.subarray(written));
  }
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
