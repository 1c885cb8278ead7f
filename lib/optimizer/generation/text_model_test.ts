import assert from "node:assert/strict";
import { GatewayError } from "../../core/errors.ts";
import { textModelFromSampling } from "./text_model.ts";
import { isCannotGenerate } from "../testing/generation.ts";

const REQUEST = {
  system: "You write.",
  prompt: "Write.",
  maxTokens: 500,
  signal: new AbortController().signal,
};

function answering(result: Record<string, unknown>) {
  return textModelFromSampling(() => Promise.resolve(result)).complete(REQUEST);
}

Deno.test("textModelFromSampling() asks the way sampling/createMessage has it", async () => {
  const asked: Record<string, unknown>[] = [];
  const model = textModelFromSampling((params) => {
    asked.push(params);
    return Promise.resolve({
      role: "assistant",
      content: { type: "text", text: "Here." },
      model: "some-model",
      stopReason: "endTurn",
    });
  });
  assert.equal(model.kind, "sampling");
  assert.deepEqual(await model.complete(REQUEST), {
    text: "Here.",
    cost: { inputTokens: 0, outputTokens: 0 },
  });
  const [{ modelPreferences, ...params }] = asked as [Record<string, unknown>];
  assert.deepEqual(params, {
    messages: [{ role: "user", content: { type: "text", text: "Write." } }],
    systemPrompt: "You write.",
    maxTokens: 500,
  });
  for (const priority of Object.values(modelPreferences ?? {})) {
    assert.ok(priority >= 0 && priority <= 1);
  }
});

Deno.test("textModelFromSampling() joins several blocks of text", async () => {
  const content = [{ type: "text", text: '{"a":' }, { type: "text", text: "1}", annotations: {} }];
  assert.equal((await answering({ role: "assistant", content })).text, '{"a":1}');
});

Deno.test("textModelFromSampling() takes nothing but text", async () => {
  const image = { type: "image", data: "", mimeType: "image/png" };
  const notText = [{}, { content: "text" }, { content: image }, { content: { type: "text" } }, {
    content: [{ type: "text", text: "a" }, { type: "tool_use", id: "1", name: "x", input: {} }],
  }];
  for (const result of notText) {
    await assert.rejects(answering(result), isCannotGenerate(/its response is not text/));
  }
  for (const content of [{ type: "text", text: " \n" }, []]) {
    await assert.rejects(answering({ content }), isCannotGenerate(/its response is empty/));
  }
});

Deno.test("textModelFromSampling() says so where the client refuses", async () => {
  const refusing = textModelFromSampling(() => Promise.reject(new Error("User rejected it")));
  await assert.rejects(refusing.complete(REQUEST), isCannotGenerate(/User rejected it/));
  const content = { type: "text", text: "I cannot help with that" };
  await assert.rejects(answering({ content, stopReason: "refusal" }), isCannotGenerate(/refused/));
  const own = new GatewayError("CANNOT_GENERATE", { message: "No answer within 300 s" });
  await assert.rejects(textModelFromSampling(() => Promise.reject(own)).complete(REQUEST), own);
});

Deno.test("textModelFromSampling() stops waiting once the signal is aborted", async () => {
  const stop = new AbortController();
  const never = Promise.withResolvers<Record<string, unknown>>();
  const waiting = textModelFromSampling(() => never.promise)
    .complete({ ...REQUEST, signal: stop.signal });
  const reason = new Error("stopped");
  stop.abort(reason);
  await assert.rejects(waiting, reason);
  // A client that refuses after that disturbs nobody.
  never.reject(new Error("late"));
});
