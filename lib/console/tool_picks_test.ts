import assert from "node:assert/strict";
import { stubGateway } from "./testing/stub_gateway.ts";
import { pickChoices, pickTools } from "./tool_picks.ts";

const gateway = stubGateway({
  servers: [
    {
      name: "files",
      tools: [
        { name: "read_file", description: "Read a file" },
        { name: "erase", description: "Erase a file", isOff: true },
      ],
    },
    { name: "git", tools: [{ name: "log" }, { name: "read_tree" }] },
    {
      name: "many",
      tools: Array.from({ length: 150 }, (_, index) => ({ name: `tool_${index}` })),
    },
  ],
});

async function names(query: string): Promise<string[]> {
  const { groups } = await pickTools(gateway, new URLSearchParams(query));
  return groups.flatMap(({ tools }) => tools.map(({ namespacedName }) => namespacedName));
}

Deno.test("pickTools() finds by pattern, by server and by category, never what is off", async () => {
  assert.deepEqual(await names("q=*read*"), ["files.read_file", "git.read_tree"]);
  assert.deepEqual(await names("q=git.*"), ["git.log", "git.read_tree"]);
  assert.deepEqual(await names("server=files"), ["files.read_file"]);
  assert.deepEqual(await names("server=nowhere"), []);
  const { categories } = pickChoices(gateway.guide);
  for (const { value, count } of categories) {
    const { total } = await pickTools(gateway, new URLSearchParams({ category: value }));
    assert.equal(total, count, value);
  }
});

Deno.test("pickTools() shows a hundred, counts the rest, and gives all where all are wanted", async () => {
  const some = await pickTools(gateway, new URLSearchParams("q=many.*"));
  assert.equal(some.total, 150);
  assert.deepEqual(some.groups.map(({ tools, total }) => [tools.length, total]), [[100, 150]]);
  assert.equal((await names("q=many.*&all=1")).length, 150);
});

Deno.test("pickTools() takes words to the engine", async () => {
  assert.deepEqual(await names("q=read+file"), ["files.read_file"]);
});

Deno.test("pickChoices() counts what is on", () => {
  assert.deepEqual(pickChoices(gateway.guide).servers, [
    { value: "files", count: 1 },
    { value: "git", count: 2 },
    { value: "many", count: 150 },
  ]);
});
