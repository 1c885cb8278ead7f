import assert from "node:assert/strict";
import { PassageScore, type Sentence } from "./passage.ts";
import type { Sign } from "./data/signs.ts";

const grave: Sign = sign("hide", 7, "hides something");
const light: Sign = sign("extra", 5, "asks for more");
const WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"];
/** As tokensOf() counts: the next sentence is far away. */
const SENTENCE = 1_000;

Deno.test("Passage adds up the signs of a sentence", () => {
  const passage = new PassageScore();
  say(passage, 0, [grave, light]);
  assert.deepEqual(passage.gravest(), {
    rule: "hide",
    severity: "medium",
    why:
      "It reads like an instruction rather than documentation, and it hides something and asks for more",
    span: [0, 0],
  });
});

Deno.test("Passage takes no sign for enough by itself", () => {
  const passage = new PassageScore();
  say(passage, 0, [grave]);
  assert.equal(passage.gravest(), undefined);
});

Deno.test("Passage counts the sentence before, and none further back", () => {
  const next = new PassageScore();
  say(next, 0, [grave]);
  say(next, SENTENCE, [light]);
  assert.notEqual(next.gravest(), undefined);
  const far = new PassageScore();
  say(far, 0, [grave]);
  say(far, SENTENCE, []);
  say(far, 2 * SENTENCE, [light]);
  assert.equal(far.gravest(), undefined);
});

Deno.test("Passage weighs the words of documentation against the signs", () => {
  const passage = new PassageScore();
  say(passage, 0, [grave, light], WORDS, -1);
  assert.equal(passage.gravest(), undefined);
});

Deno.test("Passage is grave where much comes together", () => {
  const passage = new PassageScore();
  say(passage, 0, [{ ...grave, points: 16 }, light]);
  assert.equal(passage.gravest()?.severity, "high");
});

Deno.test("Passage lets words add to signs, and hold nothing back by themselves", () => {
  const wordy = new PassageScore();
  say(wordy, 0, [{ ...light, points: 0.5 }], WORDS, 9);
  assert.equal(wordy.gravest(), undefined);
  const signed = new PassageScore();
  say(signed, 0, [{ ...grave, points: 7 }], WORDS, 9);
  assert.equal(signed.gravest()?.severity, "medium");
});

Deno.test("Passage judges three known pieces of a script without spaces, and no three plain words", () => {
  const dense = new PassageScore();
  say(dense, 0, [grave, light], ["会話", "全文", "送信"]);
  assert.notEqual(dense.gravest(), undefined);
  const plain = new PassageScore();
  say(plain, 0, [grave, light], WORDS.slice(0, 3));
  assert.equal(plain.gravest(), undefined);
});

Deno.test("Passage takes samples of code and data for no order", () => {
  for (const text of ["curl -H 'X: y' https://a.example", '{ "to": "a", "body": "b" }']) {
    const passage = new PassageScore({ text });
    say(passage, 0, [grave, light]);
    assert.equal(passage.gravest(), undefined, text);
  }
});

Deno.test("Passage takes boasting for a warning at most", () => {
  const passage = new PassageScore();
  say(passage, 0, [{ ...grave, points: 12, isMild: true }, light]);
  assert.equal(passage.gravest()?.severity, "medium");
});

Deno.test("Passage tells a listener of each sentence, with and without signs", () => {
  const heard: Sentence[] = [];
  const passage = new PassageScore({ place: "odd", listen: (sentence) => heard.push(sentence) });
  say(passage, 0, []);
  say(passage, SENTENCE, [light]);
  passage.gravest();
  assert.deepEqual(heard, [
    { signs: [], stems: WORDS, isLater: false, isAside: false, place: "odd" },
    { signs: ["extra"], stems: WORDS, isLater: true, isAside: false, place: "odd" },
  ]);
});

function sign(id: string, points: number, says: string): Sign {
  return { id, points, says, rule: id, phrases: [] };
}

function say(
  passage: PassageScore,
  from: number,
  signs: readonly Sign[],
  words = WORDS,
  weight = 0,
): void {
  words.forEach((stem, i) => {
    passage.step(from + i, from + i);
    passage.weigh({ stem, weight });
  });
  for (const each of signs) passage.add(each, from);
}
