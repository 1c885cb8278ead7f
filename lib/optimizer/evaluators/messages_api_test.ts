import assert from "node:assert/strict";
import { GatewayError } from "../../core/errors.ts";
import { startModelStandIn } from "../../../tests/fixtures/model_stand_in.ts";
import type { Observation, ShownTool } from "./evaluator.ts";
import { messagesApiEvaluator, type MessagesApiOptions, messagesApiText } from "./messages_api.ts";

interface Asked {
  path: string;
  headers: Headers;
  body: Record<string, unknown>;
}

type Handler = (asked: Asked) => Response | Promise<Response>;

/** An API on loopback that answers as it is told. */
function serveApi(handler: Handler) {
  const asked: Asked[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      const body = await request.json();
      const one = { path: new URL(request.url).pathname, headers: request.headers, body };
      asked.push(one);
      return await handler(one);
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    asked,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const tools: ShownTool[] = ["git_find", "git_log"].map((name) => ({
  name,
  server: "git",
  tool: name.slice("git_".length),
  text: JSON.stringify({
    name,
    description: `About ${name}`,
    inputSchema: { type: "object", properties: { a: {} } },
    annotations: { readOnlyHint: true },
  }),
}));

function message(more: object = {}): Response {
  return Response.json({
    type: "message",
    model: "claude-x",
    content: [{ type: "text", text: "No tool fits" }],
    stop_reason: "end_turn",
    usage: { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 3 },
    ...more,
  });
}

function failure(status: number, words: string): Response {
  return Response.json({ type: "error", error: { type: "x", message: words } }, { status });
}

function options(baseUrl: string, more: Partial<MessagesApiOptions> = {}): MessagesApiOptions {
  return { baseUrl, apiKey: "sk-secret-key-1", model: "haiku", timeoutMs: 20_000, ...more };
}

async function observe(
  handler: Handler,
  more: Partial<MessagesApiOptions> = {},
): Promise<Observation> {
  await using api = serveApi(handler);
  const { signal } = new AbortController();
  return await messagesApiEvaluator(options(api.url, more))
    .run({ prompt: "Find it", tools, target: "git_find", signal });
}

async function problemOf(handler: Handler, more: Partial<MessagesApiOptions> = {}) {
  const seen = await observe(handler, more);
  assert.ok(seen.status === "error", JSON.stringify(seen));
  return seen;
}

Deno.test("messagesApiEvaluator.run() asks once, with prompt and tools, and gives all calls", async () => {
  await using api = serveApi(() =>
    message({
      content: [
        { type: "text", text: "I look" },
        { type: "tool_use", id: "1", name: "git_find", input: { a: 1 } },
        { type: "tool_use", id: "2", name: "git_log" },
      ],
      stop_reason: "tool_use",
    })
  );
  const evaluator = messagesApiEvaluator(options(`${api.url}/`));
  const { signal } = new AbortController();
  const seen = await evaluator.run({ prompt: "Find it", tools, target: "git_find", signal });
  assert.deepEqual({ ...seen, durationMs: 0 }, {
    status: "ok",
    calls: [{ name: "git_find", arguments: { a: 1 } }, { name: "git_log", arguments: {} }],
    reasoning: "I look",
    durationMs: 0,
    cost: { inputTokens: 15, outputTokens: 3 },
    model: "claude-x",
  });
  assert.equal(api.asked.length, 1);
  const [{ path, headers, body } = assert.fail()] = api.asked;
  assert.equal(path, "/v1/messages");
  assert.equal(headers.get("x-api-key"), "sk-secret-key-1");
  assert.equal(headers.get("authorization"), null);
  assert.equal(headers.get("anthropic-version"), "2023-06-01");
  const { max_tokens: _, ...rest } = body;
  assert.deepEqual(rest, {
    model: "haiku",
    messages: [{ role: "user", content: "Find it" }],
    tools: ["git_find", "git_log"].map((name) => ({
      name,
      description: `About ${name}`,
      input_schema: { type: "object", properties: { a: {} } },
    })),
    tool_choice: { type: "auto" },
  });
});

Deno.test("messagesApiEvaluator.run() is ok where no tool was called", async () => {
  const seen = await observe(() => message());
  assert.ok(seen.status === "ok");
  assert.deepEqual([seen.calls, seen.reasoning], [[], "No tool fits"]);
});

Deno.test("messagesApiEvaluator.run() sends a token where there is no key", async () => {
  await using api = serveApi(() => message());
  const { url: baseUrl } = api;
  const { signal } = new AbortController();
  await messagesApiEvaluator({
    baseUrl,
    authToken: "token-1",
    model: "haiku",
    timeoutMs: 9_000,
  })
    .run({ prompt: "Find it", tools, target: "git_find", signal });
  assert.equal(api.asked[0]?.headers.get("authorization"), "Bearer token-1");
  assert.equal(api.asked[0]?.headers.get("x-api-key"), null);
});

Deno.test("messagesApiEvaluator.run() tells lasting refusals from passing ones", async () => {
  for (const status of [400, 401, 403, 404, 413]) {
    const { isLasting, isGeneral, reason } = await problemOf(() => failure(status, "because"));
    assert.ok(isLasting, String(status));
    assert.equal(isGeneral, status === 401 || status === 403, String(status));
    assert.match(reason, new RegExp(`status ${status}: because`));
  }
  for (const status of [408, 429, 500, 502, 529]) {
    const { isLasting } = await problemOf(() => failure(status, "because"));
    assert.ok(!isLasting, String(status));
  }
  assert.match((await problemOf(() => failure(401, "no"))).reason, /ANTHROPIC_API_KEY/);
});

Deno.test("messagesApiEvaluator.run() never shows the key", async () => {
  const { reason } = await problemOf(() => failure(400, "bad key sk-secret-key-1"));
  assert.match(reason, /bad key \[redacted\]/);
});

Deno.test("messagesApiEvaluator shows no user or password of its address", async () => {
  const { signal } = new AbortController();
  const said: string[] = [];
  const failing = (url: string | URL | Request) =>
    Promise.reject(new TypeError(`error sending request for url (${url})`));
  for (const base of ["http://ada:pass-1@host", "ftp://ada:pass-1@host/x?key=pass-1"]) {
    const evaluator = messagesApiEvaluator({ ...options(base), fetch: failing });
    const observed = await evaluator.run({ prompt: "p", tools, target: "git_find", signal });
    said.push(observed.status === "error" ? observed.reason : "no error");
    await evaluator.check().catch((error) => said.push(error.message));
  }
  assert.equal(said.length, 3, said.join());
  assert.match(said.join(), /"ftp:\/\/host\/x" is not a valid model API URL/);
  assert.doesNotMatch(said.join(), /ada|pass-1/);
});

Deno.test("messagesApiEvaluator.run() takes the key nowhere else", async () => {
  await using elsewhere = serveApi(() => message());
  for (const status of [301, 302, 307, 308]) {
    const location = `${elsewhere.url}/v1/messages`;
    const handler = () => new Response(null, { status, headers: { location } });
    const { reason, isLasting } = await problemOf(handler);
    assert.match(reason, /a redirect \(\d+\), which is not followed/);
    assert.equal(isLasting, true);
  }
  assert.equal(elsewhere.asked.length, 0);
});

Deno.test("messagesApiEvaluator.run() never takes half an answer or a refusal for a choice", async () => {
  const cut = await problemOf(() => message({ stop_reason: "max_tokens" }));
  assert.match(cut.reason, /cut off before it called a tool/);
  assert.deepEqual(cut.cost, { inputTokens: 15, outputTokens: 3 });
  assert.match((await problemOf(() => message({ stop_reason: "refusal" }))).reason, /refused/);
  const called = await observe(() =>
    message({
      stop_reason: "max_tokens",
      content: [{ type: "tool_use", name: "git_find", input: {} }],
    })
  );
  assert.equal(called.status, "ok");
});

Deno.test("messagesApiEvaluator.run() reports a response that is not a valid message", async () => {
  for (const body of ["", "{", "[]", '{"type":"message"}', '{"content":[]}', "<html>"]) {
    const { reason, isLasting } = await problemOf(() => new Response(body));
    assert.match(reason, /is not a valid message/);
    assert.equal(isLasting, false);
  }
});

Deno.test("messagesApiEvaluator.run() stops reading an answer without end", async () => {
  const chunk = new TextEncoder().encode("x".repeat(64 * 1024));
  const endless = () => new ReadableStream({ pull: (controller) => controller.enqueue(chunk) });
  const { reason } = await problemOf(() => new Response(endless()));
  assert.match(reason, /exceeds \d+ bytes/);
});

for (
  const [fault, words] of [
    ["hang", /did not respond within 300 ms/],
    ["stall", /did not respond within 300 ms/],
    ["truncate", /is not a valid message|cannot be reached/],
  ] as const
) {
  Deno.test(`messagesApiEvaluator.run() has a passing error for an API that fails by ${fault}`, async () => {
    await using model = startModelStandIn(() => ({ text: "No tool fits", fault }));
    const { signal } = new AbortController();
    const timeoutMs = fault === "truncate" ? 20_000 : 300;
    const seen = await messagesApiEvaluator(options(model.url, { timeoutMs }))
      .run({ prompt: "Find it", tools, target: "git_find", signal });
    assert.ok(seen.status === "error" && !seen.isLasting);
    assert.match(seen.reason, words);
  });
}

Deno.test("messagesApiEvaluator.run() throws when its signal aborts", async () => {
  const stop = new AbortController();
  await using api = serveApi(() => {
    stop.abort(new Error("cancelled"));
    return message();
  });
  const running = messagesApiEvaluator(options(api.url))
    .run({ prompt: "Find it", tools, target: "git_find", signal: stop.signal });
  await assert.rejects(running, /cancelled/);
});

Deno.test("messagesApiEvaluator.run() has a passing error where nobody answers", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const baseUrl = `http://127.0.0.1:${listener.addr.port}`;
  listener.close();
  const { signal } = new AbortController();
  const seen = await messagesApiEvaluator(options(baseUrl))
    .run({ prompt: "Find it", tools, target: "git_find", signal });
  assert.ok(seen.status === "error" && !seen.isLasting);
  assert.match(seen.reason, /cannot be reached/);
});

Deno.test("messagesApiEvaluator.run() asks nothing where the tools cannot be shown", async () => {
  await using api = serveApi(() => message());
  const evaluator = messagesApiEvaluator(options(api.url));
  const { signal } = new AbortController();
  const run = (shown: ShownTool[], target: string) =>
    evaluator.run({ prompt: "Find it", tools: shown, target, signal });
  const missing = await run(tools, "git_status");
  assert.ok(missing.status === "error" && missing.isLasting);
  assert.match(missing.reason, /"git_status" is not among/);
  const odd = await run([{ ...tools[0]!, name: "git.find" }], "git.find");
  assert.ok(odd.status === "error" && odd.isLasting);
  assert.match(odd.reason, /does not accept "git.find"/);
  assert.equal(api.asked.length, 0);
});

Deno.test("messagesApiEvaluator.check() wants an address, and a key where one is sure to be needed", async () => {
  const check = (baseUrl: string, more: Partial<MessagesApiOptions> = {}) =>
    messagesApiEvaluator({ baseUrl, model: "haiku", timeoutMs: 1, ...more }).check();
  await check("http://127.0.0.1:1");
  await check("https://api.anthropic.com", { apiKey: "key" });
  await check("https://api.anthropic.com", { authToken: "token" });
  await assert.rejects(check("https://api.anthropic.com"), /^GatewayError: Cannot evaluate: .*key/);
  await assert.rejects(check("file:///etc/passwd"), /is not a valid model API URL/);
  await assert.rejects(check("nonsense"), (error) => {
    assert.ok(error instanceof GatewayError && error.code === "CANNOT_EVALUATE");
    const { recoverySteps, suggestedTools } = error.toBody();
    assert.match(recoverySteps.join(), /report each result/);
    assert.deepEqual(suggestedTools, ["record_eval_run"]);
    return true;
  });
});

function write(baseUrl: string): Promise<{ text: string; cost: unknown }> {
  const { signal } = new AbortController();
  return messagesApiText(options(baseUrl))
    .complete({ system: "Be short", prompt: "Write it", maxTokens: 99, signal });
}

Deno.test("messagesApiText() complete() gives the text", async () => {
  await using api = serveApi(() => message({ content: [{ type: "text", text: "Written" }] }));
  assert.deepEqual(await write(api.url), {
    text: "Written",
    cost: { inputTokens: 15, outputTokens: 3 },
  });
  assert.deepEqual(api.asked[0]?.body, {
    model: "haiku",
    max_tokens: 99,
    system: "Be short",
    messages: [{ role: "user", content: "Write it" }],
  });
});

Deno.test("messagesApiText() complete() throws CANNOT_GENERATE in words", async () => {
  const cases: [() => Response, RegExp][] = [
    [() => failure(529, "busy"), /status 529: busy/],
    [() => message({ stop_reason: "max_tokens" }), /cut off at 99 tokens/],
    [() => message({ stop_reason: "refusal" }), /refused/],
    [() => message({ content: [] }), /empty/],
  ];
  for (const [handler, words] of cases) {
    await using api = serveApi(handler);
    await assert.rejects(write(api.url), (error) => {
      assert.ok(error instanceof GatewayError && error.code === "CANNOT_GENERATE");
      assert.match(error.message, words);
      return true;
    });
  }
});
