import assert from "node:assert/strict";
import { checkedWords } from "./evaluator_words.ts";

Deno.test("checkedWords() claims no more than was checked", () => {
  const api = checkedWords({ kind: "messages-api", model: "sonnet", problem: null }) ?? "";
  assert.match(api, /^Checked: an address is set, and a key .*Nothing was sent there\./);
  const cli = checkedWords({ kind: "claude-cli", model: "sonnet", problem: null }) ?? "";
  assert.match(cli, /^Checked: the program can be started/);
  for (const words of [api, cli]) assert.match(words, /No model was asked, .*the first run\.$/);
});

Deno.test("checkedWords() says nothing where there is no evaluator", () => {
  assert.equal(checkedWords({ kind: null, model: null, problem: "Cannot evaluate" }), null);
});
