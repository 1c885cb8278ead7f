import type { CommandFlag } from "../config/command_line.ts";
import { OPTIONS } from "../config/option_table.ts";
import type { Command } from "./command.ts";
import { table } from "./terminal.ts";

const EXIT_CODES = "Exit codes: 0 done, 1 failed, 2 used wrongly.";

/** The text of --help: all commands, or those whose names begin alike. */
export function commandsHelp(commands: readonly Command[]): string {
  return [
    "Quartermaster: one door to all your MCP servers",
    "",
    "Usage: deno task cli COMMAND [OPTIONS]",
    "",
    indented(commands.map(({ usage, meaning }) => [usage, meaning])),
    "Options of every command:",
    indented(whereOptions()),
    "COMMAND --help says more about each. The gateway itself is started with `deno task start`.",
    EXIT_CODES,
    "",
  ].join("\n");
}

/** One command's own help. */
export function commandHelp({ usage, meaning, details = [], flags = [] }: Command): string {
  return [
    `Usage: deno task cli ${usage}`,
    "",
    `${meaning}.`,
    ...(details.length > 0 ? ["", ...details] : []),
    "",
    "Options:",
    indented([...flags.map(flagRow), ...whereOptions()]),
    EXIT_CODES,
    "",
  ].join("\n");
}

/** What tells a command where the data is. */
function whereOptions(): string[][] {
  const { dataDir, kv, config } = OPTIONS;
  return [
    ...[dataDir, kv, config].map(flagRow),
    ["-h, --help", "Show this help"],
    ["-V, --version", "Show the version"],
  ];
}

function flagRow({ flag, placeholder, meaning }: CommandFlag): string[] {
  return [placeholder === undefined ? `--${flag}` : `--${flag} ${placeholder}`, meaning];
}

function indented(rows: string[][]): string {
  return table(rows).replace(/^/gm, "  ").trimEnd() + "\n";
}
