import assert from "node:assert/strict";
import type { Observation } from "./evaluator.ts";
import { messagesApiEvaluator, type MessagesApiOptions, messagesApiText } from "./messages_api.ts";
import { CHAT_COMPLETIONS } from "./openai_api.ts";

interface Asked {
  path: string;
  key: string | null;
  body: Record<string, unknown>;
}

/** An API on loopback that answers as it is told. */
function serveApi(answer: () => Response) {
  const asked: Asked[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname: path } = new URL(request.url);
    asked.push({ path, key: request.headers.get("authorization"), body: await request.json() });
    return answer();
  });
  const options: MessagesApiOptions = {
    dialect: CHAT_COMPLETIONS,
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1`,
    apiKey: "sk-secret-key-1",
    model: "gpt-x",
    timeoutMs: 20_000,
  };
  return { options, asked, [Symbol.asyncDispose]: () => server.shutdown() };
}

const { signal } = new AbortController();
const tools = ["git_find", "git_log"].map((name) => ({
  name,
  server: "git",
  tool: name,
  text: JSON.stringify({ name, description: `About ${name}`, inputSchema: { type: "object" } }),
}));

function completion(message: object, finish_reason = "stop"): () => Response {
  const usage = { prompt_tokens: 15, completion_tokens: 3 };
  return () => Response.json({ model: "gpt-x-1", choices: [{ message, finish_reason }], usage });
}

async function observe(answer: () => Response): Promise<Observation> {
  await using api = serveApi(answer);
  return await messagesApiEvaluator(api.options)
    .run({ prompt: "Find it", tools, target: "git_find", signal });
}

Deno.test("an OpenAI-compatible API is asked once, with prompt and tools, and gives all calls", async () => {
  await using api = serveApi(completion({
    content: "I look",
    tool_calls: [
      { id: "1", type: "function", function: { name: "git_find", arguments: '{"a":1}' } },
      { id: "2", type: "function", function: { name: "git_log", arguments: "" } },
    ],
  }, "tool_calls"));
  const evaluator = messagesApiEvaluator(api.options);
  assert.deepEqual([evaluator.kind, evaluator.isPriced], ["openai-api", false]);
  const seen = await evaluator.run({ prompt: "Find it", tools, target: "git_find", signal });
  assert.deepEqual({ ...seen, durationMs: 0 }, {
    status: "ok",
    calls: [{ name: "git_find", arguments: { a: 1 } }, { name: "git_log", arguments: {} }],
    reasoning: "I look",
    durationMs: 0,
    cost: { inputTokens: 15, outputTokens: 3 },
    model: "gpt-x-1",
  });
  assert.deepEqual(api.asked, [{
    path: "/v1/chat/completions",
    key: "Bearer sk-secret-key-1",
    body: {
      model: "gpt-x",
      messages: [{ role: "user", content: "Find it" }],
      tools: ["git_find", "git_log"].map((name) => ({
        type: "function",
        function: { name, description: `About ${name}`, parameters: { type: "object" } },
      })),
      tool_choice: "auto",
    },
  }]);
});

Deno.test("an OpenAI-compatible API that refuses, is cut off or fails is an error, not a choice", async () => {
  const problems = await Promise.all([
    observe(completion({ content: null, refusal: "I cannot" })),
    observe(completion({ content: "Let me" }, "length")),
    observe(() => Response.json({ choices: [] })),
    observe(() => Response.json({ error: { message: "bad sk-secret-key-1" } }, { status: 401 })),
    observe(() => Response.redirect("http://127.0.0.1:1/")),
  ]);
  const reasons = problems.map((seen) => {
    assert.ok(seen.status === "error");
    return seen.reason;
  });
  assert.match(reasons[0]!, /refused to answer, so it chose no tool: I cannot/);
  assert.match(reasons[1]!, /cut off before it called a tool/);
  assert.match(reasons[2]!, /not a valid message/);
  assert.match(reasons[3]!, /status 401.*Check OPENAI_API_KEY in the gateway's environment/);
  assert.doesNotMatch(reasons[3]!, /sk-secret-key-1/);
  assert.match(reasons[4]!, /redirect/);
});

Deno.test("an OpenAI-compatible API writes texts, and is refused beforehand without model or key", async () => {
  await using api = serveApi(completion({ content: "Hello" }));
  const text = messagesApiText(api.options);
  const answer = await text.complete({ system: "Be brief", prompt: "Hi", maxTokens: 9, signal });
  assert.equal(answer.text, "Hello");
  assert.deepEqual(api.asked[0]?.body.messages, [
    { role: "system", content: "Be brief" },
    { role: "user", content: "Hi" },
  ]);
  const without = (more: Partial<MessagesApiOptions>) =>
    messagesApiEvaluator({ ...api.options, ...more }).check();
  await assert.rejects(without({ model: "" }), /no model is set/);
  const { apiKey: _, ...keyless } = api.options;
  const own = messagesApiEvaluator({ ...keyless, baseUrl: "https://api.openai.com/v1" });
  await assert.rejects(own.check(), /requires a key/);
  await messagesApiEvaluator(keyless).check();
});
