import { configError } from "../config/problem.ts";
import type { CommandInput } from "./command.ts";

/** What a command can be about, and how that is written in its usage. */
const WRITTEN = {
  server: "NAME",
  toolset: "NAME",
  project: "NAME",
  tool: "SERVER.TOOL",
} as const;

/** The one name that a command takes. */
export function oneNameOf(
  kind: keyof typeof WRITTEN,
  command: string,
  { positionals }: Pick<CommandInput, "positionals">,
): string {
  const [name, ...others] = positionals;
  if (name !== undefined && others.length === 0) return name;
  throw configError(
    `${command} takes the name of one ${kind}`,
    `Write it as: deno task cli ${command} ${WRITTEN[kind]}`,
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
