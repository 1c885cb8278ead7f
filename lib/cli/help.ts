import { type CommandFlag, gatewayOptionsHelp } from "../config/command_line.ts";
import { OPTIONS } from "../config/option_table.ts";
import { IS_PACKAGE } from "../core/product.ts";
import type { Command } from "./command.ts";
import { table, terminalWidth } from "./terminal.ts";

export const COMMAND_NAME = "quartermaster";

const MEANING_AT = 30;
const EXIT_CODES = "Exit codes: 0 success, 1 failure, 2 invalid usage.";

/** The text of --help without a command: how to start the gateway, and all commands. */
export function allHelp(commands: readonly Command[], width = outputWidth()): string {
  return [
    "Quartermaster: one endpoint for all your MCP servers",
    "",
    `Usage: ${COMMAND_NAME} [OPTIONS]           Start the gateway`,
    `       ${COMMAND_NAME} COMMAND [OPTIONS]   Run a command`,
    ...(IS_PACKAGE ? [] : ["", `In a checkout, ${COMMAND_NAME} stands for \`deno task cli\`.`]),
    "",
    "Commands:",
    commandRows(commands, width),
    ...gatewayOptionsHelp(),
    "",
    `Every command accepts --data-dir, --kv and --config. For details: ${COMMAND_NAME} COMMAND --help`,
    EXIT_CODES,
    "",
  ].join("\n");
}

export function commandsHelp(commands: readonly Command[], width = outputWidth()): string {
  return [
    `Usage: ${COMMAND_NAME} COMMAND [OPTIONS]`,
    "",
    commandRows(commands, width),
    "Options for every command:",
    indented(whereOptions()),
    `For details: ${COMMAND_NAME} COMMAND --help`,
    EXIT_CODES,
    "",
  ].join("\n");
}

function outputWidth(): number {
  return Deno.stdout.isTerminal() ? terminalWidth(Deno.stdout) : Infinity;
}

function commandRows(commands: readonly Command[], width: number): string {
  return commands.map(({ usage, meaning }) => commandRow(usage, meaning, width)).join("");
}

/** A usage that is too long for its column has a line of its own. */
function commandRow(usage: string, meaning: string, width: number): string {
  const lines = wrapped(meaning, width - MEANING_AT);
  const first = `  ${usage}`;
  const isShort = first.length <= MEANING_AT - 2;
  const rows = isShort
    ? [first.padEnd(MEANING_AT) + lines[0], ...lines.slice(1).map(inColumn)]
    : [first, ...lines.map(inColumn)];
  return rows.map((row) => `${row}\n`).join("");
}

function inColumn(text: string): string {
  return " ".repeat(MEANING_AT) + text;
}

/** In lines that fit, as far as the words do. */
function wrapped(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line === "") lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

export function commandHelp({ usage, meaning, details = [], flags = [] }: Command): string {
  return [
    `Usage: ${COMMAND_NAME} ${usage}`,
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
