import { type CommandLine, findInformationFlag, parseCommandLine } from "../config/command_line.ts";
import { systemEnv } from "../config/env.ts";
import { readOptions } from "../config/options.ts";
import { configError } from "../config/problem.ts";
import { nearest } from "../core/nearest.ts";
import { VERSION } from "../core/version.ts";
import { auditExport } from "./audit_export.ts";
import { auditList } from "./audit_list.ts";
import { auditVerify } from "./audit_verify.ts";
import { backup } from "./backup.ts";
import type { Command } from "./command.ts";
import { completions } from "./completions.ts";
import { connect } from "./connect.ts";
import { CONSENT_COMMANDS } from "./consent_commands.ts";
import { disconnect } from "./disconnect.ts";
import { doctor } from "./doctor.ts";
import { importServers } from "./import.ts";
import { commandHelp, commandsHelp } from "./help.ts";
import { OPTIMIZE_COMMANDS } from "./optimize_commands.ts";
import { projectAssign, projectUnassign } from "./project_assign.ts";
import { projectCreate } from "./project_create.ts";
import { projectDelete } from "./project_delete.ts";
import { projectList } from "./project_list.ts";
import { restore } from "./restore.ts";
import { REVIEW_COMMANDS } from "./review_commands.ts";
import { search } from "./search.ts";
import { secretsDelete } from "./secrets_delete.ts";
import { secretsList } from "./secrets_list.ts";
import { secretsSet } from "./secrets_set.ts";
import { serverAdd } from "./server_add.ts";
import { serverList } from "./server_list.ts";
import { serverLogin } from "./server_login.ts";
import { serverLogout } from "./server_logout.ts";
import { serverLogs } from "./server_logs.ts";
import { serverRemove } from "./server_remove.ts";
import { serverRestart } from "./server_restart.ts";
import { serverTools } from "./server_tools.ts";
import { serverUpdate } from "./server_update.ts";
import { status } from "./status.ts";
import { tokenCreate } from "./token_create.ts";
import { tokenList } from "./token_list.ts";
import { tokenRevoke } from "./token_revoke.ts";
import { toolsCall } from "./tools_call.ts";
import { toolsList } from "./tools_list.ts";
import { toolsShow } from "./tools_show.ts";
import { toolsetCreate } from "./toolset_create.ts";
import { toolsetDelete } from "./toolset_delete.ts";
import { toolsetEquip } from "./toolset_equip.ts";
import { toolsetExport } from "./toolset_export.ts";
import { toolsetImport } from "./toolset_import.ts";
import { toolsetList } from "./toolset_list.ts";
import { toolsetShow } from "./toolset_show.ts";
import { toolsetUnequip } from "./toolset_unequip.ts";
import { exitCommandWith, print } from "./terminal.ts";

/** By name; those of one family share its first word. */
export const COMMANDS: Record<string, Command> = {
  status,
  doctor,
  "server list": serverList,
  "server add": serverAdd,
  "server update": serverUpdate,
  "server remove": serverRemove,
  "server restart": serverRestart,
  "server login": serverLogin,
  "server logout": serverLogout,
  "server logs": serverLogs,
  "server tools": serverTools,
  search,
  "tools list": toolsList,
  "tools show": toolsShow,
  "tools call": toolsCall,
  "toolset list": toolsetList,
  "toolset show": toolsetShow,
  "toolset create": toolsetCreate,
  "toolset delete": toolsetDelete,
  "toolset equip": toolsetEquip,
  "toolset unequip": toolsetUnequip,
  "toolset export": toolsetExport,
  "toolset import": toolsetImport,
  ...OPTIMIZE_COMMANDS,
  ...REVIEW_COMMANDS,
  ...CONSENT_COMMANDS,
  "token create": tokenCreate,
  "token list": tokenList,
  "token revoke": tokenRevoke,
  "project list": projectList,
  "project create": projectCreate,
  "project delete": projectDelete,
  "project assign": projectAssign,
  "project unassign": projectUnassign,
  "secrets list": secretsList,
  "secrets set": secretsSet,
  "secrets delete": secretsDelete,
  "audit list": auditList,
  "audit export": auditExport,
  "audit verify": auditVerify,
  connect,
  disconnect,
  import: importServers,
  completions,
  backup,
  restore,
};

const COMMAND_FLAGS = Object.values(COMMANDS).flatMap((command) => command.flags ?? []);

/** Runs `COMMAND ...` and answers the exit code. */
export async function runCli(args: readonly string[]): Promise<number> {
  // `deno task cli -- status`: a habit from npm.
  const words = args[0] === "--" ? args.slice(1) : args;
  // Asked by shells: the words after the dashes are another command line, as far as it is written.
  if (words[0] === "complete" && words[1] === "--") {
    const { complete } = await import("./complete.ts");
    await complete(words.slice(2), COMMANDS);
    return 0;
  }
  const information = findInformationFlag(words);
  if (information === "version") {
    print(`quartermaster ${VERSION}\n`);
    return 0;
  }
  if (information === "help" || words.length === 0) {
    print(helpFor(words));
    return 0;
  }
  const env = systemEnv();
  const line = parseCommandLine(words, COMMAND_FLAGS);
  const { name, command } = resolveCommand(line);
  checkFlags(name, command, line);
  const read = await readOptions(words, env, {
    os: Deno.build.os,
    cwd: Deno.cwd(),
    commandFlags: COMMAND_FLAGS,
  });
  const positionals = read.positionals.slice(name.split(" ").length - 1);
  const { values, afterDashes } = line;
  return await command.run({ ...read, positionals, env, values, afterDashes }) ?? 0;
}

function resolveCommand({ command: first, positionals }: CommandLine) {
  if (first === undefined) throw configError("No command was given", "See --help for all commands");
  for (const name of [`${first} ${positionals[0]}`, first]) {
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (command) return { name, command };
  }
  const family = familyOf(first);
  if (family.length === 0) {
    const guess = nearest(first, Object.keys(COMMANDS).map((name) => name.split(" ")[0]!));
    throw configError(
      `Unknown command "${first}"`,
      guess === undefined ? "See --help for all commands" : `Did you mean ${guess}?`,
    );
  }
  const [second] = positionals;
  if (second === undefined) {
    throw configError(`${first} needs to know what to do`, `See ${first} --help`);
  }
  const guess = nearest(second, family.map((name) => name.slice(first.length + 1)));
  throw configError(
    `Unknown command "${first} ${second}"`,
    guess === undefined ? `See ${first} --help` : `Did you mean ${first} ${guess}?`,
  );
}

function familyOf(first: string): string[] {
  return Object.keys(COMMANDS).filter((name) => name.startsWith(`${first} `));
}

/** A flag of another command would be ignored, and its user would not know. */
function checkFlags(name: string, { flags = [] }: Command, { given }: CommandLine): void {
  for (const { flag } of COMMAND_FLAGS) {
    if (!given.has(flag) || flags.some((own) => own.flag === flag)) continue;
    throw configError(`${name} does not take --${flag}`, `See ${name} --help`);
  }
}

/** As exact as the words before `--help` allow. */
function helpFor(words: readonly string[]): string {
  const all = Object.values(COMMANDS);
  try {
    const line = parseCommandLine(words, COMMAND_FLAGS);
    const family = familyOf(line.command ?? "").flatMap((name) => COMMANDS[name] ?? []);
    if (family.length > 0 && line.positionals.length === 0) return commandsHelp(family);
    return commandHelp(resolveCommand(line).command);
  } catch {
    return commandsHelp(all);
  }
}

if (import.meta.main) {
  try {
    Deno.exit(await runCli(Deno.args));
  } catch (error) {
    exitCommandWith(error, Deno.args.includes("--json"));
  }
}
