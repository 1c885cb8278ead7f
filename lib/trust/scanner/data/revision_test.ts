import assert from "node:assert/strict";
import { REVISION } from "./revision.ts";
import { digestOfRules } from "../testing/digest_of_rules.ts";

Deno.test("REVISION is that of the rules, so that kept verdicts are made anew", () => {
  const hint = "The rules have changed. Run: deno run -A bench/scanner/revise.ts";
  assert.equal(REVISION, digestOfRules(), hint);
});
