import assert from "node:assert/strict";
import type { Gateway } from "../../../../../lib/gateway.ts";
import { stretchAround } from "../../../../../lib/console/lists.ts";
import {
  problem,
  stubGateway as stub,
  type StubInput,
} from "../../../../../lib/console/testing/stub_gateway.ts";
import { serverPage } from "./model.ts";

function stubGateway(input: StubInput, parts: Partial<Gateway> = {}) {
  const serverLogins = () => Promise.reject(new Error("The stub has no logins"));
  return { ...stub(input), serverLogins, ...parts };
}

const gateway = stubGateway({
  servers: [
    {
      name: "weather",
      tools: [{ name: "b", description: "Second" }, { name: "a", title: "First" }],
    },
    { name: "files" },
  ],
  problems: [problem({ server: "weather" }), problem({ server: "files" })],
});

Deno.test("serverPage() has the server, its tools in order and its problems", async () => {
  const page = await serverPage(gateway, "weather", new URLSearchParams());
  assert.ok("server" in page);
  assert.deepEqual(page.tools.rows, [
    { server: "weather", name: "a", title: "First", summary: "First" },
    { server: "weather", name: "b", summary: "Second" },
  ]);
  assert.equal(page.problems.length, 1);
  assert.deepEqual(page.neighbors.map(({ name }) => name), ["files", "weather"]);
});

Deno.test("serverPage() has the logs for a reader who may manage, and for nobody else", async () => {
  const written = [{ time: 1, line: "token=hunter2" }];
  const noted = [{ time: 2, level: "info", text: "connected" }];
  const logging = stubGateway({ servers: [{ name: "a" }] });
  Object.assign(logging.servers, { log: () => written, logged: () => noted });
  const logsFor = async (...reader: boolean[]) => {
    const page = await serverPage(logging, "a", new URLSearchParams(), ...reader);
    return "server" in page ? page.logs : assert.fail("there is no page");
  };
  assert.deepEqual(await logsFor(true), { written, noted });
  assert.equal(await logsFor(false), undefined);
  assert.equal(await logsFor(), undefined);
});

Deno.test("serverPage() offers the nearest names for one that is not there", async () => {
  const page = await serverPage(gateway, "wether", new URLSearchParams());
  assert.deepEqual(page, { missing: "wether", nearest: ["weather"] });
});

Deno.test("stretchAround() is the same for every place in it", () => {
  const items = Array.from({ length: 10 }, (_, index) => index);
  assert.deepEqual(stretchAround(items, 4, 4), [4, 5, 6, 7]);
  assert.deepEqual(stretchAround(items, 7, 4), [4, 5, 6, 7]);
  assert.deepEqual(stretchAround(items, 9, 4), [8, 9]);
});

const version = (seenAt: number) => ({
  text: JSON.stringify({ name: "t", description: `${seenAt}`, inputSchema: { type: "object" } }),
  fingerprint: `${seenAt}`,
  seenAt,
});

Deno.test("serverPage() has the newest changes and what is invalid, and counts the rest", async () => {
  const tools = Array.from({ length: 2_000 }, (_, index) => ({
    server: "big",
    name: `t${index}`,
    version: 2,
    current: version(1_000 + index),
    earlier: [version(10)],
  }));
  const invalid = Array.from({ length: 60 }, (_, index) => ({
    server: "big",
    name: `bad${index}`,
    problem: "It has no name",
    text: "{}",
    seenAt: 10,
  }));
  const big = stubGateway({ servers: [{ name: "big", history: { tools, invalid } }] });
  const page = await serverPage(big, "big", new URLSearchParams());
  assert.ok("server" in page);
  assert.equal(page.changes?.events.length, 20);
  assert.equal(page.changes?.more, 1_980);
  assert.equal(page.changes?.since, 10);
  assert.ok(page.changes?.events.every((event) => event.kind === "changed" && event.diff));
  assert.equal(page.changes?.events[0]?.tool, "t1999");
  assert.deepEqual([page.invalid.entries.length, page.invalid.more], [50, 10]);
});

Deno.test("serverPage() does without the history where the store fails", async () => {
  const failing = stubGateway({ servers: [{ name: "a", tools: [{ name: "t" }] }] });
  failing.servers.history = () => Promise.reject(new Error("no store"));
  const page = await serverPage(failing, "a", new URLSearchParams());
  assert.ok("server" in page);
  assert.equal(page.changes, undefined);
  assert.equal(page.tools.total, 1);
});

Deno.test("serverPage() has what waits for a decision, of this server alone", async () => {
  const item = { fingerprint: "f", findings: [] };
  const items: ReturnType<Gateway["review"]["list"]>["items"] = [
    { ...item, server: "a", tool: "bad", kind: "finding", state: "quarantined" },
    { ...item, server: "a", tool: "t", kind: "changed", state: "held" },
    { ...item, server: "a", tool: "u", kind: "changed", state: "notice" },
    { ...item, server: "a", tool: "(instructions)", kind: "finding", state: "quarantined" },
    { ...item, server: "b", tool: "t", kind: "added", state: "held" },
  ];
  const review = {
    count: () => ({ held: 2, notices: 1, quarantined: 2, flagged: 0, total: 5 }),
    waiting: (only: string) => items.filter(({ server }) => server === only),
  } as unknown as Gateway["review"];
  const waiting = stubGateway({ servers: [{ name: "a", tools: [{ name: "t" }] }] }, { review });
  const page = await serverPage(waiting, "a", new URLSearchParams());
  assert.ok("server" in page);
  assert.deepEqual(page.waiting.map(({ tool, state }) => [tool, state]), [
    ["bad", "quarantined"],
    ["t", "held"],
  ]);
  // What no client gets is listed all the same, and not counted as exposed.
  assert.deepEqual(page.tools.rows.map(({ name, wait }) => [name, wait]), [
    ["bad", "quarantined"],
    ["t", "held"],
  ]);
  assert.equal(page.exposed, 1);
});

Deno.test("serverPage() knows whether somebody has logged in to the server", async () => {
  const known = new Set(["in"]);
  const serverLogins = () =>
    Promise.resolve({
      describe: (name: string) => Promise.resolve(known.has(name) ? {} : undefined),
    }) as unknown as ReturnType<Gateway["serverLogins"]>;
  const servers = ["in", "out"].map((name) => ({ name, type: "http" as const }));
  const hasLogin = async (name: string, parts: Partial<Gateway>) => {
    const page = await serverPage(stubGateway({ servers }, parts), name, new URLSearchParams());
    return "server" in page && page.hasLogin;
  };
  assert.equal(await hasLogin("in", { serverLogins }), true);
  assert.equal(await hasLogin("out", { serverLogins }), false);
  assert.equal(await hasLogin("in", {}), false);
});
