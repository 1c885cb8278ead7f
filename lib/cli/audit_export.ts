import { resolve } from "@std/path";
import { configError } from "../config/problem.ts";
import { visibleJson } from "../core/hidden_text.ts";
import type { AuditEntry } from "../storage/audit_repository.ts";
import { auditFile, type AuditFormat } from "../telemetry/audit_export.ts";
import { auditJson } from "../telemetry/audit_reader.ts";
import { noPositionals } from "./arguments.ts";
import { AUDIT_FLAGS, auditQuery, readAudit } from "./audit_flags.ts";
import { type Command, type CommandInput, JSON_FLAG } from "./command.ts";
import { print, printJson } from "./terminal.ts";

export const auditExport: Command = {
  usage: "audit export [--format csv|ndjson] [--output FILE]",
  meaning: "The audit log as a file: JSON lines unless told",
  details: [
    "With --json: one JSON array on standard output, or what was done where --output names a file.",
  ],
  flags: [
    ...AUDIT_FLAGS,
    { flag: "format", placeholder: "FORMAT", meaning: "csv or ndjson" },
    { flag: "output", placeholder: "FILE", meaning: "Write there, not to standard output" },
    JSON_FLAG,
  ],
  async run(input) {
    noPositionals("audit export", input);
    const format = readFormat(input);
    const query = auditQuery(input);
    const output = input.flags.get("output");
    const asJson = input.flags.get("json") === true;
    if (asJson && output === undefined && input.flags.has("format")) {
      throw configError(
        "--json and --format exclude each other without --output",
        "Leave one of them out",
      );
    }
    await readAudit(input, async (reader) => {
      if (typeof output === "string") {
        let entries = 0;
        const counted = tapped(reader.entries(query), () => entries++);
        await writeFile(output, auditFile(counted, format));
        return asJson ? printJson({ file: resolve(output), format, entries }) : undefined;
      }
      const entries = reader.entries(query);
      for await (const piece of asJson ? jsonArray(entries) : auditFile(entries, format)) {
        print(piece);
      }
    });
  },
};

async function* tapped<T>(items: AsyncIterable<T>, onItem: () => void): AsyncGenerator<T, void> {
  for await (const item of items) {
    onItem();
    yield item;
  }
}

/** One array, made while it is read, so that a long log takes no memory. */
export async function* jsonArray(
  entries: AsyncIterable<AuditEntry>,
): AsyncGenerator<string, void> {
  let before = "[";
  for await (const entry of entries) {
    yield `${before}\n${visibleJson(auditJson(entry))}`;
    before = ",";
  }
  yield before === "[" ? "[]\n" : "\n]\n";
}

function readFormat({ flags }: CommandInput): AuditFormat {
  const format = flags.get("format") ?? "ndjson";
  if (format === "csv" || format === "ndjson") return format;
  throw configError(`--format ${format} is not known`, "Write csv or ndjson");
}

/** For its owner alone, and never over another one. */
async function writeFile(path: string, pieces: AsyncIterable<string>): Promise<void> {
  let file: Deno.FsFile;
  try {
    file = await Deno.open(path, { write: true, createNew: true, mode: 0o600 });
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    throw configError(`${path} is there already`, "Name another file, or remove it", error);
  }
  await ReadableStream.from(pieces).pipeThrough(new TextEncoderStream()).pipeTo(file.writable);
}
