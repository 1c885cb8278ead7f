import { configError } from "../config/files.ts";
import type { CommandInput } from "./command.ts";

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
