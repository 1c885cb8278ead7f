import { configError } from "../config/problem.ts";
import type { AuditEntry } from "../storage/audit_repository.ts";
import { auditJson } from "../telemetry/audit_reader.ts";
import { noPositionals } from "./arguments.ts";
import { AUDIT_FLAGS, auditQuery, readAudit } from "./audit_flags.ts";
import { type Command, type CommandInput, JSON_FLAG } from "./command.ts";
import { cutToWidth, painter, print, printJson, table } from "./terminal.ts";
import { oneLine } from "./toolset_text.ts";

const MOST = 1_000;

export const auditList: Command = {
  usage: "audit list",
  meaning: "Who decided what, from where and when, newest first",
  flags: [
    ...AUDIT_FLAGS,
    { flag: "limit", placeholder: "N", meaning: `How many: 1 to ${MOST}, 50 unless told` },
    JSON_FLAG,
  ],
  async run(input) {
    noPositionals("audit list", input);
    const most = readLimit(input);
    const page = await readAudit(input, (reader) => reader.page(auditQuery(input), most));
    if (input.flags.get("json") === true) {
      return printJson({ entries: page.entries.map(auditJson), hasOlder: page.hasOlder });
    }
    if (page.entries.length === 0) return print("Nothing of that kind was decided.\n");
    print(listText(page.entries, input));
    if (page.hasOlder) print(`There are older ones: see --limit, --until, or audit export.\n`);
  },
};

function readLimit({ flags }: CommandInput): number {
  const written = flags.get("limit") ?? "50";
  const limit = Number(written);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST) return limit;
  throw configError(`--limit ${written} is no number from 1 to ${MOST}`, "Write it as --limit 50");
}

function listText(entries: readonly AuditEntry[], { env }: Pick<CommandInput, "env">): string {
  const paint = painter(env);
  const heading = ["TIME", "WHO", "ACTION", "SUBJECT", "FROM"].map((word) => paint("gray", word));
  const rows = entries.map(({ at, who, principal, action, subject, from }) => [
    new Date(at).toISOString().slice(0, 19).replace("T", " "),
    oneLine(who ?? principal),
    action,
    oneLine(subject),
    oneLine(from),
  ]);
  return cutToWidth(table([heading, ...rows]));
}
