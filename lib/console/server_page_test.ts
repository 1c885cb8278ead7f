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

Deno.test("stretchAround() is the same for every place in it", () => {
  const items = Array.from({ length: 10 }, (_, index) => index);
  assert.deepEqual(stretchAround(items, 4, 4), [4, 5, 6, 7]);
  assert.deepEqual(stretchAround(items, 7, 4), [4, 5, 6, 7]);
  assert.deepEqual(stretchAround(items, 9, 4), [8, 9]);
});
