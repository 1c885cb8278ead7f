import { Switch, timeSpan } from "../config/option_values.ts";
import { configError } from "../config/files.ts";
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
  throw cannotBe(flag, text, `Use ${words.join(", ")}`);
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
  throw cannotBe(flag, text, `Write a whole number from ${least} to ${most}`);
}

/** Whether a switch is on or off; undefined where it is not given. */
export function switchOf(flags: Flags, flag: string): boolean | undefined {
  const given = flags.get(flag);
  if (given === undefined) return undefined;
  const parsed = Switch.schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw cannotBe(flag, String(given), `Write --${flag} or --no-${flag}`);
}

/** A flag's time in ms; undefined where it is not given. */
export function timeOf(
  flags: Flags,
  flag: string,
  least: number,
  most: number,
): number | undefined {
  const text = flags.get(flag);
  if (typeof text !== "string") return undefined;
  const parsed = timeSpan(least, most, "a time").schema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw cannotBe(
    flag,
    text,
    `Write a time such as 500ms, 90s or 5m, from ${least} ms to ${most / 3_600_000} h`,
  );
}

function cannotBe(flag: string, given: string, advice: string): Error {
  return configError(`--${flag} cannot be "${given.slice(0, 40)}"`, advice);
}
