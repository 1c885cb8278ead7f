import assert from "node:assert/strict";
import { retryWords } from "./retry_words.ts";

Deno.test("retryWords() counts down to the try, and says less where no clock runs", () => {
  assert.equal(retryWords(undefined), "trying again soon");
  assert.equal(retryWords(4_200), "trying again in 5 s");
  assert.equal(retryWords(60_000), "trying again in 1 min");
  assert.equal(retryWords(1), "trying again in 1 s");
  for (const late of [0, -3_000]) assert.equal(retryWords(late), "trying again");
});
