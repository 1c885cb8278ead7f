import assert from "node:assert/strict";
import * as z from "zod";
import { EVERYONE } from "../core/access.ts";
import { TokenCounter } from "../core/token_counter.ts";
import { KEY_MINUTES } from "../catalog/tool_keys.ts";
import { failure } from "../storage/testing/failures.ts";
import { describeBuiltin, descriptionOf } from "./builtin_tool.ts";
import { discoveryTools, forwardTo, ToolArguments } from "./discovery_tools.ts";
import { type Listed, openDirectory, run, runAny } from "./testing/open_directory.ts";
import { Catalog } from "../catalog/catalog.ts";

const PUSH: Listed = {
  name: "push",
  description: `Push commits to the git remote. ${"It goes on and on. ".repeat(20)}`,
  inputSchema: {
    type: "object",
    properties: { remote: { type: "string" }, force: { type: "boolean" } },
    required: ["remote"],
  },
  outputSchema: { type: "object", properties: { pushed: { type: "boolean" } } },
  annotations: { destructiveHint: true },
};
const SERVERS: Record<string, Listed[]> = {
  git: [
    PUSH,
    ...["status", "log", "diff", "stash"].map((name) => ({ name, description: `Git ${name}` })),
  ],
  slack: [{ name: "send_message", description: "Send a message to a slack channel" }],
};

const Discovered = z.looseObject({
  tools: z.array(z.looseObject({ toolKey: z.string(), toolName: z.string() })),
  hint: z.string().optional(),
  nearestCategories: z.array(z.string()).optional(),
  metadata: z.strictObject({
    query: z.array(z.string()),
    detailLevel: z.string(),
    resultCount: z.number(),
    expiration: z.strictObject({
      expiresAt: z.string(),
      expiresInSeconds: z.number(),
      ttlMinutes: z.literal(KEY_MINUTES),
    }),
  }),
});
const Capabilities = z.strictObject({
  totalTools: z.number(),
  categories: z.array(z.strictObject({
    name: z.string(),
    description: z.string(),
    toolCount: z.number(),
    examples: z.array(z.string()).max(3),
  })),
  servers: z.array(z.strictObject({
    name: z.string(),
    serverId: z.string(),
    toolCount: z.number(),
    status: z.string(),
    categories: z.array(z.string()),
    examples: z.array(z.string()).max(3),
  })),
  hint: z.string().optional(),
  nearestCategories: z.array(z.string()).optional(),
});

async function open(input: Partial<Parameters<typeof openDirectory>[0]> = {}) {
  const opened = await openDirectory({ servers: SERVERS, ...input });
  const tools = discoveryTools(opened.directory);
  return {
    ...opened,
    tools,
    async discover(args: Record<string, unknown>, principal?: string) {
      return Discovered.parse(await run(tools, "tool_discovery", args, principal));
    },
    async capabilities(args: Record<string, unknown> = {}, principal?: string) {
      return Capabilities.parse(await run(tools, "tool_capabilities", args, principal));
    },
    execute: (args: Record<string, unknown>) => runAny(tools, "tool_execute", args),
  };
}

Deno.test("tool_discovery gives each level its fields, and no others", async () => {
  await using opened = await open();
  const { discover, tool } = opened;
  const first = async (args: Record<string, unknown>) =>
    (await discover({ query: "push commits", ...args })).tools[0]!;
  const minimal = await first({ detailLevel: "minimal" });
  assert.deepEqual(Object.keys(minimal), ["toolKey", "toolName", "serverName"]);
  const summary = await first({});
  assert.deepEqual(Object.keys(summary), [
    ...Object.keys(minimal),
    "description",
    "relevance",
  ]);
  assert.equal(String(summary.description).length, 150);
  assert.match(String(summary.description), /^Push commits to the git remote\. .*…$/);
  const full = await first({ detailLevel: "full" });
  const { description, inputSchema, outputSchema, annotations } = tool("git.push").definition;
  assert.deepEqual(
    [full.description, full.inputSchema, full.outputSchema, full.annotations],
    [description, inputSchema, outputSchema, annotations],
  );
  assert.deepEqual(
    [full.name, full.serverId, full.serverName, full.category],
    ["git_push", "git", "git", "git"],
  );
  assert.match(String(full.explanation), /push/);
  assert.deepEqual(await first({ detail_level: "minimal" }), minimal);
});

Deno.test("tool_discovery at minimal costs at most 12 tokens a tool, one line each", async () => {
  const servers = Object.fromEntries(
    ["github", "filesystem", "playwright", "google-calendar"].map((server) => [
      server,
      ["create_issue", "list_directory_with_sizes", "browser_take_screenshot", "search-events"]
        .map((name) => ({ name, description: `Does the work of ${name} for a user` })),
    ]),
  );
  await using opened = await open({ servers });
  const args = { query: "work for a user", detailLevel: "minimal", maxResults: 16 };
  const found = await runAny(opened.tools, "tool_discovery", args);
  assert.ok("data" in found);
  const lines = found.text.split("\n").slice(0, 16);
  const { tools } = Discovered.parse(found.data);
  assert.deepEqual(lines, tools.map(({ serverName, toolName }) => `${serverName}.${toolName}`));
  using counter = new TokenCounter();
  const [tokens = 0] = await counter.count([found.text]);
  assert.ok(tokens > 16 && tokens / 16 <= 12, `${tokens} tokens`);
  const call = await opened.execute({ toolKey: lines[0]! });
  assert.ok("forward" in call, "a line is as good as a key");
});

Deno.test("tool_discovery cuts no character in two", async () => {
  const description = `commits ${"x".repeat(140)}\u{1F30D}\u{1F30D}`;
  await using opened = await open({ servers: { git: [{ name: "push", description }] } });
  const { tools: [found] } = await opened.discover({ query: "commits" });
  assert.equal(found!.description, `commits ${"x".repeat(140)}…`);
});

Deno.test("tool_discovery takes a text for an array, and says what it was asked and until when", async () => {
  await using opened = await open();
  const { discover } = opened;
  const started = Date.now();
  const array = await discover({ query: ["push", "commits"] });
  const text = await discover({ query: "push commits" });
  assert.deepEqual(array.metadata.query, ["push", "commits"]);
  assert.deepEqual(text.metadata.query, ["push commits"]);
  const relevances = ({ tools }: typeof text) =>
    tools.map(({ toolName, relevance }) => [toolName, relevance]);
  assert.deepEqual(relevances(array), relevances(text));
  const { metadata } = text;
  assert.deepEqual([metadata.detailLevel, metadata.resultCount], ["summary", text.tools.length]);
  const ends = Date.parse(metadata.expiration.expiresAt);
  assert.ok(ends > started + (KEY_MINUTES - 1) * 60_000 && ends <= Date.now() + 60 * 60_000);
});

Deno.test("tool_discovery returns 10 tools by default and at most 100", async () => {
  const many = Array.from({ length: 150 }, (_, n) => ({
    name: `send_${n}`,
    description: `Send message number ${n}`,
  }));
  await using opened = await open({ servers: { slack: many } });
  const { discover, tools } = opened;
  const count = async (more: object) =>
    (await discover({ query: "send message", ...more })).tools.length;
  assert.deepEqual(
    [await count({}), await count({ maxResults: 3 }), await count({ maxResults: 100 })],
    [10, 3, 100],
  );
  for (const maxResults of [0, 101, 2.5, -1]) {
    const parsed = tools[0]!.input.safeParse({ query: "send", maxResults });
    assert.ok(!parsed.success && /maxResults/.test(z.prettifyError(parsed.error)));
  }
});

Deno.test("tool_discovery filters by category, and says which there are", async () => {
  await using opened = await open({ hidden: ["slack.*"] });
  const { discover } = opened;
  const names = async (category: string, principal?: string) =>
    (await discover({ query: "send push", category }, principal)).tools
      .map(({ toolName }) => toolName);
  assert.equal((await names("messaging", "owner"))[0], "send_message");
  assert.deepEqual(await names("Git"), ["push"]);
  assert.equal((await names("Git", "owner"))[0], "push", "others follow, and are not hidden");
  const hint = async (principal?: string) => {
    const found = discover({ query: "push", category: "mesaging" }, principal);
    return (await failure(found, "INVALID_ARGUMENTS")).details.hint;
  };
  assert.equal(await hint(), undefined, "no category is near");
  assert.equal(await hint("owner"), "Did you mean messaging?");
});

Deno.test("tool_discovery refuses an empty query", async () => {
  await using opened = await open();
  const { discover, tools } = opened;
  for (const query of ["", "  ", [""], ["", " "]]) {
    const { message } = await failure(discover({ query }), "INVALID_ARGUMENTS");
    assert.match(message, /describe what you need/);
  }
  const parsed = tools[0]!.input.safeParse({ query: [] });
  assert.match(parsed.error?.message ?? "", /describe what you need/);
});

Deno.test("tool_discovery says that there is nothing to be found", async () => {
  await using opened = await open({ servers: {} });
  const { discover, tools } = opened;
  const none = await discover({ query: "push" });
  assert.match(none.hint ?? "", /no server is connected.*tool_capabilities/);
  assert.deepEqual([none.tools, none.nearestCategories], [[], undefined]);
  assert.match(descriptionOf(tools[0]!, EVERYONE), /No server is connected yet/);
});

Deno.test("tool_discovery says back no book that it was asked with", async () => {
  await using opened = await open();
  const { discover } = opened;
  const text = await discover({ query: "push ".repeat(20_000) });
  const list = await discover({ query: Array.from({ length: 5_000 }, () => "push") });
  for (const { metadata } of [text, list]) {
    assert.ok(JSON.stringify(metadata.query).length < 500);
  }
});

Deno.test("tool_discovery is described by what is connected, for each caller", async () => {
  await using opened = await open({ hidden: ["slack.*"] });
  const { tools, list } = opened;
  const text = (principal: string) => descriptionOf(tools[0]!, principal);
  assert.match(text(EVERYONE), /5 tools are not listed.*\nServers: git \(5\)\./s);
  assert.doesNotMatch(text(EVERYONE), /slack/);
  assert.match(text("owner"), /6 tools .*Servers: git \(5\), slack \(1\)\.\n.*"send message"/s);
  for (let n = 0; n < 15; n++) list(`server${n}`, [{ name: "go" }]);
  assert.match(text(EVERYONE), /Servers: git \(5\), (server\d+ \(1\), ){11}and 4 more\./);
  // A name that is no word is no example of what to look for.
  list("git", [{ name: "ps" }]);
  for (let n = 0; n < 15; n++) list(`server${n}`, []);
  assert.doesNotMatch(text(EVERYONE), /Example queries/);
});

Deno.test("tool_discovery lists one name for the level, and takes another", async () => {
  await using opened = await open();
  const { inputSchema } = describeBuiltin(opened.tools[0]!, EVERYONE);
  assert.deepEqual(Object.keys(inputSchema.properties ?? {}), [
    "query",
    "context",
    "maxResults",
    "detailLevel",
    "category",
  ]);
});

Deno.test("tool_execute calls by key and by name, with arguments that fit alone", async () => {
  await using opened = await open();
  const { discover, execute, tool } = opened;
  const { tools: [found] } = await discover({ query: "push commits" });
  for (const toolKey of [found!.toolKey, "git_push", "git.push", "git:push"]) {
    const call = await execute({ toolKey, arguments: { remote: "origin" } });
    assert.deepEqual(call, { forward: tool("git.push"), argumentsIn: "arguments" });
  }
  const wrong = await execute({ toolKey: "git_push", arguments: { remote: 1, force: "yes" } });
  assert.ok("refusal" in wrong);
  assert.equal(wrong.refusal?.code, "INVALID_ARGUMENTS");
  assert.equal(
    wrong.refusal.message,
    'git.push: remote: must be "string", not number; force: must be "boolean", not string',
  );
  const missing = await execute({ toolKey: "git_push" });
  assert.ok("refusal" in missing);
  assert.match(missing.refusal?.message ?? "", /"remote" is missing/);
});

Deno.test("tool_execute tells junk keys, unknown servers and unknown tools apart", async () => {
  await using opened = await open();
  const { execute } = opened;
  const junk = ["", "  ", "junk", "3f2b9c1e-7d7a-4d57-9a52-1f2e3d4c5b6a", "tk_abc", "%&/()"];
  for (const toolKey of junk) {
    const { message } = await failure(execute({ toolKey }), "TOOLKEY_INVALID");
    assert.match(message, /is neither a toolKey nor a tool's name$/);
  }
  const away = await failure(execute({ toolKey: "nope:push" }), "SERVER_NOT_FOUND");
  assert.equal(away.message, 'There is no server "nope"');
  await failure(execute({ toolKey: "nope.frobnicate" }), "SERVER_NOT_FOUND");
  for (const toolKey of ["git:psh", "git.psh"]) {
    const { message, details } = await failure(execute({ toolKey }), "TOOL_NOT_FOUND");
    assert.equal(message, 'git has no tool "psh"');
    assert.deepEqual(details.suggestedTools, ["git_push"]);
  }
  const { details } = await failure(execute({ toolKey: "git_psh" }), "TOOL_NOT_FOUND");
  assert.equal(details.suggestedTools?.[0], "git_push");
});

Deno.test("tool_capabilities counts all tools, with three examples of each", async () => {
  await using opened = await open({
    away: { broken: "failed", lost: "needs_login", off: "disabled" },
  });
  const all = await opened.capabilities();
  assert.equal(all.totalTools, 6);
  assert.deepEqual(
    all.categories.map(({ name, toolCount, examples }) => [name, toolCount, examples]),
    [["git", 5, ["push", "status", "log"]], ["messaging", 1, ["send_message"]]],
  );
  assert.equal(
    all.categories[0]!.description,
    "Version control operations (commit, branch, merge)",
  );
  assert.deepEqual(
    all.servers.map(({ name, toolCount, status }) => [name, toolCount, status]),
    [["git", 5, "running"], ["slack", 1, "running"], ["broken", 0, "error"], ["lost", 0, "error"], [
      "off",
      0,
      "stopped",
    ]],
  );
});

Deno.test("tool_capabilities filters, and says what is not there", async () => {
  await using opened = await open({ away: { broken: "failed" } });
  const { capabilities } = opened;
  const slack = await capabilities({ server: "slack" });
  assert.deepEqual([slack.totalTools, slack.servers.length], [1, 1]);
  assert.deepEqual(slack.categories.map(({ name }) => name), ["messaging"]);
  const git = await capabilities({ category: "GIT" });
  assert.deepEqual([git.totalTools, git.servers.map(({ name }) => name)], [5, ["git"]]);
  const broken = await capabilities({ server: "broken" });
  assert.deepEqual(broken.servers.map(({ status }) => status), ["error"]);
  assert.match((await capabilities({ server: "nowhere" })).hint ?? "", /no server "nowhere"/);
  assert.deepEqual((await capabilities({ category: "gti" })).nearestCategories, ["git"]);
});

Deno.test("tool_capabilities shows and counts only what the caller may see", async () => {
  await using opened = await open({
    hidden: ["slack.*", "git.stash", "safe.*"],
    away: { safe: "failed" },
  });
  const seen = await opened.capabilities();
  assert.equal(seen.totalTools, 4);
  assert.deepEqual(seen.servers.map(({ name, toolCount }) => [name, toolCount]), [["git", 4]]);
  assert.deepEqual(seen.categories.map(({ name, toolCount }) => [name, toolCount]), [["git", 4]]);
  const [hidden, unknown] = [
    await opened.capabilities({ server: "slack" }),
    await opened.capabilities({ server: "snack" }),
  ];
  assert.deepEqual({ ...hidden, hint: "" }, { ...unknown, hint: "" });
  assert.equal((await opened.capabilities({}, "owner")).totalTools, 6);
});

Deno.test("tool_capabilities says why there is nothing", async () => {
  await using opened = await open({ servers: {}, away: { git: "failed" } });
  const none = await opened.capabilities();
  assert.deepEqual([none.totalTools, none.categories], [0, []]);
  assert.deepEqual(none.servers.map(({ name, status }) => [name, status]), [["git", "error"]]);
  assert.match(none.hint ?? "", /see each server's status/);
});

Deno.test("discoveryTools() cost little whatever the servers and tools are called", async () => {
  const description = "\u6587\u66F8\u3092\u691C\u7D22\u3059\u308B".repeat(30);
  const names = Array.from(
    { length: 40 },
    (_, n) => n.toString(16).padStart(64, "3fa85f64-5717-4562-b3fc-2c963f66afa6_"),
  );
  await using opened = await open({
    servers: Object.fromEntries(names.map((name) => [name, [{ name: "go", description }]])),
  });
  using counter = new TokenCounter();
  const listed = opened.tools.map((tool) => describeBuiltin(tool, EVERYONE));
  const [tokens = 0] = await counter.count([JSON.stringify(listed)]);
  assert.ok(tokens > 300 && tokens <= 900, `${tokens} tokens`);
});

function toolWith(properties: Record<string, unknown>, required: string[] = []) {
  const catalog = new Catalog();
  const inputSchema = { type: "object", properties, required, additionalProperties: false };
  catalog.setListed("git", [JSON.stringify({ name: "push", inputSchema })]);
  return catalog.of("git").tools[0]!;
}

Deno.test("ToolArguments takes an object, or one as a text", () => {
  for (const given of [{ a: 1 }, '{"a":1}', ' {\n"a": 1}\n']) {
    assert.deepEqual(ToolArguments.parse(given), { a: 1 });
  }
  for (const given of [{}, "", "  ", "{}"]) assert.deepEqual(ToolArguments.parse(given), {});
  for (const given of [null, 1, [], "[]", "1", "null", "{", '"{}"']) {
    assert.ok(!ToolArguments.safeParse(given).success, JSON.stringify(given));
  }
});

Deno.test("forwardTo() calls with arguments that fit", () => {
  const tool = toolWith({ remote: { type: "string" } });
  assert.deepEqual(forwardTo(tool, { remote: "origin" }, "parameters"), {
    forward: tool,
    argumentsIn: "parameters",
  });
});

Deno.test("forwardTo() names each place and what was expected there", () => {
  const tool = toolWith({
    remote: { type: "string" },
    refs: { type: "array", items: { type: "object", properties: { id: { type: "integer" } } } },
  }, ["remote"]);
  const refused = (args: Record<string, unknown>) => forwardTo(tool, args, "arguments").refusal!;
  const { code, message, details } = refused({ refs: [{ id: 1 }, { id: "x" }], force: true });
  assert.equal(code, "INVALID_ARGUMENTS");
  assert.match(message, /^git\.push: "remote" is missing; /);
  assert.match(message, /refs\.1\.id: must be "integer", not string/);
  assert.match(message, /force: is not a parameter of this tool/);
  assert.deepEqual(details.suggestedTools, [
    "get_tool_description",
    "tool_discovery",
    "optim.find_tool",
  ]);
  assert.equal(details.recoverySteps?.[0], "Correct these arguments and call again");
});
