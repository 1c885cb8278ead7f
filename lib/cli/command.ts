import type { Operation } from "../operations/operation.ts";
import type { CommandFlag, CommandLine } from "../config/command_line.ts";
import type { Env } from "../config/platform.ts";
import type { ReadOptions } from "../config/options.ts";
import { configError } from "../config/files.ts";

/** What a command gets; its own name is taken off the positionals. */
export interface CommandInput extends ReadOptions {
  env: Env;
  /** Every value of a flag that was given more than once. */
  values: CommandLine["values"];
  /** What followed a lone `--`; the last of the positionals. */
  afterDashes: string[];
}

/** What a command has to say: `data` with --json, else `text`. */
export interface CommandOutcome {
  data: unknown;
  text: string;
  /** Default: 0. */
  exitCode?: number;
}

export interface Command {
  operation?: Operation;
  /** How it is written, its own name first. */
  usage: string;
  meaning: string;
  details?: string[];
  flags?: CommandFlag[];
  /** A command that prints by itself returns an exit code other than 0. */
  run(input: CommandInput): Promise<CommandOutcome | number | void>;
}

export const JSON_FLAG: CommandFlag = { flag: "json", meaning: "Print JSON" };

/** Throws unless as many words were written as the usage names, if it names a fixed number. */
export function checkPositionals(
  name: string,
  { usage }: Command,
  { positionals }: Pick<CommandInput, "positionals">,
): void {
  if (/\.\.\./.test(usage)) return;
  const [named = ""] = usage.slice(name.length).split(/[[(]/);
  const labels = named.split(" ").filter((word) => word !== "");
  if (positionals.length === labels.length) return;
  const missing = labels[positionals.length];
  throw configError(
    missing === undefined
      ? `${name} does not take "${positionals[labels.length]}"`
      : `${name} requires ${missing}`,
    `Usage: quartermaster ${usage}`,
  );
}
