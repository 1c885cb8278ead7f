import assert from "node:assert/strict";
import { join } from "@std/path";
import * as z from "zod";
import { findMarked } from "../lib/servers/processes/process_group.ts";
import { ProcessOwner } from "../lib/servers/processes/process_owner.ts";
import { MemoryRecords } from "../lib/servers/processes/testing/memory_records.ts";
import type { Observation, RunRequest, ShownTool } from "../lib/optimizer/evaluators/evaluator.ts";
import {
  claudeCliEvaluator,
  type ClaudeCliOptions,
  claudeCliText,
} from "../lib/optimizer/evaluators/claude_cli.ts";
import { claudeTest } from "./fixtures/claude_cli.ts";
import {
  type ModelReply,
  type ModelRequest,
  type ModelScript,
  startModelStandIn,
  toolResultsOf,
} from "./fixtures/model_stand_in.ts";

/** Where the real CLI is, once a test with it runs. */
let claude = "";

function cliTest(name: string, run: () => Promise<void>): Promise<void> {
  return claudeTest(name, (path) => {
    claude = path;
    return run();
  });
}

const TOKEN = "one-time-token-1";
const tools: ShownTool[] = [
  ["git_find", "Finds repositories by what is in them"],
  ["git_log", "Shows the history of a repository"],
].map(([name = "", description]) => ({
  name,
  server: "git",
  tool: name.slice("git_".length),
  text: JSON.stringify({ name, description, inputSchema: { type: "object" } }),
}));

const Message = z.looseObject({ id: z.unknown().optional(), method: z.string() });

/** A tiny MCP server that wants the token, and counts what it must never get. */
function openEndpoint(shown: readonly ShownTool[]) {
  const calls: string[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      if (request.headers.get("authorization") !== `Bearer ${TOKEN}`) {
        return new Response(null, { status: 401 });
      }
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const text = await request.text();
      const { id, method } = Message.parse(JSON.parse(text));
      if (method === "tools/call") calls.push(text);
      if (method === "server/discover") return new Response(null, { status: 404 });
      if (id === undefined) return new Response(null, { status: 202 });
      const result = method === "initialize"
        ? {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "endpoint", version: "1" },
        }
        : method === "tools/list"
        ? { tools: shown.map((tool) => JSON.parse(tool.text)) }
        : {};
      return Response.json({ jsonrpc: "2.0", id, result });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/mcp`,
    token: TOKEN,
    calls,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

interface Trial {
  seen: Observation;
  requests: ModelRequest[];
}

interface TrialOptions extends Partial<ClaudeCliOptions> {
  prompt?: string;
  view?: RunRequest["view"];
  credentials?: Record<string, string>;
}

/** One run of the real CLI with a script for its model; afterwards nothing of it is left. */
async function trial(script: ModelScript, options: TrialOptions = {}): Promise<Trial> {
  await using model = startModelStandIn(script);
  const { prompt = "Which repositories use Deno?", view = "inline", credentials, ...more } =
    options;
  const owner = newOwner();
  const endpoints: ReturnType<typeof openEndpoint>[] = [];
  const evaluator = claudeCliEvaluator({
    ...claudeOptions(model.url, credentials),
    owner,
    openEndpoint(shown) {
      const endpoint = openEndpoint(shown);
      endpoints.push(endpoint);
      return Promise.resolve(endpoint);
    },
    ...more,
  });
  const { signal } = new AbortController();
  const seen = await evaluator.run({ prompt, tools, target: "git_find", view, signal });
  assert.deepEqual(endpoints.flatMap(({ calls }) => calls), [], "no tool is ever run");
  assert.deepEqual(await findMarked(owner.marker), [], "no process is left");
  return { seen, requests: model.requests };
}

function claudeOptions(
  modelUrl: string,
  credentials: Record<string, string> = { ANTHROPIC_API_KEY: "sk-any-key-1" },
) {
  return {
    path: claude,
    model: "stand-in",
    timeoutMs: 60_000,
    env: { PATH: Deno.env.get("PATH") ?? "", ANTHROPIC_BASE_URL: modelUrl, ...credentials },
  };
}

function newOwner(): ProcessOwner {
  const onWarning = (message: string) => assert.fail(message);
  const leaseId = crypto.randomUUID();
  return new ProcessOwner({ leaseId, host: "here", records: new MemoryRecords(), onWarning });
}

/** Calls this, and is content with whatever comes of it. */
function calling(name: string, input: Record<string, unknown> = {}): ModelScript {
  return (request) =>
    toolResultsOf(request).length > 0
      ? { text: "Done" }
      : { text: "Let me look", toolUse: { name: `mcp__tools__${name}`, input } };
}

async function problemOf(reply: ModelReply, options: TrialOptions = {}) {
  const { seen } = await trial(() => reply, options);
  assert.ok(seen.status === "error", JSON.stringify(seen));
  return seen;
}

await cliTest("claudeCliEvaluator.check() finds the real CLI", async () => {
  const options = { ...claudeOptions("http://127.0.0.1:9"), openEndpoint: () => Promise.reject() };
  await claudeCliEvaluator(options).check();
});

await cliTest(
  "claudeCliEvaluator.run() sees the call of a tool whose text the model was given",
  async () => {
    const input = { query: "naïve \u{1F30D}", list: [1, { deep: true }] };
    const { seen, requests } = await trial(calling("git_find", input));
    assert.ok(seen.status === "ok", JSON.stringify(seen));
    assert.deepEqual(seen.calls, [{ name: "git_find", arguments: input }]);
    assert.equal(seen.reasoning, "Let me look");
    assert.equal(seen.model, "stand-in");
    assert.equal(requests.length, 1, "the choice is known after the first request");
    assert.deepEqual([seen.cost.inputTokens, seen.cost.outputTokens], [10, 10]);
    assert.ok((seen.cost.costUsd ?? 0) > 0);
    assert.deepEqual(requests[0]?.tools.map(({ name, description }) => [name, description]), [
      ["mcp__tools__git_find", "Finds repositories by what is in them"],
      ["mcp__tools__git_log", "Shows the history of a repository"],
    ]);
  },
);

await cliTest("claudeCliEvaluator.run() sees that no tool was called", async () => {
  const { seen } = await trial(() => ({ text: "I know that by heart" }));
  assert.ok(seen.status === "ok", JSON.stringify(seen));
  assert.deepEqual([seen.calls, seen.reasoning], [[], "I know that by heart"]);
});

await cliTest(
  "claudeCliEvaluator.run() sees the other tool",
  async () => {
    const { seen } = await trial(calling("git_log"));
    assert.ok(seen.status === "ok", JSON.stringify(seen));
    assert.deepEqual(seen.calls, [{ name: "git_log", arguments: {} }]);
  },
);

for (const status of [500, 529]) {
  await cliTest(
    `claudeCliEvaluator.run() has a passing error for an API that answers ${status}`,
    async () => {
      const { reason, isLasting } = await problemOf({ status });
      assert.match(reason, new RegExp(`API failed: .*${status}`));
      assert.equal(isLasting, false);
    },
  );
}

for (const status of [401, 403]) {
  await cliTest(
    `claudeCliEvaluator.run() says what to set where the API answers ${status}`,
    async () => {
      const { reason, isLasting } = await problemOf({ status });
      assert.match(reason, /ANTHROPIC_API_KEY/);
      assert.equal(isLasting, true);
    },
  );
}

await cliTest(
  "claudeCliEvaluator.run() says what to set where there are no credentials",
  async () => {
    const { reason, isLasting } = await problemOf({ text: "Hello" }, { credentials: {} });
    assert.match(reason, /ANTHROPIC_API_KEY.*CLAUDE_CODE_OAUTH_TOKEN/);
    assert.equal(isLasting, true);
  },
);

for (const fault of ["hang", "stall"] as const) {
  await cliTest(
    `claudeCliEvaluator.run() has an error at its time limit for a model that ${fault}s`,
    async () => {
      const reply = { text: "Let me look at that", fault };
      const { reason, isLasting } = await problemOf(reply, { timeoutMs: 5_000 });
      assert.match(reason, /did not exit within 5000 ms/);
      assert.equal(isLasting, false);
    },
  );
}

await cliTest("claudeCliEvaluator.run() has an error for answers that are cut off", async () => {
  const { reason, isLasting } = await problemOf({ text: "Let me look at that", fault: "truncate" });
  assert.match(reason, /API failed/);
  assert.equal(isLasting, false);
});

await cliTest(
  "claudeCliEvaluator.run() has an error, not a missing call, where the endpoint is shut",
  async () => {
    const shut = async (shown: readonly ShownTool[]) => {
      const endpoint = openEndpoint(shown);
      await endpoint[Symbol.asyncDispose]();
      return { ...endpoint, [Symbol.asyncDispose]: () => Promise.resolve() };
    };
    const wrong = (shown: readonly ShownTool[]) =>
      Promise.resolve({ ...openEndpoint(shown), token: "of another run" });
    for (const openEndpoint of [shut, wrong]) {
      const { seen } = await trial(() => ({ text: "No tool fits" }), { openEndpoint });
      assert.ok(seen.status === "error", JSON.stringify(seen));
      assert.match(seen.reason, /could not connect to the tools/);
    }
  },
);

await cliTest(
  "claudeCliEvaluator.run() gives the model the prompt, whatever it looks like",
  async () => {
    const folder = await Deno.makeTempDir();
    try {
      const secret = join(folder, "secret.txt");
      await Deno.writeTextFile(secret, "TOP SECRET");
      const prompts = ["/compact", "-p --help", `What is in @${secret} ?`];
      for (
        const [prompt, view] of prompts.flatMap((prompt) =>
          (["inline", "deferred"] as const).map((view) => [prompt, view] as const)
        )
      ) {
        const { seen, requests } = await trial(() => ({ text: "No" }), { prompt, view });
        assert.equal(seen.status, "ok", JSON.stringify(seen));
        const [question] = requests[0]?.messages ?? [];
        const text = typeof question?.content === "string" && question.content.trim();
        assert.equal(text && text.replaceAll("\u2060", ""), prompt);
        assert.doesNotMatch(JSON.stringify(requests), /TOP SECRET/);
      }
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);

await cliTest("claudeCliText() complete() writes with the real CLI, without tools", async () => {
  await using model = startModelStandIn(() => ({ text: "Written" }));
  const writer = claudeCliText(claudeOptions(model.url));
  const { signal } = new AbortController();
  const prompt = `Write it. ${"x".repeat(200_000)}`;
  const answer = await writer.complete({ system: "Be short", prompt, maxTokens: 99, signal });
  assert.equal(answer.text, "Written");
  assert.deepEqual([answer.cost.inputTokens, answer.cost.outputTokens], [10, 10]);
  const [request] = model.requests;
  assert.deepEqual(request?.tools, []);
  assert.match(JSON.stringify(request?.system), /Be short/);
  assert.equal(request?.messages[0]?.content, prompt);
});

/** Searches with the CLI's own search for deferred tools, and goes on from there. */
function searching(query: string, after: ModelReply): ModelScript {
  return (request) =>
    toolResultsOf(request).length > 0
      ? after
      : { text: "I search", toolUse: { name: "ToolSearch", input: { query, max_results: 5 } } };
}

const DEFERRED: [string, ModelScript, requests: number, object][] = [
  [
    "found and called",
    searching("find repositories", { toolUse: { name: "mcp__tools__git_find", input: { q: 1 } } }),
    2,
    { calls: ["git_find"], search: { searched: true, found: true } },
  ],
  [
    "found and not called",
    searching("find repositories", { text: "I know better" }),
    2,
    { calls: [], search: { searched: true, found: true } },
  ],
  [
    "searched for and not found",
    searching("zebra", { text: "There is none" }),
    2,
    { calls: [], search: { searched: true, found: false } },
  ],
  [
    "never searched for",
    () => ({ text: "I know that by heart" }),
    1,
    { calls: [], search: { searched: false, found: false } },
  ],
  [
    "called by its name alone",
    (request) =>
      toolResultsOf(request).length > 0
        ? { text: "Oh" }
        : { toolUse: { name: "mcp__tools__git_find", input: {} } },
    1,
    { calls: ["git_find"], search: { searched: false, found: false } },
  ],
];

for (const [what, script, count, expected] of DEFERRED) {
  await cliTest(`claudeCliEvaluator.run() sees that a deferred tool is ${what}`, async () => {
    const { seen, requests } = await trial(script, { view: "deferred" });
    assert.ok(seen.status === "ok", JSON.stringify(seen));
    const { calls, search } = seen;
    assert.deepEqual({ calls: calls.map(({ name }) => name), search }, expected);
    assert.equal(requests.length, count);
    const offered = requests[0]!.tools.map(({ name }) => name);
    assert.ok(offered.includes("ToolSearch") && !offered.includes("mcp__tools__git_find"));
    // Only its name is known until it is searched for.
    const told = JSON.stringify(requests[0]);
    assert.ok(told.includes("mcp__tools__git_find") && !told.includes("Finds repositories"));
    assert.deepEqual([seen.cost.inputTokens, (seen.cost.costUsd ?? 0) > 0], [10 * count, true]);
  });
}

await cliTest("claudeCliEvaluator.run() ends where the model only goes on searching", async () => {
  let turn = 0;
  const input = () => ({ query: `find ${turn++}`, max_results: 5 });
  const { seen, requests } = await trial(
    () => ({ toolUse: { name: "ToolSearch", input: input() } }),
    {
      view: "deferred",
    },
  );
  assert.ok(seen.status === "ok", JSON.stringify(seen));
  assert.deepEqual([seen.calls, requests.length], [[], 6]);
});
