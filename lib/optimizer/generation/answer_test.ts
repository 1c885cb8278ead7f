import assert from "node:assert/strict";
import * as z from "zod";
import { askForJson, orGatewayError, readAnswer } from "./answer.ts";
import { isCannotGenerate, ScriptedModel } from "../testing/generation.ts";
import { GatewayError } from "../../core/errors.ts";

const Shape = z.object({ words: z.array(z.string()) });
const GOOD = '{"words":["a } in { a \\" string"]}';
const VALUE = { words: ['a } in { a " string'] };

function ask(model: ScriptedModel, prompt = "Write words.", signal = new AbortController().signal) {
  return askForJson({
    model,
    system: "You write.",
    prompt,
    maxTokens: 100,
    schema: Shape,
    signal,
  });
}

Deno.test("readAnswer() finds the one value, fenced or bare", () => {
  const answers = [
    GOOD,
    `\n  ${GOOD}\n`,
    "```json\n" + GOOD + "\n```",
    "Here it is:\n```\n" + GOOD + "\n```\nAnything else?",
    "  ```JSON\r\n" + GOOD + "\r\n  ```",
    "```json " + GOOD + "```",
    `Here {it} is [1]: ${GOOD} I hope {that} helps [2].`,
    `A { that is never closed. ${GOOD}`,
  ];
  for (const answer of answers) {
    assert.deepEqual(readAnswer(answer, Shape), { value: VALUE }, answer);
  }
});

Deno.test("readAnswer() says what is wrong where there is not exactly one", () => {
  const complaints: [string, RegExp][] = [
    ["", /it is empty/],
    ["I would rather not.", /no bracket/],
    [`${GOOD} or ${GOOD}`, /2 JSON values/],
    ["```json\n" + GOOD + "\n```\n```json\n" + GOOD + "\n```", /2 JSON values/],
    ['{"words":["a","b', /never closed/],
    ['{"words":[{"x":1},"b', /never closed/],
    ['{"words":["a",]}', /JSON/],
    ['{"words":"a"}', /expected array.*words/],
    ["[1, 2]", /expected object/],
    ["x".repeat(400_001), /far more than requested/],
  ];
  for (const [answer, complaint] of complaints) {
    const read = readAnswer(answer, Shape);
    assert.ok("complaint" in read, answer);
    assert.match(read.complaint, complaint, answer.slice(0, 100));
  }
});

Deno.test("readAnswer() is done soon with an answer of brackets alone", () => {
  assert.ok("complaint" in readAnswer("{[".repeat(200_000), Shape));
});

Deno.test("askForJson() asks once where the answer fits", async () => {
  const model = new ScriptedModel(GOOD);
  const { value, cost } = await ask(model);
  assert.deepEqual(value, VALUE);
  assert.deepEqual(cost, { inputTokens: 10, outputTokens: 1, costUsd: 0.5 });
  assert.equal(model.requests.length, 1);
});

Deno.test("askForJson() has an answer repaired once, with the complaint and what was said", async () => {
  const model = new ScriptedModel('{"words":"</answer> only one"}', GOOD);
  const { value, cost } = await ask(model);
  assert.deepEqual(value, VALUE);
  assert.deepEqual(cost, { inputTokens: 20, outputTokens: 2, costUsd: 1 });
  const { prompt } = model.requests[1]!;
  assert.match(prompt, /^Write words\.\n/);
  assert.match(prompt, /<complaint>\n.*expected array.*\n<\/complaint>/);
  assert.match(prompt, /<answer>\n.*only one.*\n<\/answer>/);
  assert.equal(prompt.match(/<\/answer>/g)!.length, 1);
});

Deno.test("askForJson() gives up after the second failure and says why", async () => {
  const model = new ScriptedModel("No.", '{"words":["a"');
  await assert.rejects(ask(model), isCannotGenerate(/after one retry.*never closed/));
  assert.equal(model.requests.length, 2);
});

Deno.test("askForJson() shows no more of a long answer than a request has room for", async () => {
  const model = new ScriptedModel("<".repeat(100_000), GOOD);
  await ask(model, "p".repeat(21_000));
  assert.match(model.requests[1]!.prompt, /\(cut: there is more\)/);
});

Deno.test("askForJson() does not ask once the signal is aborted", async () => {
  const model = new ScriptedModel(GOOD);
  const reason = new Error("stopped");
  await assert.rejects(ask(model, "Write words.", AbortSignal.abort(reason)), reason);
  assert.equal(model.requests.length, 0);
});

const { signal } = new AbortController();
const error = new GatewayError("CANNOT_GENERATE");

Deno.test("orGatewayError() gives the value, or the error of the gateway's own", async () => {
  assert.equal(await orGatewayError(Promise.resolve(1), signal), 1);
  assert.deepEqual(await orGatewayError(Promise.reject(error), signal), { error });
});

Deno.test("orGatewayError() throws what is a mistake, and the reason of an aborted signal", async () => {
  const mistake = new TypeError("x is not a function");
  await assert.rejects(orGatewayError(Promise.reject(mistake), signal), mistake);
  const reason = new Error("stopped");
  const aborted = AbortSignal.abort(reason);
  await assert.rejects(orGatewayError(Promise.reject(error), aborted), reason);
});
