import assert from "node:assert/strict";
import { serverPage, stretchAround } from "./server_page.ts";
import { problem, stubGateway } from "./testing/stub_gateway.ts";

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
