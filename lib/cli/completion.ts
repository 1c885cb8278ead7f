import { CLIENTS } from "../config/client_configs.ts";
import { OPTIONS } from "../config/option_table.ts";
import { Depth } from "../core/optimization.ts";
import type { Command } from "./command.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;

/** Names that have to be looked up. */
export type NameKind = "server" | "toolset" | "tool";

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
  search: ["other"],
  "server update": ["server"],
  "server remove": ["server"],
  "server restart": ["server"],
  "server login": ["server"],
  "server logout": ["server"],
  "server logs": ["server"],
  "server tools": ["server"],
  "tools show": ["tool"],
  "tools call": ["tool", "other"],
  "toolset create": ["other", "tool"],
  "toolset delete": ["toolset"],
  "toolset equip": ["toolset"],
  "toolset export": ["toolset"],
  "toolset show": ["toolset"],
  "optimize status": ["server"],
  "optimize show": ["tool"],
  "optimize propose": ["tool"],
  "optimize prompts": ["tool"],
  "optimize generate": ["tool"],
  "optimize evaluate": ["tool", "other"],
  "optimize run": ["tool"],
  "optimize promote": ["tool", "other"],
  "optimize revert": ["tool"],
  "optimize keep": ["tool"],
  "optimize history": ["tool"],
  connect: [CLIENTS],
  disconnect: [CLIENTS],
  import: [CLIENTS],
  completions: [SHELLS],
};

/** Those whose last place may be filled again and again. */
const REPEATED = new Set(["import", "toolset create", "toolset export", "optimize run"]);

const VALUES: Record<string, Place> = {
  server: "server",
  toolset: "toolset",
  scope: ["user", "project"],
  type: ["http", "sse"],
  depth: Depth.options,
  format: ["markdown", "json", "csv"],
};

const EVERYWHERE = [OPTIONS.dataDir, OPTIONS.kv, OPTIONS.config];
const OTHER: Completion = { kind: "other" };

/** What may stand in place of the last word; the first one is the program. */
export function completionOf(
  [, ...line]: readonly string[],
  commands: Record<string, Pick<Command, "meaning" | "flags">>,
): Completion {
  const current = line.at(-1) ?? "";
  const before = line.slice(0, -1);
  if (before.includes("--")) return OTHER;
  const flags = [...Object.values(commands).flatMap(({ flags = [] }) => flags), ...EVERYWHERE];
  const takesValue = (word: string | undefined) =>
    word?.startsWith("--") === true && !word.includes("=") &&
    flags.some(({ flag, placeholder }) => placeholder !== undefined && `--${flag}` === word);
  if (takesValue(before.at(-1))) return atPlace(VALUES[before.at(-1)!.slice(2)] ?? "other");
  const words = before.filter((word, index) =>
    !word.startsWith("-") && !takesValue(before[index - 1])
  );
  const name = [`${words[0]} ${words[1]}`, words[0] ?? ""]
    .find((name) => Object.hasOwn(commands, name));
  if (current.startsWith("-")) {
    const own = name === undefined ? [] : commands[name]?.flags ?? [];
    const all = [...own, ...EVERYWHERE, { flag: "help", meaning: "Show the command's help" }];
    return {
      kind: "words",
      words: all.map(({ flag, meaning }) => ({ word: `--${flag}`, meaning })),
    };
  }
  if (name === undefined) return { kind: "words", words: commandWords(words, commands) };
  const places = PLACES[name];
  if (!places) return OTHER;
  const at = words.length - name.split(" ").length;
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

function atPlace(place: Place): Completion {
  if (place === "other") return OTHER;
  if (typeof place === "string") return { kind: "names", of: place };
  return { kind: "words", words: place.map((word) => ({ word })) };
}
