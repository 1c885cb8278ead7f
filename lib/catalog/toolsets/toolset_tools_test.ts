import assert from "node:assert/strict";
import {
  type Availability,
  chooseTools,
  skippedServers,
  ToolsetNews,
  toolsetState,
} from "./toolset_tools.ts";
import { catalogOf, listed, toolsetOf } from "./testing/toolsets.ts";
import { referenceTo } from "./toolsets.ts";
import type { Toolset } from "../../core/tool.ts";

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
      code: "TOOL_NOT_FOUND",
      reason: 'There is no server "gti" with tools',
      nearest: ["git.*"],
    },
    {
      written: "git.statsu",
      code: "TOOL_NOT_FOUND",
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
    chooseTools(table(), written, {
      admits: ({ server, name }) => server === "git" && name !== "log-all",
    });
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

Deno.test("toolsetState() says how each tool stands", () => {
  const { catalog, table } = catalogOf({
    up: ["there", "off"],
    away: ["known", "off"],
    coming: ["known", "off"],
    removed: ["left"],
  });
  catalog.setEnabled("up", ["there"]);
  catalog.setEnabled("away", ["known"]);
  catalog.setEnabled("coming", ["known"]);
  const availability: Record<string, Availability> = {
    up: "available",
    away: "away",
    coming: "coming",
  };
  const toolset = toolsetOf("all", [
    "up.there",
    "up.off",
    "up.never",
    "away.known",
    "away.off",
    "away.never",
    "coming.known",
    "coming.off",
    "coming.never",
    "removed.left",
    "nobody.ever",
    "constructor.toString",
  ]);
  const tools = toolsetState(
    toolset,
    table(),
    (server) => Object.hasOwn(availability, server) ? availability[server]! : "unknown",
  );
  const states = tools.map(({ reference: { server, tool }, state }) =>
    `${server}.${tool}: ${state}`
  );
  assert.deepEqual(states, [
    "up.there: registered",
    "up.off: disabled",
    "up.never: gone",
    "away.known: waiting",
    "away.off: disabled",
    "away.never: waiting",
    "coming.known: registered",
    "coming.off: disabled",
    "coming.never: waiting",
    "removed.left: gone",
    "nobody.ever: gone",
    "constructor.toString: gone",
  ]);
  assert.deepEqual(
    tools.map(({ tool }) => tool?.name),
    [
      ...["there", "off", undefined],
      ...["known", "off", undefined],
      ...["known", "off", undefined],
      ...["left", undefined, undefined],
    ],
  );
});

Deno.test("toolsetState() marks a tool whose definition is another than the saved one", () => {
  const { catalog, table } = catalogOf({ git: ["status", "log", "push"] });
  const tools = [...table().tools()].map(referenceTo);
  const { fingerprint: _, ...unseen } = tools[2]!;
  const toolset = { ...toolsetOf("dev", []), tools: [tools[0]!, tools[1]!, unseen] };
  const changed = () =>
    toolsetState(toolset, table(), () => "available").map(({ isChanged }) => isChanged);
  assert.deepEqual(changed(), [false, false, false]);
  catalog.setListed("git", [listed("status"), listed("log", "New"), listed("push", "New")]);
  assert.deepEqual(changed(), [false, true, false]);
  catalog.unlist("git");
  assert.deepEqual(changed(), [false, false, false]);
});

/** Toolsets that are equipped, servers that come and go, and what is told of them. */
function watched(...equipped: Toolset[]) {
  const { catalog, table } = catalogOf({
    git: ["status", "log"],
    docker: ["ps"],
    linear: ["create_issue"],
  });
  const away = new Set<string>();
  const coming = new Set<string>();
  const told: string[] = [];
  const news = new ToolsetNews({
    flatName: ({ tool }) => table().nameOf(tool!, "flat"),
    onNews: (level, message) => told.push(`${level}: ${message}`),
  });
  const availability = (server: string): Availability =>
    coming.has(server) ? "coming" : away.has(server) ? "away" : "available";
  const toolsOf = (toolset: Toolset) => toolsetState(toolset, table(), availability);
  return {
    catalog,
    away,
    coming,
    news,
    toolsOf,
    check(toolsets: Toolset[] = equipped): string[] {
      told.length = 0;
      news.check(new Map(toolsets.map((toolset) => [toolset, toolsOf(toolset)])));
      return [...told];
    },
  };
}

const DEV = toolsetOf("dev", ["git.status", "docker.ps", "linear.create_issue"]);
const SKIPPING = "warn: git server unavailable, skipping tools: git.status";
const REGISTERING = "info: git server reconnected, registering tools: git_status";

Deno.test("ToolsetNews.check() says once that a server is away, and once that it is back", () => {
  const { away, check } = watched(DEV);
  assert.deepEqual(check(), []);
  away.add("git");
  assert.deepEqual(check(), [SKIPPING]);
  assert.deepEqual(check(), []);
  away.delete("git");
  assert.deepEqual(check(), [REGISTERING]);
  assert.deepEqual(check(), []);
  away.add("git");
  assert.deepEqual(check(), [SKIPPING]);
});

Deno.test("ToolsetNews.check() tells of each server apart, with all of its tools", () => {
  const { away, check, catalog } = watched(
    toolsetOf("dev", ["git.status", "docker.ps", "git.log"]),
  );
  catalog.unlist("git");
  away.add("git").add("docker");
  assert.deepEqual(check(), [
    "warn: git server unavailable, skipping tools: git.status, git.log",
    "warn: docker server unavailable, skipping tools: docker.ps",
  ]);
  away.delete("docker");
  assert.deepEqual(check(), ["info: docker server reconnected, registering tools: docker_ps"]);
});

Deno.test("ToolsetNews.check() is silent where a server is back without the tools", () => {
  const { away, check, catalog } = watched(DEV);
  away.add("git");
  check();
  away.delete("git");
  catalog.setListed("git", []);
  assert.deepEqual(check(), []);
});

Deno.test("ToolsetNews.check() forgets a toolset that is no longer equipped", () => {
  const { away, check } = watched(DEV);
  away.add("git");
  assert.deepEqual(check(), [SKIPPING]);
  assert.deepEqual(check([]), []);
  assert.deepEqual(check(), [SKIPPING]);
  check([]);
  away.delete("git");
  assert.deepEqual(check(), []);
});

Deno.test("ToolsetNews.forget() has it told again", () => {
  const { away, check, news } = watched(DEV);
  away.add("git");
  check();
  news.forget(DEV);
  assert.deepEqual(check(), [SKIPPING]);
});

Deno.test("skippedServers() has a line for each server that is away", () => {
  const { away, toolsOf, catalog } = watched();
  assert.deepEqual(skippedServers(toolsOf(DEV)), []);
  away.add("git").add("linear");
  catalog.setEnabled("docker", []);
  assert.deepEqual(skippedServers(toolsOf(DEV)), [
    "git server unavailable, skipping tools: git.status",
    "linear server unavailable, skipping tools: linear.create_issue",
  ]);
});

Deno.test("ToolsetNews.check() says nothing of a server that is just being connected to", () => {
  const { away, coming, check } = watched(DEV);
  coming.add("git");
  assert.deepEqual(check(), []);
  coming.clear();
  assert.deepEqual(check(), []);
  away.add("git");
  assert.deepEqual(check(), [SKIPPING]);
  coming.add("git");
  assert.deepEqual(check(), []);
  coming.clear();
  away.clear();
  assert.deepEqual(check(), [REGISTERING]);
});
