import { CLIENTS } from "../config/clients.ts";
import { OPTIONS } from "../config/option_table.ts";
import { flagFieldsOf, flagName, placeholdersOf } from "../operations/cli.ts";
import { choicesOf, type InputField, type NameKind } from "../operations/fields.ts";
import type { Command } from "./command.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;

export interface Suggestion {
  word: string;
  meaning?: string;
}

/** What may stand where the cursor is. */
export type Completion =
  | { kind: "words"; words: Suggestion[] }
  | { kind: "names"; of: NameKind }
  /** Files, or nothing that is known here. */
  | { kind: "other" };

type Place = NameKind | readonly string[] | "other";

/** What each command takes, place by place. */
const PLACES: Record<string, Place[]> = {
  "tools show": ["tool"],
  "tools call": ["tool", "other"],
  connect: [CLIENTS],
  disconnect: [CLIENTS],
  import: [CLIENTS],
  completions: [SHELLS],
};

/** Those whose last place may be filled again and again. */
const REPEATED = new Set(["import"]);

const VALUES: Record<string, Place> = {
  server: "server",
  toolset: "toolset",
  scope: ["user", "project"],
};

const EVERYWHERE = [OPTIONS.dataDir, OPTIONS.kv, OPTIONS.config];
const OTHER: Completion = { kind: "other" };

/** What may stand in place of the last word; the first one is the program. */
export function completionOf(
  [, ...line]: readonly string[],
  commands: Record<string, Pick<Command, "meaning" | "flags" | "operation">>,
): Completion {
  const current = line.at(-1) ?? "";
  const before = line.slice(0, -1);
  if (before.includes("--")) return OTHER;
  const flags = [...Object.values(commands).flatMap(({ flags = [] }) => flags), ...EVERYWHERE];
  const takesValue = (word: string | undefined) =>
    word?.startsWith("--") === true && !word.includes("=") &&
    flags.some(({ flag, placeholder }) => placeholder !== undefined && `--${flag}` === word);
  const words = before.filter((word, index) =>
    !word.startsWith("-") && !takesValue(before[index - 1])
  );
  const name = [`${words[0]} ${words[1]}`, words[0] ?? ""]
    .find((name) => Object.hasOwn(commands, name));
  const flag = takesValue(before.at(-1)) ? before.at(-1)!.slice(2) : undefined;
  const { operation: flagged } = commands[name ?? ""] ?? {};
  if (flag !== undefined && flagged) {
    const field = flagFieldsOf(flagged).find((field) => flagName(field) === flag);
    return field ? ofField(field) : OTHER;
  }
  if (flag !== undefined) return atPlace(VALUES[flag] ?? "other");
  if (current.startsWith("-")) {
    const own = name === undefined ? [] : commands[name]?.flags ?? [];
    const all = [...own, ...EVERYWHERE, { flag: "help", meaning: "Show the command's help" }];
    return {
      kind: "words",
      words: all.map(({ flag, meaning }) => ({ word: `--${flag}`, meaning })),
    };
  }
  if (name === undefined) return { kind: "words", words: commandWords(words, commands) };
  const at = words.length - name.split(" ").length;
  const { operation } = commands[name]!;
  if (operation) {
    const placeholders = placeholdersOf(operation);
    const last = placeholders.at(-1);
    const placeholder = placeholders[at] ?? (last?.isRepeated ? last : undefined);
    return placeholder ? ofField(placeholder.field) : OTHER;
  }
  const places = PLACES[name];
  if (!places) return OTHER;
  const place = places[at] ?? (REPEATED.has(name) ? places.at(-1) : undefined);
  return atPlace(place ?? "other");
}

function commandWords(
  words: readonly string[],
  commands: Record<string, Pick<Command, "meaning">>,
): Suggestion[] {
  const found = new Map<string, string>();
  for (const [name, { meaning }] of Object.entries(commands)) {
    const parts = name.split(" ");
    if (words.some((word, index) => parts[index] !== word)) continue;
    const next = parts[words.length];
    if (next === undefined) continue;
    const isFamily = parts.length > words.length + 1;
    found.set(next, isFamily ? `Commands for ${next}` : meaning);
  }
  return Array.from(found, ([word, meaning]) => ({ word, meaning }));
}

/** What may stand for a field: its choices, names to look up, or anything. */
function ofField(field: InputField): Completion {
  const { completes } = field.hints;
  if (completes !== undefined && completes !== "file" && completes !== "nothing") {
    return { kind: "names", of: completes };
  }
  return atPlace(choicesOf(field) ?? "other");
}

function atPlace(place: Place): Completion {
  if (place === "other") return OTHER;
  if (typeof place === "string") return { kind: "names", of: place };
  return { kind: "words", words: place.map((word) => ({ word })) };
}
