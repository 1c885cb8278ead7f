import assert from "node:assert/strict";
import { joinCommand, splitCommand } from "./shell.ts";

Deno.test("commandWords() splits as a shell does", () => {
  const lines: [string, string[]][] = [
    ["npx -y some-server", ["npx", "-y", "some-server"]],
    [`run "two words" 'and "these"' ""`, ["run", "two words", 'and "these"', ""]],
    [`a\\ b "c\\"d" e'f'g`, ["a b", 'c"d', "efg"]],
    ["$ docker run \\\n  -i image", ["docker", "run", "-i", "image"]],
    [String.raw`C:\tools\server.exe --x`, [String.raw`C:\tools\server.exe`, "--x"]],
    ["  ", []],
  ];
  for (const [line, words] of lines) assert.deepEqual(splitCommand(line), words, line);
});

Deno.test("commandWords() refuses what only a shell can do, and says what to write", () => {
  for (const line of ["a && b", "a | b", "a > file", "a ; b"]) {
    assert.throws(() => splitCommand(line), /no shell is involved/, line);
  }
  assert.deepEqual(splitCommand("a '&&' b"), ["a", "&&", "b"]);
  assert.throws(() => splitCommand("say 'it"), /a ' is not closed; add the closing '/);
});

Deno.test("commandLine() is split into the same words again", () => {
  const words = ["npx", "", "two words", `it's "so"`, String.raw`C:\x y`, "*", "--a=b", "&&"];
  assert.deepEqual(splitCommand(joinCommand(words)), words);
  assert.equal(joinCommand(["npx", "-y", "@a/b@1"]), "npx -y @a/b@1");
});
