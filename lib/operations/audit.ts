import * as z from "zod";
import { AuditEntry } from "../storage/audit_repository.ts";
import { auditFile, auditJson, readAuditQuery } from "../telemetry/audit_reader.ts";
import { fieldHints } from "./fields.ts";
import { operation, READS_GUARDED } from "./operation.ts";

const TYPES = { csv: "text/csv", ndjson: "application/x-ndjson" };

const FILTER = {
  action: z.string().optional().describe(
    "Only this action or family of actions, such as server.add or server",
  )
    .register(fieldHints, { placeholder: "A" }),
  who: z.string().optional().describe("Only entries whose actor's name contains this text")
    .register(fieldHints, { placeholder: "TEXT" }),
  subject: z.string().optional().describe("Only entries whose subject's name contains this text")
    .register(fieldHints, { placeholder: "TEXT" }),
  since: z.string().optional().describe(
    "Only entries since this day or time, such as 2026-01-31 (UTC)",
  )
    .register(fieldHints, { placeholder: "DATE" }),
  until: z.string().optional().describe(
    "Only entries until the end of this day, or until this time",
  )
    .register(fieldHints, { placeholder: "DATE" }),
  before: z.string().optional().describe("Only entries before the one with this id")
    .register(fieldHints, { isHidden: true }),
};

const ShownEntry = AuditEntry.omit({ at: true, before: true, after: true }).extend({
  time: z.string(),
  before: z.unknown().optional().describe("JSON; only its beginning if it is long"),
  after: z.unknown().optional(),
});

const list = operation({
  ...READS_GUARDED,
  name: "audit.list",
  title: "List the audit log",
  description: "List who decided what, from where and when, newest first.",
  input: z.strictObject({
    ...FILTER,
    limit: z.int().min(1).max(1_000).default(50).describe("Maximum number of entries: 1 to 1000")
      .register(fieldHints, { placeholder: "N" }),
  }),
  output: z.object({ entries: z.array(ShownEntry), hasOlder: z.boolean() }),
  cli: "audit list",
  async run({ audit }, { limit, ...filter }) {
    const query = readAuditQuery(filter);
    const { entries, hasOlder } = await (await audit.reader()).page(query, limit);
    return { entries: entries.map(auditJson), hasOlder };
  },
});

const exportLog = operation({
  ...READS_GUARDED,
  name: "audit.export",
  title: "Export the audit log",
  description: "Export the audit log as a file, newest first.",
  input: z.strictObject({ ...FILTER, format: z.enum(["csv", "ndjson"]).default("ndjson") }),
  output: { file: TYPES.ndjson },
  cli: "audit export",
  async run({ audit }, { format, ...filter }) {
    const entries = (await audit.reader()).entries(readAuditQuery(filter));
    return {
      fileName: `audit-${new Date().toISOString().slice(0, 10)}.${format}`,
      contentType: `${TYPES[format]}; charset=utf-8`,
      body: ReadableStream.from(auditFile(entries, format)).pipeThrough(new TextEncoderStream()),
    };
  },
});

const verify = operation({
  ...READS_GUARDED,
  name: "audit.verify",
  title: "Verify the audit log",
  description: "Check whether anything in the audit log was changed or removed.",
  input: z.strictObject({}),
  output: z.object({
    entries: z.int(),
    chains: z.int().describe("Number of processes that wrote to the log"),
    prunedUntil: z.number().optional().describe("Entries before this time were deleted"),
    problems: z.array(z.object({
      at: z.number().optional(),
      id: z.string().optional(),
      message: z.string(),
    })),
    more: z.int().describe("Number of problems that are not listed"),
  }),
  cli: "audit verify",
  run: async ({ audit }) => await (await audit.reader()).verify(),
  text({ entries, chains, prunedUntil, problems, more }) {
    const whole = `${entries} entries from ${chains} processes`;
    const cleared = prunedUntil === undefined
      ? ""
      : `; entries before ${new Date(prunedUntil).toISOString()} were deleted`;
    if (problems.length === 0) return `The audit log is intact: ${whole}${cleared}.`;
    const lines = problems.map(({ at, id, message }) => {
      const place = [at === undefined ? [] : new Date(at).toISOString(), id ?? []].flat().join(" ");
      return `  ${place === "" ? "" : `${place}: `}${message}`;
    });
    return [
      `The audit log is damaged (${whole}${cleared}):`,
      ...lines,
      ...(more > 0 ? [`  and ${more} more`] : []),
    ].join("\n");
  },
});

export const AUDIT_OPERATIONS = { list, exportLog, verify };
