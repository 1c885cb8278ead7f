import { nearest } from "../core/text.ts";
import { optionRows, settingsKeyOf, variableOf } from "./option_table.ts";
import { configError } from "./files.ts";

export interface CommandFlag {
  flag: string;
  /** What stands for the value in the help; a switch has none. */
  placeholder?: string;
  meaning: string;
}

export interface CommandLine {
  command: string | undefined;
  positionals: string[];
  /** What followed a lone `--`: the last of the positionals, never read as flags. */
  afterDashes: string[];
  /** What was given for each flag, by its name without dashes; the last one counts. */
  given: Map<string, string | boolean>;
  /** Every value of each flag that takes one, in the order given. */
  values: Map<string, string[]>;
}

type Flags = ReadonlyMap<string, { flag: string; placeholder?: string }>;

const INFORMATION = new Set(["-h", "--help", "-V", "--version"]);

/** What the user wants to read instead of a start; whatever else is on the line does not matter. */
export function findInformationFlag(args: readonly string[]): "help" | "version" | undefined {
  for (const arg of withoutTaskDashes(args, flagTable())) {
    if (arg === "--") return undefined;
    if (INFORMATION.has(arg)) return /help|^-h/.test(arg) ? "help" : "version";
  }
  return undefined;
}

/** Splits the command line; knows which flags there are, but not what their values mean. */
export function parseCommandLine(
  args: readonly string[],
  commandFlags: readonly CommandFlag[] = [],
): CommandLine {
  const flags = flagTable(commandFlags);
  const rest = withoutTaskDashes(args, flags);
  const given = new Map<string, string | boolean>();
  const values = new Map<string, string[]>();
  const words: string[] = [];
  const afterDashes: string[] = [];

  for (let index = 0; index < rest.length; index++) {
    const arg = rest[index] ?? "";
    if (arg === "--") {
      afterDashes.push(...rest.slice(index + 1));
      break;
    }
    if (INFORMATION.has(arg)) continue;
    if (!arg.startsWith("-") || arg === "-") {
      words.push(arg);
      continue;
    }
    const [name, inline] = split(arg);
    const flag = flags.get(name);
    if (flag === undefined) {
      const positive = flags.get(name.replace(/^no-/, ""));
      if (!name.startsWith("no-") || !positive || positive.placeholder) throw unknown(arg, flags);
      if (inline !== undefined) {
        throw configError(`Option --${name} does not take a value`, `Write it as --${name}`);
      }
      given.set(positive.flag, false);
    } else if (flag.placeholder === undefined) {
      given.set(name, inline ?? true);
    } else {
      const value = inline ?? rest[++index];
      if (value === undefined || (inline === undefined && isFlagLike(value))) {
        throw configError(
          `Option --${name} requires a value`,
          `Write it as --${name} ${flag.placeholder}`,
        );
      }
      given.set(name, value);
      values.set(name, [...values.get(name) ?? [], value]);
    }
  }
  const [command, ...positionals] = [...words, ...afterDashes];
  return { command, positionals, afterDashes, given, values };
}

function split(arg: string): [name: string, value: string | undefined] {
  const bare = arg.startsWith("--") ? arg.slice(2) : arg;
  const equals = bare.indexOf("=");
  return equals < 0 ? [bare, undefined] : [bare.slice(0, equals), bare.slice(equals + 1)];
}

function flagTable(commandFlags: readonly CommandFlag[] = []): Flags {
  return new Map([...optionRows(), ...commandFlags].map((row) => [row.flag, row]));
}

// `deno task start -- --port 4000` hands the dashes on, and npm's users write them by habit.
function withoutTaskDashes(args: readonly string[], flags: Flags): string[] {
  const dashes = args.indexOf("--");
  const next = args[dashes + 1];
  const leading = dashes === 0 || (dashes === 1 && !args[0]?.startsWith("-"));
  return leading && next !== undefined && isKnown(next, flags)
    ? args.toSpliced(dashes, 1)
    : [...args];
}

function isKnown(arg: string, flags: Flags): boolean {
  if (INFORMATION.has(arg)) return true;
  return arg.startsWith("--") && flags.has(split(arg)[0].replace(/^no-/, ""));
}

// One dash may begin a value: a negative number, or - for standard input.
function isFlagLike(value: string): boolean {
  return value.startsWith("--") || INFORMATION.has(value);
}

function unknown(arg: string, flags: Flags): Error {
  const [name] = split(arg);
  const written = arg.startsWith("--") ? `--${name}` : name;
  const guess = nearest(name.replace(/^-+/, ""), [...flags.keys(), "help", "version"]);
  return configError(
    `Unknown option ${written}`,
    guess === undefined ? "See --help for all options" : `Did you mean --${guess}?`,
  );
}

export function helpText(
  { commands = [], commandFlags = [], flagsTitle = "Command options:" }: {
    commands?: readonly { usage: string; meaning: string }[];
    commandFlags?: readonly CommandFlag[];
    flagsTitle?: string;
  } = {},
): string {
  return [
    "Quartermaster: one endpoint for all your MCP servers",
    "",
    "Usage: quartermaster [COMMAND] [OPTIONS]",
    ...section("Commands:", commands.map(({ usage, meaning }) => [usage, meaning])),
    ...section("Options:", optionTexts()),
    ...section(flagsTitle, commandFlags.map((row) => [heading(row), row.meaning])),
    "",
    "To turn a switch off, use --no-NAME, as in --no-enable-optimization.",
    "You can also set every option as an environment variable (QUARTERMASTER_DATA_DIR for --data-dir)",
    'or in settings.json in the config folder ("dataDir"). Flags override environment variables,',
    "which override the file.",
    "",
    "Exit codes: 0 after a normal stop, 2 if an option, a file or the port cannot be used.",
    "",
  ].join("\n");
}

/** The gateway's options, shown below the commands. */
export function gatewayOptionsHelp(): string[] {
  return section("Gateway options:", optionTexts()).slice(1);
}

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

function optionTexts(): Row[] {
  return [
    ...optionRows().map((row): Row => [
      heading(row),
      `${row.meaning} (default: ${row.fallbackText})`,
    ]),
    ["-h, --help", "Show this help"],
    ["-V, --version", "Show the version"],
  ];
}

function heading(row: { flag: string; placeholder?: string }): string {
  return row.placeholder === undefined ? `--${row.flag}` : `--${row.flag} ${row.placeholder}`;
}

function section(title: string, rows: readonly Row[]): string[] {
  if (rows.length === 0) return [];
  const width = Math.max(...rows.map(([left]) => left.length));
  return ["", title, ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)];
}
