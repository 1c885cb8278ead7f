import assert from "node:assert/strict";
import * as z from "zod";
import { EVERYONE } from "../core/access.ts";
import { failure } from "../storage/testing/failures.ts";
import { descriptionOf } from "./builtin_tool.ts";
import { indexTools } from "./index_tools.ts";
import { type Listed, openDirectory, run } from "./testing/open_directory.ts";

const SERVERS: Record<string, Listed[]> = {
  git: [
    {
      name: "push",
      description: "Push commits to the git remote.\n\nAnd more.",
      inputSchema: {
        type: "object",
        properties: {
          remote: { type: "string", description: "Where to" },
          mode: { type: "string", enum: ["fast", "safe"], default: "safe" },
          tries: { type: "integer", minimum: 1, maximum: 9, default: 3 },
          options: { type: "object", properties: { dry: { type: "boolean", default: false } } },
        },
        required: ["remote"],
      },
    },
    { name: "status", description: "Show the state of the git repository" },
    { name: "old_push", description: "Deprecated: use push instead." },
  ],
  slack: [{ name: "send_message", description: "Send a message to a slack channel" }],
};

const Listing = z.strictObject({
  total: z.number(),
  categories: z.array(z.string()),
  category_counts: z.record(z.string(), z.number()).optional(),
  page: z.number().optional(),
  pages: z.number().optional(),
  hint: z.string().optional(),
  tools: z.array(z.strictObject({
    name: z.string(),
    summary: z.string().max(80),
    category: z.string(),
    enabled: z.boolean(),
    deprecated: z.literal(true).optional(),
  })),
});
const Described = z.looseObject({
  name: z.string(),
  parameters: z.record(z.string(), z.looseObject({ type: z.string(), required: z.boolean() })),
  examples: z.array(z.looseObject({ invocation: z.looseObject({}) })).optional(),
  related_tools: z.array(z.string()),
});

async function open(input: Partial<Parameters<typeof openDirectory>[0]> = {}) {
  const opened = await openDirectory({ servers: SERVERS, ...input });
  const tools = indexTools(opened.directory);
  return {
    ...opened,
    tools,
    async all(args: Record<string, unknown> = {}, principal?: string) {
      return Listing.parse(await run(tools, "list_available_tools", args, principal));
    },
    async describe(tool_name: string, more: Record<string, unknown> = {}, principal?: string) {
      const args = { tool_name, ...more };
      return Described.parse(await run(tools, "get_tool_description", args, principal));
    },
  };
}

Deno.test("list_available_tools gives name, summary and category of each", async () => {
  await using opened = await open();
  const { all } = opened;
  assert.deepEqual(await all(), {
    total: 4,
    categories: ["git", "messaging"],
    tools: [
      {
        name: "git_push",
        summary: "Push commits to the git remote",
        category: "git",
        enabled: true,
      },
      {
        name: "git_status",
        summary: "Show the state of the git repository",
        category: "git",
        enabled: true,
      },
      {
        name: "git_old_push",
        summary: "Use push instead",
        category: "git",
        enabled: true,
        deprecated: true,
      },
      {
        name: "slack_send_message",
        summary: "Send a message to a slack channel",
        category: "messaging",
        enabled: true,
      },
    ],
  });
  const { tools, total } = await all({ category: "Messaging" });
  assert.deepEqual([total, tools.map(({ name }) => name)], [1, ["slack_send_message"]]);
  const none = await all({ category: "mesaging" });
  assert.deepEqual([none.total, none.hint], [
    0,
    "No tool is in that category. Did you mean messaging?",
  ]);
});

Deno.test("list_available_tools shows disabled tools where told, and hidden ones never", async () => {
  await using opened = await open({ hidden: ["slack.*", "git.status"] });
  const { all, catalog } = opened;
  catalog.setEnabled("git", ["push", "status"]);
  const names = async (more: object, principal?: string) =>
    (await all({ ...more }, principal)).tools.map(({ name, enabled }) => [name, enabled]);
  assert.deepEqual(await names({}), [["git_push", true]]);
  assert.deepEqual(await names({ include_disabled: true }), [
    ["git_push", true],
    ["git_old_push", false],
  ]);
  assert.deepEqual((await all()).categories, ["git"]);
  assert.equal((await all({ category: "mesaging" })).hint, "No tool is in that category.");
  assert.equal((await all({}, "owner")).total, 3);
});

Deno.test("list_available_tools goes page by page, with the counts of all categories first", async () => {
  const git = Array.from({ length: 230 }, (_, n) => ({ name: `git_${n}` }));
  await using opened = await open({ servers: { git, slack: SERVERS.slack! } });
  const { all } = opened;
  const first = await all();
  assert.deepEqual(Object.keys(first), [
    "total",
    "categories",
    "category_counts",
    "page",
    "pages",
    "hint",
    "tools",
  ]);
  assert.deepEqual([first.total, first.page, first.pages], [231, 1, 3]);
  assert.deepEqual(first.categories, ["git", "messaging"]);
  assert.deepEqual(first.category_counts, { git: 230, messaging: 1 });
  const pages = [first, await all({ page: 2 }), await all({ page: 3 })];
  assert.deepEqual(pages.map(({ tools }) => tools.length), [100, 100, 31]);
  assert.equal(new Set(pages.flatMap(({ tools }) => tools.map(({ name }) => name))).size, 231);
  const beyond = await all({ page: 4 });
  assert.deepEqual([beyond.tools, beyond.hint], [[], "There are only 3 pages"]);
  assert.equal((await all({ category: "messaging" })).pages, undefined);
});

Deno.test("list_available_tools is described by what is connected, for each caller", async () => {
  await using opened = await open({ hidden: ["slack.*"] });
  const text = (principal: string) => descriptionOf(opened.tools[0]!, principal);
  assert.match(text(EVERYONE), /^List all 3 tools .*tool_execute.* Servers: git \(3\)\.$/);
  assert.match(text("owner"), /^List all 4 tools .* Servers: git \(3\), slack \(1\)\.$/);
});

Deno.test("get_tool_description gives the parameters, examples and what goes with it", async () => {
  await using opened = await open({ usedWith: { "git.push": ["slack.send_message"] } });
  const { describe } = opened;
  const push = await describe("git_push");
  assert.deepEqual(push, {
    name: "git_push",
    server: "git",
    category: "git",
    description: "Push commits to the git remote.\n\nAnd more.",
    parameters: {
      remote: { type: "string", description: "Where to", required: true },
      mode: { type: "string", required: false, default: "safe", enum: ["fast", "safe"] },
      tries: { type: "integer", required: false, default: 3, limits: "1 to 9" },
      options: { type: "object", required: false },
      "options.dry": { type: "boolean", required: false, default: false },
    },
    related_tools: ["slack_send_message", "git_status"],
  });
  for (const name of ["git.push", "push", "git:push"]) {
    assert.deepEqual(await describe(name, { include_examples: false }), push);
  }
  assert.equal((await describe("git_old_push")).deprecated, "use push instead.");
});

Deno.test("get_tool_description copes with more choices, and longer values, than it shows", async () => {
  const choices = Array.from({ length: 40 }, (_, n) => `choice ${n}`);
  const inputSchema = {
    type: "object",
    properties: {
      one: { type: "string", enum: choices },
      text: { type: "string", default: "long ".repeat(100) },
    },
  };
  await using opened = await open({ servers: { git: [{ name: "pick", inputSchema }] } });
  const { parameters: { one, text } } = await opened.describe("pick");
  assert.deepEqual(one!.enum, [...choices.slice(0, 30), "10 more"]);
  assert.match(String(text!.default), /^"long long .*…$/);
});

Deno.test("get_tool_description of an unknown name offers the nearest, and of no hidden one", async () => {
  await using opened = await open({ hidden: ["slack.*"] });
  const { describe, catalog } = opened;
  const near = async (name: string) =>
    (await failure(describe(name), "TOOL_NOT_FOUND")).details.suggestedTools ?? [];
  assert.equal((await near("git_psh"))[0], "git_push");
  assert.deepEqual(await near("slack_send_mesage"), []);
  await failure(describe("slack_send_message"), "TOOL_NOT_FOUND");
  catalog.setEnabled("git", ["push"]);
  await failure(describe("git_status"), "TOOL_DISABLED");
  assert.deepEqual((await describe("git_push")).related_tools, []);
});
