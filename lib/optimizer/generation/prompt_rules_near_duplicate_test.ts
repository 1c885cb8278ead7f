import assert from "node:assert/strict";
import { isNearDuplicate, KnownTexts } from "./prompt_rules.ts";

const SAME: [string, string][] = [
  ["Get the weather in Paris for tomorrow", "get the weather for  Paris, tomorrow!"],
  [
    "Show me the weather forecast for Paris tomorrow",
    "Give me the weather forecast for Paris tomorrow",
  ],
  [
    "Book a flight from Rome to Paris on Friday",
    "Please book me a flight from Rome to Paris for Friday",
  ],
  [
    "Should I bring an umbrella to my Paris meeting?",
    "Do I need an umbrella for my meeting in Paris?",
  ],
  ["List the open issues of acme/web", "Listing open issue in acme/web"],
  ["Summarize the quarterly finance report", "Summarise the quarterly finance report"],
  ["Réserve un café à midi", "Reserve un cafe a midi"],
  ["Réserve un café à midi", "Re\u0301serve un cafe\u0301 a\u0300 midi"],
  ["Погода в Москве завтра", "погода в москве, завтра?"],
  ["东京明天天气怎么样？", "东京明天的天气怎么样"],
  ["明日の東京の天気を教えてください", "明日の東京の天気を教えて"],
  ["🌧️ 🌧️ 🌧️", "🌧️🌧️🌧️"],
];

const DIFFERENT: [string, string][] = [
  ["Get the file notes.txt", "Delete the file notes.txt"],
  ["Delete the file notes.txt", "Do not delete the file notes.txt"],
  ["Send the mail to Ann with the report", "Don't send the mail to Ann with the report"],
  ["List the open issues of acme/web", "List the closed issues of acme/web"],
  ["What's the weather in Paris tomorrow?", "What's the weather in London tomorrow?"],
  ["Read /etc/hosts", "Read /etc/passwd"],
  ["Turn on the lights in the living room", "Turn off the lights in the living room"],
  ["Add 2 and 3 please", "Add 7 and 9 please"],
  [
    "Should I bring an umbrella to my Paris meeting?",
    "Is it warm enough for a picnic in Paris on Sunday?",
  ],
  ["Погода в Москве завтра", "Переведи этот текст на русский"],
  ["东京明天天气怎么样？", "大阪下周会下雨吗？"],
  ["明日の東京の天気を教えてください", "来週の会議の予定を教えてください"],
  ["ทำนายอากาศกรุงเทพพรุ่งนี้", "จองโรงแรมที่เชียงใหม่สองคืน"],
  ["🌧️🌧️🌧️🌧️🌧️", "🌞🌞🌞🌞🌞"],
  ["", "Get the weather in Paris"],
];

Deno.test("isNearDuplicate() finds the same request in nearly the same words", () => {
  for (const [a, b] of SAME) {
    assert.ok(isNearDuplicate(a, b), `${a} | ${b}`);
    assert.ok(isNearDuplicate(b, a), `${b} | ${a}`);
  }
});

Deno.test("isNearDuplicate() leaves requests for something else apart", () => {
  for (const [a, b] of DIFFERENT) {
    assert.ok(!isNearDuplicate(a, b), `${a} | ${b}`);
    assert.ok(!isNearDuplicate(b, a), `${b} | ${a}`);
  }
});

Deno.test("isNearDuplicate() takes halves of characters and huge texts", () => {
  assert.ok(isNearDuplicate("\ud83c broken text here", "\ud83c broken text here"));
  assert.ok(!isNearDuplicate("x".repeat(1_000_000), "y ".repeat(500_000)));
});

Deno.test("KnownTexts.findNear() says which of them it is", () => {
  const known = new KnownTexts(["Read /etc/hosts"]);
  assert.equal(known.findNear("Get the weather in Paris"), undefined);
  known.add("Show the weather of Paris");
  assert.equal(known.findNear("Get the weather in Paris"), "Show the weather of Paris");
});
