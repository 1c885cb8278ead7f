import assert from "node:assert/strict";
import { inert, table } from "./terminal.ts";

Deno.test("inert() leaves nothing that steers a terminal", () => {
  assert.equal(
    inert("\x1b[31mred\x1b[0m \x1b]0;title\x07\x9b2Jtext\r\n\tend"),
    "red ]0;title2Jtext\n\tend",
  );
});

Deno.test("table() lines up columns, colored or not", () => {
  const rows = [["a", "one", "x"], ["\x1b[32mlonger\x1b[39m", "b", ""]];
  assert.equal(table(rows), "a       one  x\n\x1b[32mlonger\x1b[39m  b\n");
  assert.equal(table([]), "");
});
