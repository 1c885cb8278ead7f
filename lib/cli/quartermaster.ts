import { systemEnv } from "../config/env.ts";
import { findInformationFlag } from "../config/command_line.ts";
import { helpText } from "../config/help.ts";
import { nearest } from "../core/nearest.ts";
import { type ReadOptions, readOptions } from "../config/options.ts";
import { configError } from "../config/problem.ts";
import { VERSION } from "../core/version.ts";
import { backup } from "./backup.ts";
import type { Command } from "./command.ts";
import { restore } from "./restore.ts";
import { exitWith, print } from "./terminal.ts";

const COMMANDS: Record<string, Command> = { backup, restore };

/** Runs `quartermaster COMMAND ...`. */
export async function runCli(args: readonly string[]): Promise<void> {
  const commandFlags = Object.values(COMMANDS).flatMap((command) => command.flags ?? []);
  const information = findInformationFlag(args);
  if (information === "help" || args.length === 0) {
    return print(helpText({ commands: Object.values(COMMANDS), commandFlags }));
  }
  if (information === "version") return print(`quartermaster ${VERSION}\n`);
  const input = await readOptions(args, systemEnv(), {
    os: Deno.build.os,
    cwd: Deno.cwd(),
    commandFlags,
  });
  const name = input.command;
  if (name === undefined) throw configError("No command was given", "See --help for all commands");
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command) return await command.run(input);
  const guess = nearest(name, Object.keys(COMMANDS));
  throw configError(
    `Unknown command "${name}"`,
    guess ? `Did you mean ${guess}?` : "See --help for all commands",
  );
}

if (import.meta.main) {
  try {
    await runCli(Deno.args);
  } catch (error) {
    exitWith(error);
  }
}
