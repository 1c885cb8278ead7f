import { configError } from "../config/files.ts";
import { programCommand } from "../config/platform.ts";
import { nearest } from "../core/text.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import { SHELLS } from "./completion.ts";
import { print, printJson } from "./terminal.ts";

export const completions: Command = {
  usage: "completions SHELL",
  meaning: "A script for bash, zsh or fish that completes commands, flags and names",
  details: [
    "Add one of these to your shell's startup file:",
    '  bash  eval "$(quartermaster completions bash)"',
    '  zsh   eval "$(quartermaster completions zsh)"   (after compinit)',
    "  fish  quartermaster completions fish | source",
    "",
    "In a checkout, use (cd FOLDER && deno task -q cli completions SHELL) with the checkout's full",
    "path. The script then also defines the command `quartermaster`, if there is none.",
  ],
  flags: [JSON_FLAG],
  run({ positionals, flags }) {
    const [word, ...others] = positionals;
    const shell = SHELLS.find((shell) => shell === word);
    if (!shell || others.length > 0) {
      const guess = word === undefined ? undefined : nearest(word, SHELLS);
      throw configError(
        word === undefined || others.length > 0
          ? "completions takes the name of one shell"
          : `There are no completions for "${word}"`,
        guess === undefined ? `Give one of ${SHELLS.join(", ")}` : `Did you mean ${guess}?`,
      );
    }
    const script = SCRIPTS[shell](programCommand("cli").map(quoted).join(" "));
    if (flags.get("json") === true) printJson({ shell, script });
    else print(script);
    return Promise.resolve();
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
