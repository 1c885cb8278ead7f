import { configError } from "../config/problem.ts";
import type { CommandInput } from "./command.ts";

/** The one name a command takes. */
export function oneName(
  command: string,
  { positionals }: Pick<CommandInput, "positionals">,
): string {
  const [name, ...others] = positionals;
  if (name !== undefined && others.length === 0) return name;
  throw configError(
    `${command} takes the name of one server`,
    `Write it as: deno task cli ${command} NAME`,
  );
}

/** The one tool a command takes. */
export function oneTool(
  command: string,
  { positionals }: Pick<CommandInput, "positionals">,
): string {
  const [name, ...others] = positionals;
  if (name !== undefined && others.length === 0) return name;
  throw configError(
    `${command} takes the name of one tool`,
    `Write it as: deno task cli ${command} SERVER.TOOL`,
  );
}

export function noPositionals(
  command: string,
  { positionals: [extra] }: Pick<CommandInput, "positionals">,
): void {
  if (extra === undefined) return;
  throw configError(
    `${command} does not take "${extra}"`,
    `Write it as: deno task cli ${command}`,
  );
}
