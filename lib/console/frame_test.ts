import assert from "node:assert/strict";
import {
  countStatus,
  crumbsOf,
  frameOf,
  paletteIndex,
  totalWaiting,
  waitingCounts,
  type WaitingGateway,
} from "./frame.ts";
import { problem, stubGateway } from "./testing/stub_gateway.ts";
import type { Gateway } from "../gateway.ts";

Deno.test("frameOf() names the port, or the host where there is none", () => {
  assert.equal(frameOf(stubGateway()).place, ":3333");
  const address = "https://tools.example.com";
  assert.equal(frameOf({ ...stubGateway(), address }).place, "tools.example.com");
});

Deno.test("frameOf() tells whether optimization is on", () => {
  assert.equal(frameOf(stubGateway()).isOptimizing, false);
  assert.equal(frameOf(stubGateway({ options: { enableOptimization: true } })).isOptimizing, true);
});

Deno.test("frameOf() counts what waits under Security", () => {
  assert.equal(frameOf(stubGateway()).counts.security, 0);
  assert.equal(frameOf(stubGateway(), undefined, 3).counts.security, 3);
});

Deno.test("frameOf() says which event the page was made after, where that is known", () => {
  assert.equal(frameOf(stubGateway(), "run-7").madeAt, "run-7");
  assert.ok(!("madeAt" in frameOf(stubGateway())));
});

Deno.test("crumbsOf() leads from the page in the rail to the thing shown", () => {
  assert.deepEqual(crumbsOf("/"), [{ label: "Dashboard", isName: false }]);
  assert.deepEqual(crumbsOf("/tools/weather/a%2Fb"), [
    { label: "Tools", href: "/tools", isName: false },
    { label: "weather", href: "/tools?server=weather", isName: true },
    { label: "a/b", isName: true },
  ]);
});

Deno.test("crumbsOf() names the steps of making a toolset", () => {
  const labels = (path: string) => crumbsOf(path).map(({ label, href }) => [label, href]);
  assert.deepEqual(labels("/toolsets/~new"), [["Toolsets", "/toolsets"], [
    "New toolset",
    undefined,
  ]]);
  assert.deepEqual(labels("/toolsets/dev/edit"), [
    ["Toolsets", "/toolsets"],
    ["dev", "/toolsets/dev"],
    ["Edit", undefined],
  ]);
});

Deno.test("crumbsOf() knows what is no page", () => {
  assert.equal(crumbsOf("/nope")[0]?.label, "Not found");
  assert.equal(crumbsOf("/servers/%E0%A4%A")[0]?.label, "Not found");
});

Deno.test("crumbsOf() names the steps that are taken with a server", () => {
  const labels = (path: string) => crumbsOf(path).map(({ label }) => label);
  assert.deepEqual(labels("/servers/~new"), ["Servers", "Add server"]);
  assert.deepEqual(labels("/servers/git/~tools"), ["Servers", "git", "Configure tools"]);
  assert.deepEqual(labels("/servers/git/~edit"), ["Servers", "git", "Edit"]);
});

Deno.test("optimizationCrumbs() leads from all servers to a tool, and names jobs as such", () => {
  const list = { label: "Optimization", href: "/optimization", isName: false };
  assert.deepEqual(crumbsOf("/optimization/weather/a%2Fb"), [
    list,
    { label: "weather", href: "/optimization/weather", isName: true },
    { label: "a/b", isName: true },
  ]);
  assert.deepEqual(crumbsOf("/optimization/weather"), [list, { label: "weather", isName: true }]);
  assert.deepEqual(crumbsOf("/optimization/~comparisons/comparison_1"), [
    list,
    { label: "With and without", isName: false },
  ]);
  assert.deepEqual(crumbsOf("/optimization/~jobs/job_1"), [list, { label: "Job", isName: false }]);
  assert.deepEqual(crumbsOf("/optimization/~all"), [list, { label: "All servers", isName: false }]);
});

Deno.test("countStatus() counts what needs a person once", () => {
  const gateway = stubGateway({
    servers: [
      { name: "a", tools: [{ name: "x" }, { name: "y" }] },
      { name: "b", state: "failed" },
      { name: "c", state: "needs_login" },
      { name: "d", state: "disabled" },
      { name: "e", state: "installing" },
      { name: "f", state: "paused" },
    ],
    problems: [
      problem({ severity: "error", server: "b" }),
      problem({ severity: "error" }),
      problem({ severity: "warning" }),
    ],
  });
  assert.deepEqual(countStatus(gateway.servers.list(), gateway.problems), {
    servers: 6,
    ready: 1,
    starting: 1,
    tools: 2,
    attention: 3,
  });
});

function gatewayWith(consents: () => Promise<number>): WaitingGateway {
  return {
    review: { count: () => ({ total: 2 }) } as Gateway["review"],
    waitingUpdates: () => 1,
    approvals: () => Promise.resolve({ list: () => [{}, {}] } as never),
    consents: () => Promise.resolve({ count: consents } as never),
  };
}

Deno.test("waitingCounts() counts what waits, by where it is decided", async () => {
  const counts = await waitingCounts(gatewayWith(() => Promise.resolve(1)));
  assert.deepEqual(counts, { review: 3, approvals: 2, consents: 1 });
  assert.equal(totalWaiting(counts), 6);
});

Deno.test("waitingCounts() shows the rest where the store cannot be read", async () => {
  const counts = await waitingCounts(gatewayWith(() => Promise.reject(new Error("broken"))));
  assert.deepEqual(counts, { review: 3, approvals: 2, consents: 0 });
});

Deno.test("paletteIndex() has names only, so that thousands stay small", () => {
  const tools = Array.from({ length: 13 }, (_, index) => ({
    name: `tool_${index}`,
    description: "x".repeat(10_000),
  }));
  const servers = Array.from({ length: 400 }, (_, index) => ({ name: `server-${index}`, tools }));
  const text = JSON.stringify(paletteIndex(stubGateway({ servers })));
  assert.ok(text.length < 100_000, `${text.length} characters`);
});
