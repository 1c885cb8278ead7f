import assert from "node:assert/strict";
import { canonicalText } from "../catalog/catalog_tool.ts";
import { ownOffer } from "../catalog/listed_to.ts";
import { EVERYONE } from "../core/access.ts";
import { failure } from "../storage/testing/failures.ts";
import type { FoundTool } from "../catalog/search/module.ts";
import { isPoor } from "./tool_directory.ts";
import { openDirectory } from "./testing/open_directory.ts";

const SERVERS = {
  git: [
    { name: "status", description: "Show the state of the git repository" },
    { name: "push", description: "Push commits to the git remote" },
    { name: "secret_push", description: "Push secret commits to the git remote" },
  ],
  vault: [{ name: "read_password", description: "Read a password and its credentials" }],
};
const HIDDEN = ["git.secret_push", "vault.*"];

Deno.test("ToolDirectory.visible() leaves out what is disabled, and what the caller may not see", async () => {
  await using opened = await openDirectory({ servers: SERVERS, hidden: HIDDEN });
  const { directory, catalog } = opened;
  const names = (principal: string, withDisabled?: boolean) =>
    directory.visible(principal, withDisabled).map(({ name }) => name);
  assert.deepEqual(names(EVERYONE), ["status", "push"]);
  assert.deepEqual(names("owner"), ["status", "push", "secret_push", "read_password"]);
  catalog.setEnabled("git", ["push"]);
  assert.deepEqual(names(EVERYONE), ["push"]);
  assert.deepEqual(names(EVERYONE, true), ["status", "push"]);
});

Deno.test("ToolDirectory.find() finds nothing that the caller may not see", async () => {
  await using opened = await openDirectory({ servers: SERVERS, hidden: HIDDEN });
  const { directory, catalog } = opened;
  const names = async (principal: string, text: string) =>
    (await directory.find(principal, { text, limit: 10 })).found.map(({ tool }) => tool.name)
      .sort();
  assert.deepEqual(await names(EVERYONE, "secret_push"), ["push"]);
  assert.deepEqual(await names(EVERYONE, "push commits"), ["push"]);
  assert.deepEqual(await names(EVERYONE, "password credentials"), []);
  assert.deepEqual(await names("owner", "password credentials"), ["read_password"]);
  catalog.setEnabled("git", ["status"]);
  assert.deepEqual(await names("owner", "push commits"), []);
});

Deno.test("ToolDirectory.forOffer() shows a tool of one owner's process only to that owner", async () => {
  await using opened = await openDirectory({ servers: SERVERS });
  const { catalog } = opened;
  const texts = catalog.of("git").tools.map(canonicalText);
  catalog.setListed("git", texts, new Map([["push", [ownOffer("a", "token:ann")]]]));
  const directory = opened.directory.forOffer("a");
  const find = async (principal: string) =>
    (await directory.find(principal, { text: "push commits", limit: 10 })).found
      .map(({ tool }) => tool.name).sort();
  assert.deepEqual(await find("token:ann"), ["push", "secret_push"]);
  assert.deepEqual(await find("token:bob"), ["secret_push"]);
  assert.equal((await directory.resolve("token:ann", "git.push")).name, "push");
  await assert.rejects(directory.resolve("token:bob", "git.push"));
});

Deno.test("ToolDirectory.find() filters by category and server", async () => {
  await using opened = await openDirectory({ servers: SERVERS });
  const { directory } = opened;
  const find = async (more: { category?: string; server?: string }) =>
    (await directory.find(EVERYONE, { text: "password commits", limit: 10, ...more })).found
      .map(({ tool }) => tool.name);
  assert.equal((await find({ category: "AUTH" }))[0], "read_password");
  assert.deepEqual((await find({ server: "git" })).sort(), ["push", "secret_push"]);
  const ofGit = await find({ category: "auth", server: "git" });
  assert.ok(!ofGit.includes("read_password"), "another server's tool is no answer");
});

Deno.test("ToolDirectory counts and names categories of what the caller may see alone", async () => {
  await using opened = await openDirectory({ servers: SERVERS, hidden: HIDDEN });
  const { directory } = opened;
  await directory.prepare();
  const count = (principal: string) =>
    directory.categories(directory.visible(principal)).map(([name, own]) => [name, own.length]);
  assert.deepEqual(count(EVERYONE), [["git", 2]]);
  assert.deepEqual(count("owner"), [["git", 3], ["auth", 1]]);
  assert.deepEqual(directory.nearestCategories(EVERYONE, "auht"), []);
  assert.deepEqual(directory.nearestCategories("owner", "auht"), ["auth"]);
});

Deno.test("ToolDirectory.resolve() takes keys, all names of a tool, and server:tool", async () => {
  await using opened = await openDirectory({ servers: SERVERS });
  const { directory, tool } = opened;
  const push = tool("git.push");
  const key = await directory.keyFor(push, EVERYONE);
  for (const name of [key, "git_push", "git.push", "push", "git:push"]) {
    assert.equal(await directory.resolve(EVERYONE, name), push, name);
  }
  await failure(directory.resolve("somebody else", key), "TOOLKEY_INVALID");
});

Deno.test("ToolDirectory.resolve() answers for what is hidden as for what is not there", async () => {
  await using opened = await openDirectory({ servers: SERVERS, hidden: HIDDEN });
  const { directory } = opened;
  /** The error for a name, with the name itself taken out of it. */
  const error = async (name: string) => {
    const body = (await failure(directory.resolve(EVERYONE, name), "TOOL_NOT_FOUND")).toBody();
    return { message: body.message.replaceAll(name, "X"), steps: body.recoverySteps };
  };
  const unknown = await error("nowhere");
  for (
    const name of [
      "git.secret_push",
      "git_secret_push",
      "secret_push",
      "git:secret_push",
      "vault:read_password",
      "read_password",
    ]
  ) {
    assert.deepEqual(await error(name), unknown, name);
  }
});

Deno.test("ToolDirectory.resolve() offers the three nearest names, and none that are hidden", async () => {
  await using opened = await openDirectory({
    servers: {
      ...SERVERS,
      github: ["create_issue", "list_issues", "close_issue", "star"].map((name) => ({ name })),
    },
    hidden: HIDDEN,
  });
  const { directory } = opened;
  const near = async (name: string) =>
    (await failure(directory.resolve(EVERYONE, name), "TOOL_NOT_FOUND")).details;
  assert.deepEqual((await near("git_puhs")).suggestedTools?.[0], "git_push");
  // Too far from the whole names, and found by its words.
  const { suggestedTools = [], hint } = await near("create-issues");
  assert.equal(suggestedTools.length, 3);
  assert.equal(suggestedTools[0], "github_create_issue");
  assert.match(hint ?? "", /^Did you mean github_create_issue, /);
  for (const name of ["secret_push", "git_secret_pusj", "vault_read_passwort", "password"]) {
    const { hint = "", suggestedTools = [] } = await near(name);
    assert.doesNotMatch([hint, ...suggestedTools].join(" "), /secret|vault/, name);
  }
});

Deno.test("ToolDirectory.resolve() names the tools that share a name, and no others", async () => {
  const [github, gitlab] = [[{ name: "create_issue" }], [{ name: "create_issue" }]];
  const linear = [{ name: "create_issues" }];
  await using opened = await openDirectory({ servers: { github, gitlab, linear } });
  const { details } = await failure(
    opened.directory.resolve(EVERYONE, "create_issue"),
    "TOOL_NOT_FOUND",
  );
  assert.deepEqual(details.suggestedTools, ["github_create_issue", "gitlab_create_issue"]);
});

Deno.test("ToolDirectory.resolve() says that a key's tool is no longer the caller's", async () => {
  const hidden: string[] = [];
  await using opened = await openDirectory({ servers: SERVERS, hidden });
  const { directory, tool, catalog } = opened;
  const key = await directory.keyFor(tool("git.push"), EVERYONE);
  hidden.push("git.push");
  await failure(directory.resolve(EVERYONE, key), "ACCESS_DENIED");
  hidden.pop();
  catalog.setEnabled("git", ["status"]);
  for (const name of [key, "git_push", "git:push"]) {
    await failure(directory.resolve(EVERYONE, name), "TOOL_DISABLED");
  }
});

Deno.test("ToolDirectory.related() names what is used together first, and nothing that is hidden", async () => {
  await using opened = await openDirectory({
    servers: { ...SERVERS, docker: [{ name: "ps" }, { name: "rm" }] },
    hidden: HIDDEN,
    usedWith: { "git.push": ["vault.read_password", "docker.ps", "git.secret_push", "gone.gone"] },
  });
  const { directory, tool, catalog } = opened;
  await directory.prepare();
  assert.deepEqual(directory.related(EVERYONE, tool("git.push"), 5), ["docker_ps", "git_status"]);
  assert.deepEqual(directory.related("owner", tool("git.push"), 3), [
    "vault_read_password",
    "docker_ps",
    "git_secret_push",
  ]);
  catalog.setEnabled("docker", ["rm"]);
  assert.deepEqual(directory.related(EVERYONE, tool("git.push"), 5), ["git_status"]);
});

Deno.test("ToolDirectory.tokenMetrics() add up, for what the caller may see, and for nothing at all", async () => {
  await using opened = await openDirectory({ servers: SERVERS, hidden: HIDDEN });
  const { directory, tool, list } = opened;
  const cost = (name: string) => Math.ceil(tool(name).text.length / 4);
  const [push, status] = [cost("git.push"), cost("git.status")];
  assert.deepEqual(await directory.tokenMetrics(EVERYONE, push), {
    baseline_tokens: push + status,
    returned_tokens: push,
    tokens_saved: status,
    savings_percentage: Math.round(status / (push + status) * 1000) / 10,
  });
  const sent = { baseline: push + status, listed: 2, answered: 3 };
  const { tokens_saved } = await directory.tokenMetrics(EVERYONE, push, sent);
  assert.equal(tokens_saved, status - 5, "what the session was sent before is not saved");
  assert.equal((await directory.tokenMetrics(EVERYONE, 10_000)).tokens_saved, 0);
  list("git", []);
  assert.deepEqual(await directory.tokenMetrics(EVERYONE, 0), {
    baseline_tokens: 0,
    returned_tokens: 0,
    tokens_saved: 0,
    savings_percentage: 0,
  });
});

Deno.test("isPoor() doubts what is found where the best of it is unlikely, or nothing", async () => {
  await using opened = await openDirectory({ servers: SERVERS });
  const found = (...relevances: number[]): FoundTool[] =>
    relevances.map((relevance) => ({ tool: opened.tool("git.push"), relevance, explanation: "" }));
  assert.deepEqual(
    [isPoor([]), isPoor(found(0.05, 0.01)), isPoor(found(0.2, 0.01)), isPoor(found(1))],
    [true, true, false, false],
  );
});
