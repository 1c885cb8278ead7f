import type { CommandFlag } from "../config/command_line.ts";
import type { ReadOptions } from "../config/options.ts";

/** One command of the CLI. */
export interface Command {
  usage: string;
  meaning: string;
  flags?: CommandFlag[];
  run(input: ReadOptions): Promise<void>;
}
