import assert from "node:assert/strict";
import {
  type CommandFlag,
  findInformationFlag,
  helpText,
  optionsTable,
  parseCommandLine,
} from "./command_line.ts";
import { optionRows } from "./option_table.ts";

const COMMAND_FLAGS: CommandFlag[] = [
  { flag: "json", meaning: "Print JSON" },
  { flag: "out", placeholder: "FILE", meaning: "Write there" },
];

type Given = Record<string, string | boolean>;
const LINES: [args: string[], words: string[], given: Given][] = [
  [[], [], {}],
  [["start"], ["start"], {}],
  [["--port", "4000"], [], { port: "4000" }],
  [["--port=4000"], [], { port: "4000" }],
  [["--port="], [], { port: "" }],
  [["--port", "-1"], [], { port: "-1" }],
  [["--port", "1", "--port", "2"], [], { port: "2" }],
  [["--config=a=b"], [], { config: "a=b" }],
  [["--stdio"], [], { stdio: true }],
  [["--stdio=false"], [], { stdio: "false" }],
  [["--stdio", "false"], ["false"], { stdio: true }],
  [["--no-enable-optimization"], [], { "enable-optimization": false }],
  [["servers", "--dev", "add", "x"], ["servers", "add", "x"], { dev: true }],
  [["call", "a.b", "--", "--port", "-x"], ["call", "a.b", "--port", "-x"], {}],
  [["call", "--", "--weird"], ["call", "--weird"], {}],
  [["restore", "-"], ["restore", "-"], {}],
  [["tools", "--json", "--out", "-"], ["tools"], { json: true, out: "-" }],
  [["--", "--port", "1"], [], { port: "1" }],
  [["start", "--", "--no-stdio"], ["start"], { stdio: false }],
  [["--help", "--port", "1"], [], { port: "1" }],
];

for (const [args, [command, ...positionals], given] of LINES) {
  Deno.test(`parseCommandLine() reads: ${args.join(" ")}`, () => {
    const line = parseCommandLine(args, COMMAND_FLAGS);
    assert.deepEqual(
      [line.command, line.positionals, Object.fromEntries(line.given)],
      [command, positionals, given],
    );
  });
}

Deno.test("parseCommandLine() keeps every value of a flag, and what followed the dashes", () => {
  const line = parseCommandLine(
    ["add", "--out", "a=1", "--json", "--out=b", "name", "--", "npx", "--out", "c", "--", "-y"],
    COMMAND_FLAGS,
  );
  assert.deepEqual(Object.fromEntries(line.values), { out: ["a=1", "b"] });
  assert.equal(line.given.get("out"), "b");
  assert.deepEqual(line.afterDashes, ["npx", "--out", "c", "--", "-y"]);
  assert.deepEqual(line.positionals, ["name", ...line.afterDashes]);
});

const REFUSED: [args: string[], message: string][] = [
  [["--prot", "1"], "Unknown option --prot. Did you mean --port?"],
  [["--prot=1"], "Unknown option --prot. Did you mean --port?"],
  [["--hlep"], "Unknown option --hlep. Did you mean --help?"],
  [["--zzzzzz"], "Unknown option --zzzzzz; see --help for all options"],
  [["-p"], "Unknown option -p; see --help for all options"],
  [["-port", "1"], "Unknown option -port. Did you mean --port?"],
  [["--no-port"], "Unknown option --no-port; see --help for all options"],
  [["--no-stdio=1"], "Option --no-stdio does not take a value; write it as --no-stdio"],
  [["--port"], "Option --port requires a value; write it as --port PORT"],
  [["--port", "--stdio"], "Option --port requires a value; write it as --port PORT"],
  [["--__proto__"], "Unknown option --__proto__; see --help for all options"],
  [["--constructor=1"], "Unknown option --constructor; see --help for all options"],
];

for (const [args, message] of REFUSED) {
  Deno.test(`parseCommandLine() refuses: ${args.join(" ")}`, () => {
    assert.throws(() => parseCommandLine(args), { code: "CONFIG_INVALID", message });
  });
}

for (
  const [args, expected] of [
    [[], undefined],
    [["start"], undefined],
    [["-h"], "help"],
    [["servers", "--help", "--prot"], "help"],
    [["--", "--help"], "help"],
    [["-V"], "version"],
    [["--version"], "version"],
    [["call", "x", "--", "--help"], undefined],
  ] as const
) {
  Deno.test(`findInformationFlag() finds ${expected} in: ${args.join(" ")}`, () => {
    assert.equal(findInformationFlag(args), expected);
  });
}

Deno.test("helpText() names every option with its meaning and default", () => {
  const text = helpText({
    commands: [{ usage: "restore FILE", meaning: "Restore a backup" }],
    commandFlags: [{ flag: "json", meaning: "Print JSON" }],
  });
  for (const row of optionRows()) {
    const line = text.split("\n").find((line) => line.trim().startsWith(`--${row.flag} `));
    assert.ok(line?.includes(row.meaning), row.flag);
    assert.ok(line?.includes(`(default: ${row.fallbackText})`), row.flag);
  }
  for (const part of ["--help", "--version", "restore FILE", "--json", "Exit codes"]) {
    assert.ok(text.includes(part), part);
  }
});

Deno.test("optionsTable() is what docs/configuration.md shows", async () => {
  // The formatter lines up the columns of the page.
  const loose = (text: string) => text.replace(/ +/g, " ").replace(/-{3,}/g, "---");
  const page = await Deno.readTextFile(new URL("../../docs/configuration.md", import.meta.url));
  assert.ok(
    loose(page).includes(loose(optionsTable())),
    `docs/configuration.md must hold this table:\n${optionsTable()}`,
  );
});
