import assert from "node:assert/strict";
import { around, serverPage } from "./server_page.ts";
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

Deno.test("serverPage() has the server, its tools in order and its problems", () => {
  const page = serverPage(gateway, "weather", new URLSearchParams());
  assert.ok("server" in page);
  assert.deepEqual(page.tools.rows, [
    { server: "weather", name: "a", title: "First", summary: "First" },
    { server: "weather", name: "b", summary: "Second" },
  ]);
  assert.equal(page.problems.length, 1);
  assert.deepEqual(page.neighbors.map(({ name }) => name), ["files", "weather"]);
});

Deno.test("serverPage() offers the nearest names for one that is not there", () => {
  const page = serverPage(gateway, "wether", new URLSearchParams());
  assert.deepEqual(page, { missing: "wether", nearest: ["weather"] });
});

Deno.test("around() keeps the place inside a window of the list", () => {
  const items = Array.from({ length: 50 }, (_, index) => index);
  assert.deepEqual(around(items, 0, 4), [0, 1, 2, 3]);
  assert.deepEqual(around(items, 25, 4), [23, 24, 25, 26]);
  assert.deepEqual(around(items, 49, 4), [46, 47, 48, 49]);
  assert.deepEqual(around([1, 2], 1, 4), [1, 2]);
});
