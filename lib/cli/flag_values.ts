import { configError } from "../config/problem.ts";
import type { CommandInput } from "./command.ts";

type Flags = CommandInput["flags"];

/** One of the words that a flag can have; undefined where it is not given. */
export function wordOf<T extends string>(
  flags: Flags,
  flag: string,
  words: readonly T[],
): T | undefined {
  const text = flags.get(flag);
  if (typeof text !== "string") return undefined;
  const word = words.find((known) => known === text);
  if (word !== undefined) return word;
  throw configError(`--${flag} cannot be "${text.slice(0, 40)}"`, `Use ${words.join(", ")}`);
}

/** A flag's whole number; undefined where it is not given. */
export function numberOf(
  flags: Flags,
  flag: string,
  least: number,
  most: number,
): number | undefined {
  const text = flags.get(flag);
  if (typeof text !== "string") return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw configError(
    `--${flag} cannot be "${text.slice(0, 40)}"`,
    `Write a whole number from ${least} to ${most}`,
  );
}
