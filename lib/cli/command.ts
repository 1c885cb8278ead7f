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

export interface Command {
  operation?: Operation;
  /** How it is written, its own name first. */
  usage: string;
  meaning: string;
  details?: string[];
  flags?: CommandFlag[];
  /** Answers the exit code where that is not 0. */
  run(input: CommandInput): Promise<void | number>;
}

export const JSON_FLAG: CommandFlag = { flag: "json", meaning: "Print JSON" };

/** The one word that a command takes; `usage` is how it is written. */
export function onlyPositional(
  { positionals: [word, ...others] }: Pick<CommandInput, "positionals">,
  message: string,
  usage: string,
): string {
  if (word !== undefined && others.length === 0) return word;
  throw configError(message, `Write it as: quartermaster ${usage}`);
}

export function noPositionals(
  command: string,
  { positionals: [extra] }: Pick<CommandInput, "positionals">,
): void {
  if (extra === undefined) return;
  throw configError(
    `${command} does not take "${extra}"`,
    `Write it as: quartermaster ${command}`,
  );
}
