import assert from "node:assert/strict";
import { StreamBudget, StreamFlooded } from "./stream_budget.ts";

Deno.test("StreamBudget.count() lets a burst pass, slows down a longer one, and refuses a flood", () => {
  const budget = new StreamBudget();
  for (let messages = 0; messages < 900; messages++) budget.count(100);
  assert.equal(budget.isStrained, false);
  assert.equal(budget.pauseAfter(10), 0);
  for (let messages = 0; messages < 2_500; messages++) budget.count(100);
  assert.equal(budget.isStrained, true);
  assert.ok(budget.pauseAfter(10) > 100);
  assert.throws(() => {
    for (let messages = 0; messages < 100_000; messages++) budget.count(100);
  }, StreamFlooded);
});

Deno.test("StreamBudget.isStrained passes with time, also if only answers follow", () => {
  let now = 0;
  const budget = new StreamBudget(() => now);
  for (let messages = 0; messages < 3_000; messages++) budget.count(0);
  assert.equal(budget.isStrained, true);
  now += 10_000;
  assert.equal(budget.isStrained, false);
});

Deno.test("StreamBudget.count() counts a stream's text as well as its messages", () => {
  const budget = new StreamBudget();
  assert.throws(() => {
    for (let messages = 0; messages < 1_000; messages++) budget.count(1024 * 1024);
  }, StreamFlooded);
});

Deno.test("StreamBudget.pass() hands on a whole text, in pieces", async () => {
  const budget = new StreamBudget();
  const text = Array.from({ length: 2_000 }, (_, index) => `line ${index}\n`).join("");
  const quick: string[] = [];
  await budget.pass(text, (piece) => quick.push(piece));
  assert.equal(quick.join(""), text);
  for (let messages = 0; messages < 4_000; messages++) budget.count(0);
  const pieces: string[] = [];
  await budget.pass(text, (piece) => pieces.push(piece));
  assert.ok(pieces.length > 1);
  assert.equal(pieces.join(""), text);
});
