import type { AuditCheck } from "../telemetry/audit_chain.ts";
import { noPositionals } from "./arguments.ts";
import { readAudit } from "./audit_flags.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import { inert, print, printJson } from "./terminal.ts";

export const auditVerify: Command = {
  usage: "audit verify",
  meaning: "Check whether anything in the audit log was changed or taken out; exit code 1 if so",
  flags: [JSON_FLAG],
  async run(input) {
    noPositionals("audit verify", input);
    const check = await readAudit(input, (reader) => reader.verify());
    if (input.flags.get("json") === true) printJson(check);
    else print(inert(checkText(check)));
    return check.problems.length === 0 ? 0 : 1;
  },
};

function checkText({ entries, chains, prunedUntil, problems, more }: AuditCheck): string {
  const whole = `${entries} entries of ${chains} processes`;
  const cleared = prunedUntil === undefined
    ? ""
    : `; what is older than ${new Date(prunedUntil).toISOString()} was cleared away`;
  if (problems.length === 0) return `The audit log is whole: ${whole}${cleared}.\n`;
  const lines = problems.map(({ at, id, message }) => {
    const place = [at === undefined ? [] : new Date(at).toISOString(), id ?? []].flat().join(" ");
    return `  ${place === "" ? "" : `${place}: `}${message}\n`;
  });
  const rest = more > 0 ? `  and ${more} more\n` : "";
  return `The audit log is not whole (${whole}${cleared}):\n${lines.join("")}${rest}`;
}
