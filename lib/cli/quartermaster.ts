import { type CommandExtras, operationCommands } from "./operation_command.ts";
import { type CommandLine, findInformationFlag, parseCommandLine } from "../config/command_line.ts";
import { systemEnv } from "../config/platform.ts";
import { readOptions } from "../config/options.ts";
import { configError } from "../config/files.ts";
import { nearest, nearestOr } from "../core/text.ts";
import { VERSION } from "../core/product.ts";
import { backup, restore } from "./backup.ts";
import { checkPositionals, type Command, JSON_FLAG } from "./command.ts";
import { completions } from "./completion.ts";
import { connect, disconnect } from "./connect.ts";
import { doctor } from "./doctor.ts";
import { importServers } from "./import.ts";
import { allHelp, commandHelp, commandsHelp } from "./help.ts";
import { serviceInstall, serviceRemove, serviceStatus } from "./service/commands.ts";
import { status } from "./status.ts";
import { toolsCall } from "./tools_call.ts";
import { SEARCH_EXTRAS, toolsList, toolsShow } from "./tools.ts";
import { OPERATIONS } from "../operations/all.ts";
import { ACCESS_EXTRAS, AUDIT_EXTRAS } from "./access_commands.ts";
import { CHECK_EXTRAS } from "./check_command.ts";
import { COMPARISON_EXTRAS } from "./comparison_commands.ts";
import { JOB_EXTRAS } from "./job_commands.ts";
import { OPTIMIZATION_EXTRAS } from "./optimization_commands.ts";
import { PACKAGE_EXTRAS } from "./package_commands.ts";
import { CONSENT_EXTRAS, REVIEW_EXTRAS } from "./review_commands.ts";
import { SERVER_EXTRAS } from "./server_commands.ts";
import { TOOLSET_EXTRAS } from "./toolset_commands.ts";
import { print, printJson } from "./terminal.ts";

const EXTRAS: Record<string, CommandExtras> = {
  ...ACCESS_EXTRAS,
  ...SERVER_EXTRAS,
  ...TOOLSET_EXTRAS,
  ...OPTIMIZATION_EXTRAS,
  ...CHECK_EXTRAS,
  ...JOB_EXTRAS,
  ...COMPARISON_EXTRAS,
  ...REVIEW_EXTRAS,
  ...PACKAGE_EXTRAS,
  ...CONSENT_EXTRAS,
  ...AUDIT_EXTRAS,
  ...SEARCH_EXTRAS,
};

/** By name; those of one family share its first word. */
export const COMMANDS: Record<string, Command> = withJson({
  status,
  doctor,
  ...operationCommands(OPERATIONS.values(), EXTRAS),
  "tools list": toolsList,
  "tools show": toolsShow,
  "tools call": toolsCall,
  connect,
  disconnect,
  import: importServers,
  completions,
  backup,
  restore,
  "service install": serviceInstall,
  "service status": serviceStatus,
  "service remove": serviceRemove,
});

/** Every command prints JSON on request. */
function withJson(commands: Record<string, Command>): Record<string, Command> {
  return Object.fromEntries(
    Object.entries(commands).map(([name, command]) => {
      return [name, { ...command, flags: [...command.flags ?? [], JSON_FLAG] }];
    }),
  );
}

/** Handled before any other command is loaded, but listed among them. */
const START: Command = {
  usage: "start",
  meaning: "Start the gateway (default)",
  run: () => Promise.resolve(),
};

const COMMAND_FLAGS = Object.values(COMMANDS).flatMap((command) => command.flags ?? []);

/** Runs `COMMAND ...` and answers the exit code. */
export async function runCli(args: readonly string[]): Promise<number> {
  // `deno task cli -- status`: a habit from npm.
  const words = withInformationFlag(args[0] === "--" ? args.slice(1) : args);
  // Asked by shells: the words after the dashes are another command line, as far as it is written.
  if (words[0] === "complete" && words[1] === "--") {
    const { complete } = await import("./complete.ts");
    await complete(words.slice(2), { start: START, ...COMMANDS });
    return 0;
  }
  const information = findInformationFlag(words);
  if (information === "version") {
    print(`quartermaster ${VERSION}\n`);
    return 0;
  }
  if (information === "help") {
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
  const input = { ...read, positionals, env, values, afterDashes };
  if (!command.operation) checkPositionals(name, command, input);
  const outcome = await command.run(input) ?? 0;
  if (typeof outcome === "number") return outcome;
  if (input.flags.get("json")) printJson(outcome.data);
  else print(outcome.text);
  return outcome.exitCode ?? 0;
}

/** `help server add` is `server add --help`, and `version` is `--version`. */
function withInformationFlag(words: readonly string[]): readonly string[] {
  if (words[0] === "help") return [...words.slice(1), "--help"];
  return words[0] === "version" ? ["--version"] : words;
}

function resolveCommand({ command: first, positionals }: CommandLine) {
  if (first === undefined) throw configError("No command given", "See --help for all commands");
  const [next, last] = positionals;
  for (const name of [`${first} ${next} ${last}`, `${first} ${next}`, first]) {
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (command) return { name, command };
  }
  const family = familyOf(first);
  if (family.length === 0) {
    const known = Object.keys(COMMANDS).map((name) => name.split(" ")[0]!);
    throw configError(
      `Unknown command "${first}"`,
      nearestOr(first, known, "See --help for all commands"),
    );
  }
  const [second, third] = positionals;
  const group = familyOf(`${first} ${second}`).length > 0 ? `${first} ${second}` : first;
  if (second === undefined || (group !== first && third === undefined)) {
    throw configError(`${group} requires a subcommand`, `See ${group} --help`);
  }
  if (group !== first) {
    throw configError(`Unknown command "${group} ${third}"`, `See ${group} --help`);
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
    const group = familyOf([line.command, ...line.positionals].join(" "));
    if (group.length > 0) return commandsHelp(group.flatMap((name) => COMMANDS[name] ?? []));
    return commandHelp(resolveCommand(line).command);
  } catch {
    return allHelp([START, ...all]);
  }
}
