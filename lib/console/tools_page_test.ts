import assert from "node:assert/strict";
import { stubGateway } from "./testing/stub_gateway.ts";
import { toolsPage } from "./tools_page.ts";

const gateway = stubGateway({
  servers: [
    { name: "zoo", tools: [{ name: "feed", description: "Feed an animal" }] },
    {
      name: "air",
      tools: [{ name: "forecast" }, { name: "alerts", description: "Storm warnings" }],
    },
  ],
});

function names(query: string): string[] {
  return toolsPage(gateway, new URLSearchParams(query)).list.rows
    .map(({ server, name }) => `${server}.${name}`);
}

Deno.test("toolsPage() sorts by server, then by name", () => {
  assert.deepEqual(names(""), ["air.alerts", "air.forecast", "zoo.feed"]);
  assert.deepEqual(names("dir=desc"), ["zoo.feed", "air.alerts", "air.forecast"]);
  assert.deepEqual(names("sort=name"), ["air.alerts", "zoo.feed", "air.forecast"]);
});

Deno.test("toolsPage() finds words in description, name and server", () => {
  assert.deepEqual(names("q=storm"), ["air.alerts"]);
  assert.deepEqual(names("q=zoo+animal"), ["zoo.feed"]);
  assert.deepEqual(names("server=air&q=fore"), ["air.forecast"]);
  assert.deepEqual(names("server=nowhere"), []);
});

Deno.test("toolsPage() counts all tools, whatever the filter", () => {
  const page = toolsPage(gateway, new URLSearchParams("q=storm"));
  assert.deepEqual([page.total, page.servers, page.list.total], [3, 2, 1]);
});

Deno.test("toolsPage() shows one page of 5,000 tools, soon enough", () => {
  const description = "Does a thing that takes a sentence to tell. ".repeat(20);
  const servers = Array.from({ length: 400 }, (_, index) => ({
    name: `server${index}`,
    tools: Array.from({ length: 13 }, (_, index) => ({ name: `tool_${index}`, description })),
  }));
  const large = stubGateway({ servers });
  const started = performance.now();
  const page = toolsPage(large, new URLSearchParams("q=thing+sentence&page=2"));
  assert.equal(page.list.rows.length, 100);
  assert.equal(page.list.total, 5_200);
  assert.ok(performance.now() - started < 500, `${performance.now() - started} ms`);
});
