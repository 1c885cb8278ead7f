import assert from "node:assert/strict";
import { numberOf, switchOf, timeOf, wordOf } from "./server_flags.ts";

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

Deno.test("switchOf() is on, off or not given", () => {
  const read = (given: string | boolean) => switchOf(new Map([["s", given]]), "s");
  assert.deepEqual([true, false, "off"].map(read), [true, false, false]);
  assert.equal(switchOf(new Map(), "s"), undefined);
  assert.throws(() => read("perhaps"), /--s cannot be "perhaps".*--no-s/);
});

Deno.test("timeOf() takes times within its limits", () => {
  const read = (text: string) => timeOf(new Map([["t", text]]), "t", 100, 3_600_000);
  assert.deepEqual(["500", "500ms", "90s", "1h"].map(read), [500, 500, 90_000, 3_600_000]);
  assert.equal(timeOf(new Map(), "t", 100, 200), undefined);
  for (const text of ["50", "2h", "soon", ""]) {
    assert.throws(() => read(text), /--t cannot be .*from 100 ms to 1 h/, text);
  }
});
