import assert from "node:assert/strict";
import { chooseTools } from "./choose_tools.ts";
import { catalogOf } from "./testing.ts";

const { catalog, table } = catalogOf({
  git: ["status", "log-all", "push"],
  docker: ["ps", "status"],
  off: ["one"],
});
catalog.setEnabled("git", ["status", "log-all"]);
catalog.setEnabled("off", []);

function choose(...written: string[]) {
  const { tools, unmatched } = chooseTools(table(), written);
  return { names: tools.map(({ server, name }) => `${server}.${name}`), unmatched };
}

Deno.test("chooseTools() takes every name of a tool, and each tool once", () => {
  const { names, unmatched } = choose(
    "docker.ps",
    "git.log-all",
    "git_log_all",
    " log-all ",
    "docker_ps",
    "git.log-all",
  );
  assert.deepEqual(names, ["docker.ps", "git.log-all"]);
  assert.deepEqual(unmatched, []);
});

Deno.test("chooseTools() takes `server.*` for all enabled tools of a server", () => {
  assert.deepEqual(choose("git.*").names, ["git.status", "git.log-all"]);
  assert.deepEqual(choose("git.log-all", "docker.*", "git.*").names, [
    "git.log-all",
    "docker.ps",
    "docker.status",
    "git.status",
  ]);
});

Deno.test("chooseTools() says which server or tool may have been meant", () => {
  const { names, unmatched } = choose("gti.*", "git.status", "git.statsu");
  assert.deepEqual(names, ["git.status"]);
  assert.deepEqual(unmatched, [
    {
      written: "gti.*",
      reason: 'There is no server "gti" with tools',
      nearest: ["git.*"],
    },
    {
      written: "git.statsu",
      reason: 'There is no tool "git.statsu" here',
      nearest: ["git.status"],
    },
  ]);
});

Deno.test("chooseTools() does not guess between servers that have a tool of the same name", () => {
  const { names, unmatched } = choose("status");
  assert.deepEqual(names, []);
  assert.deepEqual(unmatched[0]?.nearest, ["git.status", "docker.status"]);
});

Deno.test("chooseTools() leaves out what is disabled, and says so where it was named", () => {
  const { names, unmatched } = choose("git.push");
  assert.deepEqual(names, []);
  assert.match(unmatched[0]?.reason ?? "", /"git\.push" is disabled on server "git"/);
  assert.deepEqual(unmatched[0]?.nearest, []);
});

Deno.test("chooseTools() does not pass over `server.*` of a server with nothing to choose", () => {
  const { names, unmatched } = choose("off.*", "docker.ps");
  assert.deepEqual(names, ["docker.ps"]);
  assert.deepEqual(unmatched.map(({ reason }) => reason), [
    'Server "off" has no enabled tools',
  ]);
});

Deno.test("chooseTools() knows nothing of what does not exist for the caller", () => {
  const choose = (...written: string[]) =>
    chooseTools(table(), written, ({ server, name }) => server === "git" && name !== "log-all");
  const { tools, unmatched } = choose("git.*", "status");
  assert.deepEqual(tools.map(({ server, name }) => `${server}.${name}`), ["git.status"]);
  assert.deepEqual(unmatched, []);
  const hidden = choose("docker.*", "dokcer.*", "docker.ps", "docker:ps", "git.log-al");
  assert.deepEqual(hidden.tools, []);
  assert.deepEqual(hidden.unmatched.flatMap(({ nearest }) => nearest), []);
  assert.match(hidden.unmatched[0]!.reason, /There is no server "docker" with tools/);
});

Deno.test("chooseTools() finds nothing under names that are no names", () => {
  const hostile = [
    "",
    " ",
    ".",
    ".*",
    "*",
    ".*.*",
    "git.",
    "git..*",
    ".status",
    "constructor",
    "__proto__",
    "constructor.*",
    "__proto__.*",
    "__proto__.toString",
    "git.__proto__",
    "git.constructor",
    "git\0.status",
    "x".repeat(10_000),
    `${"x".repeat(10_000)}.*`,
    `git.${"x".repeat(10_000)}`,
  ];
  const { names, unmatched } = choose(...hostile);
  assert.deepEqual(names, []);
  assert.deepEqual(unmatched.map(({ written }) => written), hostile);
  for (const { reason } of unmatched) assert.ok(reason.length < 300, reason);
});
