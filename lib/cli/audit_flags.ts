import type { CommandFlag } from "../config/command_line.ts";
import { AuditRepository } from "../storage/audit_repository.ts";
import { type AuditQuery, readAuditQuery } from "../telemetry/audit_filter.ts";
import { AuditReader } from "../telemetry/audit_reader.ts";
import type { CommandInput } from "./command.ts";
import { openStore } from "./servers_access.ts";

/** What of the log is wanted. */
export const AUDIT_FLAGS: CommandFlag[] = [
  { flag: "action", placeholder: "A", meaning: "Only this action, or family: server.add, server" },
  { flag: "who", placeholder: "TEXT", meaning: "Only by whom this is part of the name" },
  {
    flag: "subject",
    placeholder: "TEXT",
    meaning: "Only what was done to what has this in its name",
  },
  { flag: "since", placeholder: "DATE", meaning: "From this day or time on: 2026-01-31 (UTC)" },
  { flag: "until", placeholder: "DATE", meaning: "To the end of this day, or to this time" },
];

export function auditQuery({ flags }: Pick<CommandInput, "flags">): AuditQuery {
  const query = new URLSearchParams();
  for (const { flag } of AUDIT_FLAGS) {
    const value = flags.get(flag);
    if (typeof value === "string") query.set(flag, value);
  }
  return readAuditQuery(query);
}

/** The log in the store itself, whether a gateway runs or not. */
export async function readAudit<T>(
  input: CommandInput,
  read: (reader: AuditReader) => Promise<T>,
): Promise<T> {
  await using store = await openStore(input);
  return await read(new AuditReader({ repository: new AuditRepository(store) }));
}
