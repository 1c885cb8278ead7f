import assert from "node:assert/strict";
import { numberOf, wordOf } from "./flag_values.ts";

Deno.test("wordOf() takes a known word, and names them where it is another", () => {
  const flags = new Map([["mode", "confirm"]]);
  assert.equal(wordOf(flags, "mode", ["all", "confirm"]), "confirm");
  assert.equal(wordOf(flags, "trust", ["all"]), undefined);
  assert.throws(() => wordOf(flags, "mode", ["all", "none"]), /--mode .*"confirm".*all, none/);
});

Deno.test("numberOf() takes whole numbers within its limits", () => {
  const read = (text: string) => numberOf(new Map([["n", text]]), "n", 10, 20);
  assert.deepEqual(["10", "20"].map(read), [10, 20]);
  assert.equal(numberOf(new Map(), "n", 10, 20), undefined);
  for (const text of ["9", "21", "1.5e1", "-12", "12.5", "", "0x0f"]) {
    assert.throws(() => read(text), /--n cannot be .*from 10 to 20/, text);
  }
});
