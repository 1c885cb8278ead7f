import assert from "node:assert/strict";
import { StreamBudget, StreamFlooded } from "./stream_budget.ts";

const LINE = "x".repeat(100);
const LONG = "x".repeat(1024 * 1024);

Deno.test("StreamBudget.count() lets 20,000 progress messages pass, and cuts endless ones", () => {
  const progress = '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}';
  const budget = new StreamBudget(() => 0);
  for (let messages = 0; messages < 20_000; messages++) budget.count(progress);
  assert.throws(() => {
    for (let messages = 0; messages < 1_000_000; messages++) budget.count(progress);
  }, StreamFlooded);
});

Deno.test("StreamBudget.count() lets a burst pass, slows down a longer one, and refuses a flood", () => {
  const budget = new StreamBudget(() => 0);
  for (let messages = 0; messages < 90; messages++) budget.count(LINE);
  assert.equal(budget.isStrained, false);
  assert.equal(budget.pauseAfter(10), 0);
  for (let messages = 0; messages < 400; messages++) budget.count(LINE);
  assert.equal(budget.isStrained, true);
  assert.equal(budget.pauseAfter(10), 40);
  for (let messages = 0; messages < 2_500; messages++) budget.count(LINE);
  assert.equal(budget.pauseAfter(10), 190);
  assert.throws(() => {
    for (let messages = 0; messages < 100_000; messages++) budget.count(LINE);
  }, StreamFlooded);
});

Deno.test("StreamBudget.skip() slows a stream down, and never closes it", () => {
  const budget = new StreamBudget(() => 0);
  for (let megabytes = 0; megabytes < 500; megabytes++) budget.skip(LONG.length);
  assert.equal(budget.pauseAfter(10), 190);
  budget.count(LINE);
});

Deno.test("StreamBudget.isStrained passes with time, also if only answers follow", () => {
  let now = 0;
  const budget = new StreamBudget(() => now);
  for (let messages = 0; messages < 3_000; messages++) budget.count("");
  assert.equal(budget.isStrained, true);
  now += 10_000;
  assert.equal(budget.isStrained, false);
});

Deno.test("StreamBudget.count() counts a stream's text as well as its messages", () => {
  const budget = new StreamBudget();
  assert.throws(() => {
    for (let messages = 0; messages < 1_000; messages++) budget.count(LONG);
  }, StreamFlooded);
});

Deno.test("StreamBudget.pass() hands on a whole text, in pieces", async () => {
  const budget = new StreamBudget();
  const text = Array.from({ length: 2_000 }, (_, index) => `line ${index}\n`).join("");
  const quick: string[] = [];
  await budget.pass(text, (piece) => quick.push(piece));
  assert.equal(quick.join(""), text);
  for (let messages = 0; messages < 4_000; messages++) budget.count("");
  const pieces: string[] = [];
  await budget.pass(text, (piece) => pieces.push(piece));
  assert.ok(pieces.length > 2 * quick.length, "other work gets more turns beside a strained one");
  assert.equal(pieces.join(""), text);
});
