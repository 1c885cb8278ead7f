import type { CommandFlag } from "./command_line.ts";
import { optionRows, settingsKeyOf, variableOf } from "./option_table.ts";

export interface HelpParts {
  commands?: readonly { usage: string; meaning: string }[];
  commandFlags?: readonly CommandFlag[];
  /** What stands above them. */
  flagsTitle?: string;
}

/** The text of --help. */
export function helpText(parts: HelpParts = {}): string {
  const { commands = [], commandFlags = [], flagsTitle = "Options of commands:" } = parts;
  const options = optionRows().map((row): Row => [
    heading(row),
    `${row.meaning} (default: ${row.fallbackText})`,
  ]);
  options.push(["-h, --help", "Show this help"], ["-V, --version", "Show the version"]);
  return [
    "Quartermaster: one door to all your MCP servers",
    "",
    "Usage: quartermaster [COMMAND] [OPTIONS]",
    ...section("Commands:", commands.map(({ usage, meaning }) => [usage, meaning])),
    ...section("Options:", options),
    ...section(flagsTitle, commandFlags.map((row) => [heading(row), row.meaning])),
    "",
    "Switches are turned off with --no-NAME, as in --no-enable-optimization.",
    "Every option can also be set in the environment (--data-dir as QUARTERMASTER_DATA_DIR) or in",
    'settings.json in the config folder (as "dataDir"). A flag wins over the environment, the',
    "environment over the file.",
    "",
    "Exit codes: 0 after an ordinary end, 2 where an option, a file or the port cannot be used.",
    "",
  ].join("\n");
}

/** The options as a Markdown table, for the documentation. */
export function optionsTable(): string {
  return [
    "| flag | variable | settings key | default | meaning |",
    "| --- | --- | --- | --- | --- |",
    ...optionRows().map((row) =>
      `| \`${heading(row)}\` | \`${variableOf(row)}\` | \`${settingsKeyOf(row)}\` | ` +
      `${row.fallbackText} | ${row.meaning} |`
    ),
  ].join("\n");
}

type Row = readonly [left: string, right: string];

function heading(row: { flag: string; placeholder?: string }): string {
  return row.placeholder === undefined ? `--${row.flag}` : `--${row.flag} ${row.placeholder}`;
}

function section(title: string, rows: readonly Row[]): string[] {
  if (rows.length === 0) return [];
  const width = Math.max(...rows.map(([left]) => left.length));
  return ["", title, ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)];
}
