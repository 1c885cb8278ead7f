import assert from "node:assert/strict";
import type { Toolset } from "../core/toolset.ts";
import { catalogOf, toolsetOf } from "./testing.ts";
import { skippedServers, ToolsetNews } from "./toolset_news.ts";
import { type Availability, toolsetState } from "./toolset_state.ts";

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
    tell: (level, message) => told.push(`${level}: ${message}`),
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
