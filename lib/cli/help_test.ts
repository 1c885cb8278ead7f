import assert from "node:assert/strict";
import { commandsHelp } from "./help.ts";

const run = () => Promise.resolve();
const commands = [
  { usage: "status", meaning: "What runs", run },
  {
    usage: "server add NAME (--url URL | -- COMMAND ARGS...)",
    meaning: "Add a server after connecting to it; nothing is stored if that fails",
    run,
  },
];

Deno.test("commandsHelp() puts a long usage on a line of its own", () => {
  const lines = commandsHelp(commands).split("\n");
  const at = lines.findIndex((line) => line.startsWith("  status"));
  const column = " ".repeat(30);
  assert.deepEqual(lines.slice(at, at + 4), [
    "  status".padEnd(30) + "What runs",
    "  server add NAME (--url URL | -- COMMAND ARGS...)",
    `${column}Add a server after connecting to it; nothing is stored if that fails`,
    "",
  ]);
});

Deno.test("commandsHelp() keeps meanings in their column on a narrow terminal", () => {
  const lines = commandsHelp(commands, 60).split("\n");
  const at = lines.findIndex((line) => line.startsWith("  server add"));
  assert.deepEqual(lines.slice(at + 1, at + 4).map((line) => line.trim()), [
    "Add a server after connecting",
    "to it; nothing is stored if",
    "that fails",
  ]);
  assert.ok(
    lines.slice(at + 1, at + 4).every((line) => /^ {30}\S/.test(line) && line.length <= 60),
  );
});
