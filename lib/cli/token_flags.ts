import { configError } from "../config/problem.ts";
import { AccessScope, CallLimit, Pattern, type Right, RIGHTS } from "../core/access.ts";
import { CallMode } from "../core/server.ts";
import type { NewToken } from "../surfaces/access_admin.ts";
import type { CommandInput } from "./command.ts";
import { numberOf, wordOf } from "./flag_values.ts";

const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };
const MOST_MS = 3_650 * UNITS_MS.d;

type Given = Pick<CommandInput, "flags" | "values">;

/** Reads what `token create` was given; throws where it makes no sense. */
export function readNewToken(input: Given, now = Date.now()): NewToken {
  const name = input.flags.get("name");
  if (typeof name !== "string" || name.trim() === "") {
    throw configError(
      "token create needs a name",
      "Write it as: deno task cli token create --name NAME",
    );
  }
  const expires = input.flags.get("expires");
  const project = input.flags.get("project");
  const limit = readLimit(input);
  return {
    name,
    scope: AccessScope.parse({
      rights: readRights(listOf(input, "rights")),
      ...patternsOf(input, "servers"),
      ...patternsOf(input, "toolsets"),
      ...patternsOf(input, "tools"),
    }),
    ...(typeof project === "string" ? { project } : {}),
    ...(limit === undefined ? {} : { limit }),
    ...(typeof expires === "string" ? { expiresAt: now + readSpan(expires) } : {}),
  };
}

/** `30d` and the like, in ms. */
export function readSpan(text: string): number {
  const [, count = "", unit = ""] = /^(\d{1,6})([mhdw])$/.exec(text.trim()) ?? [];
  const ms = Number(count) * (UNITS_MS[unit as keyof typeof UNITS_MS] ?? 0);
  if (ms > 0 && ms <= MOST_MS) return ms;
  throw configError(
    `--expires cannot be ${JSON.stringify(text.slice(0, 40))}`,
    "Write 90m, 12h, 30d or 4w, ten years at most",
  );
}

function readRights(written: string[] | undefined): Right[] {
  if (written === undefined) return ["read", "call"];
  const rights = written.map((word) => {
    const right = RIGHTS.find((known) => known === word);
    if (right !== undefined) return right;
    throw configError(`There is no right "${word}"`, `Use ${RIGHTS.join(", ")}`);
  });
  return RIGHTS.filter((right) => rights.includes(right));
}

function patternsOf(input: Given, flag: "servers" | "toolsets" | "tools") {
  const written = listOf(input, flag);
  if (written === undefined) return {};
  const wrong = written.find((pattern) => !Pattern.safeParse(pattern).success);
  if (wrong !== undefined || written.length > 200) {
    throw configError(
      wrong === undefined
        ? `--${flag} has more than 200 patterns`
        : `--${flag} cannot be "${wrong.slice(0, 80)}"`,
      "Write names, with * for any text and ! before what is kept out, separated by commas",
    );
  }
  return { [flag]: written };
}

/** The comma-separated words of a flag, given once or more often; undefined where it is not. */
function listOf({ values }: Given, flag: string): string[] | undefined {
  const given = values.get(flag);
  if (given === undefined) return undefined;
  const words = given.flatMap((text) => text.split(",")).map((word) => word.trim())
    .filter((word) => word !== "");
  if (words.length > 0) return [...new Set(words)];
  throw configError(`--${flag} is empty`, "Leave it out where everything is meant");
}

function readLimit({ flags }: Given): CallLimit | undefined {
  const perMinute = numberOf(flags, "per-minute", 1, 1_000_000);
  const concurrent = numberOf(flags, "concurrent", 1, 10_000);
  const mode = wordOf(flags, "mode", CallMode.options);
  if ([perMinute, concurrent, mode].every((value) => value === undefined)) return undefined;
  return CallLimit.parse({
    ...(perMinute === undefined ? {} : { perMinute }),
    ...(concurrent === undefined ? {} : { concurrent }),
    ...(mode === undefined ? {} : { mode }),
  });
}
