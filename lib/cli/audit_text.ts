import { configError } from "../config/files.ts";
import { AUDIT_OPERATIONS } from "../operations/audit.ts";
import type { OutputOf } from "../operations/operation.ts";
import type { CommandInput } from "./command.ts";
import { type CommandExtras, type OutcomeView, readInput } from "./operation_command.ts";
import { cutToWidth, oneLine, table } from "./terminal.ts";

/** What the commands for the audit log show and read beyond their operations. */
export const AUDIT_EXTRAS: Record<string, CommandExtras> = {
  "audit.list": { show: entriesText },
  "audit.export": {
    details: ["With --json: one JSON array on standard output."],
    read: readExport,
  },
  "audit.verify": {
    details: ["The exit code is 1 if something was changed or removed."],
    exitCode: ({ problems }: OutputOf<typeof AUDIT_OPERATIONS.verify>) =>
      problems.length === 0 ? 0 : 1,
  },
};

function entriesText(
  { entries, hasOlder }: OutputOf<typeof AUDIT_OPERATIONS.list>,
  { paint }: OutcomeView,
): string {
  if (entries.length === 0) return "Nothing of that kind was decided.\n";
  const heading = ["TIME", "WHO", "ACTION", "SUBJECT", "FROM"].map((label) => paint("gray", label));
  const rows = entries.map(({ time, who, principal, action, subject, from }) => [
    time.slice(0, 19).replace("T", " "),
    oneLine(who ?? principal),
    action,
    oneLine(subject),
    oneLine(from),
  ]);
  const older = "There are older ones: see --limit, --until, or audit export.\n";
  return cutToWidth(table([heading, ...rows])) + (hasOlder ? older : "");
}

export async function readExport(input: CommandInput): Promise<Record<string, unknown>> {
  const { flags } = input;
  if (flags.get("json") === true && !flags.has("output") && flags.has("format")) {
    throw configError(
      "--json and --format exclude each other without --output",
      "Leave one of them out",
    );
  }
  return await readInput(AUDIT_OPERATIONS.exportLog, input);
}
