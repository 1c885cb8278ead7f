import { configError } from "../config/problem.ts";
import { auditFile, type AuditFormat } from "../telemetry/audit_export.ts";
import { noPositionals } from "./arguments.ts";
import { AUDIT_FLAGS, auditQuery, readAudit } from "./audit_flags.ts";
import type { Command, CommandInput } from "./command.ts";
import { print } from "./terminal.ts";

export const auditExport: Command = {
  usage: "audit export [--format csv|ndjson] [--output FILE]",
  meaning: "The audit log as a file: JSON lines unless told",
  flags: [
    ...AUDIT_FLAGS,
    { flag: "format", placeholder: "FORMAT", meaning: "csv or ndjson" },
    { flag: "output", placeholder: "FILE", meaning: "Write there, not to standard output" },
  ],
  async run(input) {
    noPositionals("audit export", input);
    const format = readFormat(input);
    const query = auditQuery(input);
    const output = input.flags.get("output");
    await readAudit(input, async (reader) => {
      const pieces = auditFile(reader.entries(query), format);
      if (typeof output === "string") return await writeFile(output, pieces);
      for await (const piece of pieces) print(piece);
    });
  },
};

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
