import assert from "node:assert/strict";
import {
  AccessScope,
  credentialOf,
  inProject,
  matcherOf,
  ownerOf,
  projectOf,
  serverMatcherOf,
} from "./access.ts";

Deno.test("matcherOf() admits by one pattern and keeps out by another", () => {
  const cases: [string[], string, boolean][] = [
    [["*"], "git", true],
    [["git"], "git", true],
    [["git"], "github", false],
    [["git*"], "github", true],
    [["*.read_*"], "files.read_text", true],
    [["*.read_*"], "files.write", false],
    [["git.*", "!git.push"], "git.push", false],
    [["git.*", "!git.push"], "git.status", true],
    [["!git.push"], "files.read", true],
    [["*", "!secret*"], "secrets", false],
    [["a.c"], "abc", false],
    [["*a*b"], "aab", true],
  ];
  for (const [patterns, name, expected] of cases) {
    assert.equal(matcherOf(patterns)(name), expected, `${patterns} ${name}`);
  }
});

Deno.test("serverMatcherOf() admits servers that can have a tool that is admitted", () => {
  const cases: [string[], string, boolean][] = [
    [["*"], "git", true],
    [["git.status"], "git", true],
    [["git.status"], "hush", false],
    [["*.read_*"], "hush", true],
    [["g*"], "git", true],
    [["g*"], "hush", false],
    [["git."], "git", false],
    [["*", "!hush.*"], "hush", false],
    [["*", "!hush.secret"], "hush", true],
    [["!hush*"], "hush", false],
  ];
  for (const [patterns, server, expected] of cases) {
    assert.equal(serverMatcherOf(patterns)(server), expected, `${patterns} ${server}`);
  }
});

Deno.test("matcherOf() is not slowed down by stars", () => {
  const admits = matcherOf([`${"*a".repeat(60)}*b`]);
  assert.equal(admits("a".repeat(5_000)), false);
});

Deno.test("AccessScope wants a right, and patterns that mean something", () => {
  assert.equal(AccessScope.safeParse({ rights: [] }).success, false);
  assert.equal(AccessScope.safeParse({ rights: ["call"], servers: ["a b"] }).success, false);
  assert.deepEqual(AccessScope.parse({ rights: ["call"] }), {
    rights: ["call"],
    servers: ["*"],
    toolsets: ["*"],
    tools: ["*"],
  });
});

Deno.test("ownerOf() is the person, whatever the project and the scopes", () => {
  const principals = ["oauth:ann", "oauth:ann#1", "oauth:ann#2", inProject("oauth:ann#1", "web")];
  for (const principal of principals) assert.equal(ownerOf(principal), "oauth:ann", principal);
  assert.equal(ownerOf("token:a@web"), "token:a");
  assert.equal(ownerOf("everyone"), "everyone");
});

Deno.test("credentialOf() is what rights are bound to, projectOf() where it is used", () => {
  assert.deepEqual(
    ["oauth:ann#1@web", "oauth:ann#1", "token:a@web"].map((principal) => [
      credentialOf(principal),
      projectOf(principal),
    ]),
    [["oauth:ann#1", "web"], ["oauth:ann#1", undefined], ["token:a", "web"]],
  );
});
