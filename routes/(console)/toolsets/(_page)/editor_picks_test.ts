import assert from "node:assert/strict";
import { stubGateway } from "../../../../lib/console/testing/stub_gateway.ts";
import { EVERYONE } from "../../../../lib/core/access.ts";
import { filterChoices } from "../../tools/(_page)/model.ts";
import { isPattern, pickTools, toolPattern } from "./editor.ts";

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
  const { categories } = filterChoices(
    gateway.toolDirectory,
    gateway.toolDirectory.visible(EVERYONE),
  );
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
  assert.deepEqual(
    filterChoices(gateway.toolDirectory, gateway.toolDirectory.visible(EVERYONE)).servers,
    [
      { value: "files", count: 1 },
      { value: "git", count: 2 },
      { value: "many", count: 150 },
    ],
  );
});

function matches(pattern: string, ...names: string[]): string[] {
  const fits = toolPattern(pattern);
  return names.filter((full) => {
    const dot = full.indexOf(".");
    return fits({ server: full.slice(0, dot), name: full.slice(dot + 1) });
  });
}

Deno.test("toolPattern() takes all of a server, and no server that only begins like it", () => {
  assert.deepEqual(matches("git.*", "git.log", "github.log", "git.a.b"), ["git.log", "git.a.b"]);
});

Deno.test("toolPattern() without a dot is about the tool's own name, whatever its case", () => {
  assert.deepEqual(matches("*read*", "files.Read_File", "thread.list", "x.spread"), [
    "files.Read_File",
    "x.spread",
  ]);
  assert.deepEqual(matches("list_*", "a.list_x", "a.my_list_x"), ["a.list_x"]);
});

Deno.test("toolPattern() needs every part in its order, and none twice", () => {
  assert.deepEqual(matches("a*b*a", "x.aba", "x.ab", "x.ba", "x.aXbXa"), ["x.aba", "x.aXbXa"]);
  assert.deepEqual(matches("ab*ba", "x.aba", "x.abba"), ["x.abba"]);
  assert.deepEqual(matches("*.get*", "a.get", "b.target"), ["a.get"]);
});

Deno.test("toolPattern() does not hang on a hostile pattern", () => {
  assert.deepEqual(matches(`${"*a".repeat(200)}*b`, `x.${"a".repeat(5_000)}`), []);
});

Deno.test("isPattern() tells a pattern from words", () => {
  assert.equal(isPattern("*read*"), true);
  assert.equal(isPattern("read a file"), false);
});
