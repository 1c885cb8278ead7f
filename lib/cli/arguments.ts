import { configError } from "../config/files.ts";
import type { CommandInput } from "./command.ts";

/** The one tool that a command takes. */
export function oneToolOf(
  command: string,
  { positionals }: Pick<CommandInput, "positionals">,
): string {
  const [name, ...others] = positionals;
  if (name !== undefined && others.length === 0) return name;
  throw configError(
    `${command} takes the name of one tool`,
    `Write it as: quartermaster ${command} SERVER.TOOL`,
  );
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
