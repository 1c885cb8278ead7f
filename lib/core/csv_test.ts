import assert from "node:assert/strict";
import { csvField } from "./csv.ts";

Deno.test("csvField() quotes, and keeps text that a spreadsheet would run from being a formula", () => {
  assert.equal(csvField("plain"), "plain");
  assert.equal(csvField('a "b", c'), '"a ""b"", c"');
  assert.equal(csvField("=1+1"), "'=1+1");
  assert.equal(csvField(" @SUM(A1)"), "' @SUM(A1)");
  assert.equal(csvField("\t=1"), "'\t=1");
  assert.equal(csvField(-1.5), "-1.5");
  assert.equal(csvField(undefined), "");
});
