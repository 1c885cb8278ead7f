import assert from "node:assert/strict";
import * as z from "zod";
import { EVERYONE } from "../core/access.ts";
import { estimateTokens } from "../core/token_counter.ts";
import { failure } from "../storage/testing/failures.ts";
import { descriptionOf } from "./builtin_tool.ts";
import { optimizerTools } from "./optimizer_tools.ts";
import { type Listed, openDirectory, run, runAny } from "./testing/open_directory.ts";

const SERVERS: Record<string, Listed[]> = {
  github: [
    {
      name: "create_issue",
      description: "Create an issue in GitHub",
      inputSchema: {
        type: "object",
        properties: { title: { type: "string" } },
        required: ["title"],
      },
    },
    { name: "list_branches", description: "List the branches of a repository" },
  ],
  slack: [{ name: "send_message", description: "Send a message to a slack channel" }],
};

const Found = z.strictObject({
  tools: z.array(z.strictObject({
    name: z.string(),
    description: z.string(),
    input_schema: z.looseObject({}),
    backend_id: z.string(),
    similarity_score: z.number().min(0).max(1),
    token_count: z.number(),
  })),
  hint: z.string().optional(),
  token_metrics: z.strictObject({
    baseline_tokens: z.number(),
    returned_tokens: z.number(),
    tokens_saved: z.number(),
    savings_percentage: z.number().min(0).max(100),
  }),
});

async function open(input: Partial<Parameters<typeof openDirectory>[0]> = {}) {
  const opened = await openDirectory({ servers: SERVERS, ...input });
  const tools = optimizerTools(opened.directory);
  return {
    ...opened,
    tools,
    async find(args: Record<string, unknown>, principal?: string) {
      return Found.parse(await run(tools, "optim.find_tool", args, principal));
    },
    call: (backend_id: string, tool_name: string, parameters: unknown = {}) =>
      runAny(tools, "optim.call_tool", { backend_id, tool_name, parameters }),
  };
}

Deno.test("optim.find_tool gives the tools with what they cost, and what that saves", async () => {
  await using opened = await open();
  const { find, tool } = opened;
  const cost = (name: string) => Math.ceil(tool(name).text.length / 4);
  const { tools, token_metrics } = await find({
    tool_description: "Create an issue in GitHub",
    tool_keywords: "github issue create",
    limit: 1,
  });
  const issue = tool("github.create_issue");
  assert.deepEqual(tools, [{
    name: "create_issue",
    description: "Create an issue in GitHub",
    input_schema: issue.definition.inputSchema,
    backend_id: "github",
    similarity_score: tools[0]!.similarity_score,
    token_count: cost("github.create_issue"),
  }]);
  const all = ["github.create_issue", "github.list_branches", "slack.send_message"]
    .reduce((sum, name) => sum + cost(name), 0);
  assert.equal(token_metrics.baseline_tokens, all);
  // As text, and again as structured content.
  const sent = 2 * estimateTokens(JSON.stringify({ tools, token_metrics }));
  assert.ok(Math.abs(token_metrics.returned_tokens - sent) <= 12, `${sent} tokens`);
  assert.equal(token_metrics.tokens_saved, Math.max(0, all - token_metrics.returned_tokens));
});

Deno.test("optim.find_tool finds by keywords alone, and finds nothing without a NaN", async () => {
  await using opened = await open();
  const { find, list } = opened;
  const byWords = await find({ tool_description: "", tool_keywords: "slack message" });
  assert.equal(byWords.tools[0]?.name, "send_message");
  const none = await find({ tool_description: "zzqx" });
  assert.deepEqual(none.tools, []);
  assert.ok(none.token_metrics.returned_tokens > 0, "even an answer without tools costs something");
  assert.match(none.hint ?? "", /different or fewer words/);
  for (const server of Object.keys(SERVERS)) list(server, []);
  const { returned_tokens: _, ...metrics } =
    (await find({ tool_description: "send" })).token_metrics;
  assert.deepEqual(metrics, { baseline_tokens: 0, tokens_saved: 0, savings_percentage: 0 });
});

Deno.test("optim.find_tool refuses an empty query", async () => {
  await using opened = await open();
  for (const args of [{ tool_description: "" }, { tool_description: " ", tool_keywords: " " }]) {
    const { message } = await failure(opened.find(args), "INVALID_ARGUMENTS");
    assert.match(message, /describe what you need/);
  }
});

Deno.test("optim.find_tool counts and finds only what the caller may see", async () => {
  await using opened = await open({ hidden: ["slack.*"] });
  const { find, tools, tool } = opened;
  const args = { tool_description: "send a slack message" };
  const [seen, all] = [await find(args), await find(args, "owner")];
  assert.ok(seen.tools.every(({ backend_id }) => backend_id === "github"));
  assert.equal(all.tools[0]?.name, "send_message");
  assert.equal(
    all.token_metrics.baseline_tokens - seen.token_metrics.baseline_tokens,
    Math.ceil(tool("slack.send_message").text.length / 4),
  );
  assert.match(descriptionOf(tools[0]!, EVERYONE), /among 2 that .* Servers: github \(2\)\.$/);
});

Deno.test("optim.find_tool takes a limit of at most 100", async () => {
  await using opened = await open();
  const [find] = opened.tools;
  for (const limit of [0, 101]) {
    assert.ok(!find!.input.safeParse({ tool_description: "x", limit }).success);
  }
  assert.equal(find!.input.parse({ tool_description: "x" }).limit, 10);
});

Deno.test("optim.call_tool calls a tool of its backend, and of no other", async () => {
  await using opened = await open();
  const { call, tool } = opened;
  const expected = { forward: tool("github.create_issue"), argumentsIn: "parameters" };
  for (const name of ["create_issue", "github_create_issue", "github.create_issue"]) {
    assert.deepEqual(await call("github", name, { title: "x" }), expected);
  }
  const other = await failure(call("slack", "create_issue", { title: "x" }), "TOOL_NOT_FOUND");
  assert.equal(other.message, 'slack has no tool "create_issue"');
  assert.equal(other.details.hint, "Did you mean github_create_issue?");
  const nowhere = await failure(call("slak", "send_message"), "SERVER_NOT_FOUND");
  assert.equal(nowhere.details.hint, "Did you mean slack?");
  const wrong = await call("github", "create_issue", { title: 1 });
  assert.ok("refusal" in wrong);
  assert.match(
    wrong.refusal!.message,
    /^github\.create_issue: title: must be "string", not number$/,
  );
});

Deno.test("optim.call_tool answers for what is hidden as for what is not there", async () => {
  await using opened = await open({ hidden: ["slack.*", "github.list_branches"] });
  const { call } = opened;
  const message = async (backend: string, tool: string, code: Parameters<typeof failure>[1]) =>
    (await failure(call(backend, tool), code)).toBody().message.replace(tool, "X")
      .replace(backend, "Y");
  assert.equal(
    await message("slack", "send_message", "SERVER_NOT_FOUND"),
    await message("nowhere", "send_message", "SERVER_NOT_FOUND"),
  );
  assert.equal(
    await message("github", "list_branches", "TOOL_NOT_FOUND"),
    await message("github", "nothing", "TOOL_NOT_FOUND"),
  );
  assert.equal(
    await message("github", "send_message", "TOOL_NOT_FOUND"),
    await message("github", "nothing", "TOOL_NOT_FOUND"),
  );
});

Deno.test("optim.call_tool says that a tool is disabled", async () => {
  await using opened = await open();
  opened.catalog.setEnabled("slack", []);
  await failure(opened.call("slack", "send_message"), "TOOL_DISABLED");
});
