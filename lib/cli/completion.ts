import { CLIENTS } from "../config/clients.ts";
import { OPTIONS } from "../config/option_table.ts";
import { flagFieldsOf, flagName, placeholdersOf } from "../operations/cli.ts";
import { choicesOf, type InputField, type NameKind } from "../operations/fields.ts";
import type { Command } from "./command.ts";
import { configError } from "../config/files.ts";
import { programCommand } from "../config/platform.ts";
import { nearestOr } from "../core/text.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;

export interface Suggestion {
  word: string;
  meaning?: string;
}

export type Completion =
  | { kind: "words"; words: Suggestion[] }
  | { kind: "names"; of: NameKind }
  /** Files, or nothing that is known here. */
  | { kind: "other" };

type Place = NameKind | readonly string[] | "other";

const PLACES: Record<string, Place[]> = {
  "tools show": ["tool"],
  "tools call": ["tool"],
  connect: [CLIENTS],
  disconnect: [CLIENTS],
  import: [CLIENTS],
  completions: [SHELLS],
};

const VALUES: Record<string, Place> = {
  server: "server",
  toolset: "toolset",
  scope: ["user", "project"],
};

const EVERYWHERE = [OPTIONS.dataDir, OPTIONS.kv, OPTIONS.config];
const OTHER: Completion = { kind: "other" };

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
  const name = [words.slice(0, 3).join(" "), words.slice(0, 2).join(" "), words[0] ?? ""]
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
  const places = PLACES[name] ?? [];
  return atPlace(places[name === "import" ? 0 : at] ?? "other");
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

export const completions: Command = {
  usage: "completions SHELL",
  meaning: "Print a completion script for bash, zsh or fish",
  details: [
    "Add one of these to your shell's startup file:",
    '  bash  eval "$(quartermaster completions bash)"',
    '  zsh   eval "$(quartermaster completions zsh)"   (after compinit)',
    "  fish  quartermaster completions fish | source",
    "",
    "In a checkout, use (cd FOLDER && deno task -q cli completions SHELL) with the checkout's full",
    "path. The script then also defines `quartermaster` if the command does not exist.",
  ],
  run({ positionals: [word = ""] }) {
    const shell = SHELLS.find((shell) => shell === word);
    if (!shell) {
      throw configError(
        `Cannot complete for the shell "${word}"`,
        nearestOr(word, SHELLS, `Use one of ${SHELLS.join(", ")}`),
      );
    }
    const script = SCRIPTS[shell](programCommand("cli").map(quoted).join(" "));
    return Promise.resolve({ data: { shell, script }, text: script });
  },
};

function quoted(word: string): string {
  return /^[\w./=:@+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

const SCRIPTS: Record<(typeof SHELLS)[number], (command: string) => string> = {
  bash: (command) =>
    `# Completions of quartermaster for bash
type quartermaster >/dev/null 2>&1 || quartermaster() { ${command} "$@"; }
_quartermaster() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(quartermaster complete -- "\${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null)
}
complete -o default -F _quartermaster quartermaster
`,
  zsh: (command) =>
    `#compdef quartermaster
# Completions of quartermaster for zsh
whence quartermaster >/dev/null || quartermaster() { ${command} "$@" }
_quartermaster() {
  local line
  local -a found
  while IFS= read -r line; do
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}\${\${line#*$'\\t'}:+:\${line#*$'\\t'}}")
  done < <(quartermaster complete -- "\${(@)words[1,CURRENT]}" 2>/dev/null)
  if (( $#found )); then _describe -t quartermaster quartermaster found; else _files; fi
}
compdef _quartermaster quartermaster
`,
  fish: (command) =>
    `# Completions of quartermaster for fish
if not type -q quartermaster
    function quartermaster
        ${command} $argv
    end
end
function __quartermaster_complete
    set -l found (quartermaster complete -- (commandline -opc) (commandline -ct) 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c quartermaster -f -a '(__quartermaster_complete)'
`,
};
