import assert from "node:assert/strict";
import { JSON_FLAG } from "./command.ts";
import { COMMANDS } from "./quartermaster.ts";

Deno.test("COMMANDS: every command takes --json", () => {
  const all = Object.entries(COMMANDS);
  assert.ok(all.length > 50, "no commands were found");
  const without = all.filter(([, { flags = [] }]) =>
    !flags.some(({ flag, placeholder }) => flag === JSON_FLAG.flag && placeholder === undefined)
  );
  assert.deepEqual(without.map(([name]) => name), []);
});

Deno.test("COMMANDS: every usage begins with the command's name", () => {
  for (const [name, { usage }] of Object.entries(COMMANDS)) {
    assert.ok(usage === name || usage.startsWith(`${name} `), `${name}: ${usage}`);
  }
});
