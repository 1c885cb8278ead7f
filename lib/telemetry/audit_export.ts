import { csvField } from "../core/csv.ts";
import type { AuditEntry } from "../storage/audit_repository.ts";
import { auditJson } from "./audit_reader.ts";

export type AuditFormat = "csv" | "ndjson";

const COLUMNS = [
  "time",
  "id",
  "principal",
  "who",
  "from",
  "action",
  "subject",
  "before",
  "after",
  "chain",
  "n",
  "prev",
  "hash",
] as const;
/** So many entries are in hand at a time. */
const AT_ONCE = 200;

/** Entries as pieces of a file; made while it is read, so that a long log takes no memory. */
export async function* auditFile(
  entries: AsyncIterable<AuditEntry>,
  format: AuditFormat,
): AsyncGenerator<string, void> {
  let [text, count] = [format === "csv" ? `${COLUMNS.join(",")}\r\n` : "", 0];
  for await (const entry of entries) {
    text += format === "csv" ? csvLine(entry) : `${JSON.stringify(auditJson(entry))}\n`;
    if (++count % AT_ONCE > 0) continue;
    yield text;
    text = "";
  }
  if (text !== "") yield text;
}

function csvLine(entry: AuditEntry): string {
  const values = { ...entry, time: new Date(entry.at).toISOString() };
  return `${COLUMNS.map((column) => csvField(values[column])).join(",")}\r\n`;
}
