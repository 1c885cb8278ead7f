import assert from "node:assert/strict";
import { Catalog } from "../catalog.ts";
import { CatalogSearch, ToolSearch } from "./tool_search.ts";

function tool(name: string, description: string): string {
  return JSON.stringify({ name, description, inputSchema: { type: "object" } });
}

function open(about: () => Record<string, string> = () => ({})) {
  const catalog = new Catalog();
  const search = new ToolSearch();
  const found = new CatalogSearch({ catalog, search, about });
  const names = async (query: string) => (await found.find({ query })).hits.map(({ key }) => key);
  return {
    catalog,
    search,
    found,
    names,
    [Symbol.asyncDispose]: () => found[Symbol.asyncDispose](),
  };
}

Deno.test("CatalogSearch.find() follows the catalog: new, changed, disabled and removed tools", async () => {
  await using opened = open();
  const { catalog, search, names } = opened;
  catalog.setListed("git", [tool("status", "Show the working tree"), tool("push", "Send commits")]);
  assert.deepEqual(await names("working tree"), ["git.status"]);
  catalog.setListed("git", [tool("status", "Show what is modified"), tool("push", "Send commits")]);
  assert.deepEqual(await names("working tree"), []);
  assert.deepEqual(await names("modified"), ["git.status"]);
  catalog.setEnabled("git", ["push"]);
  assert.deepEqual(await names("modified"), []);
  catalog.setEnabled("git", undefined);
  assert.deepEqual(await names("modified"), ["git.status"]);
  catalog.remove("git");
  assert.deepEqual(await names("commits"), []);
  assert.equal(search.index.size, 0);
});

Deno.test("CatalogSearch indexes only what has changed", async () => {
  await using opened = open();
  const { catalog, search, names } = opened;
  const tools = Array.from({ length: 250 }, (_, n) => tool(`tool${n}`, `Does thing number ${n}`));
  catalog.setListed("many", tools);
  await names("thing");
  const update = search.index.update.bind(search.index);
  const added: string[] = [];
  search.index.update = (change) => {
    for (const { key, fingerprint } of change.added ?? []) {
      if (search.index.fingerprintOf(key) !== fingerprint) added.push(key);
    }
    update(change);
  };
  catalog.setListed("many", tools.with(7, tool("tool7", "Something else entirely")));
  assert.deepEqual(await names("something else entirely"), ["many.tool7"]);
  assert.deepEqual(added, ["many.tool7"]);
});

Deno.test("CatalogSearch.refresh() takes up what is now said of tools", async () => {
  let category = "version control";
  await using opened = open(() => ({ category }));
  const { catalog, found, names } = opened;
  catalog.setListed("git", [tool("status", "Show the working tree")]);
  assert.deepEqual(await names("version"), ["git.status"]);
  category = "history";
  found.refresh();
  assert.deepEqual(await names("version"), []);
  assert.deepEqual(await names("history"), ["git.status"]);
});

Deno.test("CatalogSearch.find() goes on after an update that failed", async () => {
  let fails = true;
  await using opened = open(() => {
    if (fails) throw new Error("not now");
    return {};
  });
  const { catalog, names } = opened;
  catalog.setListed("git", [tool("status", "Show the working tree")]);
  await assert.rejects(names("tree"), /not now/);
  fails = false;
  assert.deepEqual(await names("tree"), ["git.status"]);
});

Deno.test("CatalogSearch.reindex() indexes everything again", async () => {
  await using opened = open();
  const { catalog, search, names, found } = opened;
  catalog.setListed("git", [tool("status", "Show the working tree")]);
  await names("tree");
  search.index.update({ removed: ["git.status"] });
  assert.deepEqual(await names("tree"), []);
  await found.reindex();
  assert.deepEqual(await names("tree"), ["git.status"]);
});
