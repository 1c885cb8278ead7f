import assert from "node:assert/strict";
import { Catalog } from "../catalog/catalog.ts";
import { CatalogSearch, ToolSearch } from "../catalog/search/tool_search.ts";
import { EVERYONE } from "../core/access.ts";
import type { Client, McpRequest } from "../core/client.ts";
import { NameTables } from "../catalog/name_table.ts";
import type { RunSteps } from "../optimizer/evaluators/evaluator.ts";
import { RESERVED_NAMES } from "./builtin_names.ts";
import { EvalDiscovery } from "./eval_discovery.ts";
import { openDirectory } from "./testing/open_directory.ts";

const TRIAL = "Finds novels and other books to read.";

/** A search over a catalog, by keywords; says how many are open. */
function openSearches() {
  const open = new Set<Catalog>();
  const names = new NameTables(RESERVED_NAMES, 60);
  const openOne = (catalog: Catalog) => {
    open.add(catalog);
    const search = new CatalogSearch({ catalog, search: new ToolSearch(), about: () => ({}) });
    const byName = (name: string) => names.of(catalog.snapshot).byNamespaced(name)!;
    return {
      async search({ text, limit }: { text: string; limit: number }) {
        const { hits } = await search.find({ query: text, limit });
        return {
          found: hits.map(({ key, relevance }) => ({
            ...{ tool: byName(key), relevance, explanation: "" },
          })),
        };
      },
      ready: () => Promise.resolve(),
      async [Symbol.asyncDispose]() {
        open.delete(catalog);
        await search[Symbol.asyncDispose]();
      },
    };
  };
  const closeShared = () => {
    assert.equal(open.size, 0, "it is in use");
    return Promise.resolve();
  };
  return { open, searches: { open: openOne, [Symbol.asyncDispose]: closeShared } };
}

async function bench() {
  const opened = await openDirectory({
    servers: {
      library: [
        { name: "find.books", description: "Gets data." },
        { name: "hours", description: "Opening hours by day." },
      ],
      shop: [{ name: "order", description: "Orders a parcel." }],
    },
  });
  const { open, searches } = openSearches();
  const discovery = new EvalDiscovery(
    { catalog: opened.catalog, toolDirectory: opened.directory, searches },
    { server: "library", name: "find.books" },
  );
  return { ...opened, discovery, open };
}

const profile = { capabilities: {} };
const client = { principal: EVERYONE, profile } as unknown as Client;

async function call(steps: RunSteps, name: string, args: Record<string, unknown>) {
  const params = { name, arguments: args };
  const signal = new AbortController().signal;
  const request = { id: 1, method: "tools/call", params, signal } as unknown as McpRequest;
  return await steps.answer(request, client);
}

function keysIn(result: Record<string, unknown>): string[] {
  const { tools } = result.structuredContent as { tools: { toolKey: string }[] };
  return tools.map(({ toolKey }) => toolKey);
}

Deno.test("EvalDiscovery.open() lists the tools of discovery, and searches with the text on trial", async () => {
  await using opened = await bench();
  await using discovery = opened.discovery;
  const own = discovery.open({ description: "Gets data." });
  assert.deepEqual(
    own.listed.map((text) => JSON.parse(text).name),
    ["tool_discovery", "tool_execute", "tool_capabilities"],
  );
  assert.deepEqual(own.search, { searched: false, found: false });
  assert.deepEqual(keysIn(await call(own, "tool_discovery", { query: "novels" })), []);
  assert.deepEqual(own.search, { searched: true, found: false });

  const tried = discovery.open({ description: TRIAL });
  const [key] = keysIn(
    await call(tried, "tool_discovery", { query: "novels", detailLevel: "full" }),
  );
  assert.deepEqual(tried.search, { searched: true, found: true });
  assert.deepEqual(
    tried.choiceOf({ name: "tool_execute", arguments: { toolKey: key, arguments: { q: 1 } } }),
    { name: "library_find_books", arguments: { q: 1 } },
  );
  // The gateway's own catalog is as it was, and each run is by itself.
  assert.equal(opened.tool("library.find.books").definition.description, "Gets data.");
  assert.deepEqual(discovery.open({ description: TRIAL }).search, {
    searched: false,
    found: false,
  });
  assert.equal(opened.open.size, 2);
});

Deno.test("EvalDiscovery takes any tool by its name, and answers what chooses none", async () => {
  await using opened = await bench();
  await using discovery = opened.discovery;
  const steps = discovery.open({ description: TRIAL });
  const chosen = (name: string, args: unknown = {}) =>
    steps.choiceOf({ name, arguments: args })?.name;
  assert.equal(chosen("tool_execute", { toolKey: "shop.order" }), "shop_order");
  // A client may call a found tool itself, listed or not.
  assert.equal(chosen("library_find_books"), "library_find_books");
  for (const name of ["tool_discovery", "tool_capabilities", "Bash"]) {
    assert.equal(chosen(name, { query: "novels" }), undefined);
  }
  assert.equal(chosen("tool_execute", { toolKey: "tk_aaaaaaaaaaaa" }), undefined);
  assert.equal(chosen("tool_execute", {}), undefined);
  const refused = await call(steps, "tool_execute", { toolKey: "tk_aaaaaaaaaaaa" });
  assert.equal(refused.isError, true);
  assert.match(JSON.stringify(refused), /TOOLKEY_INVALID/);
});

Deno.test("EvalDiscovery shows the tools of its beginning, and closes its indexes", async () => {
  await using opened = await bench();
  {
    await using discovery = opened.discovery;
    opened.list("library", []);
    const steps = discovery.open({ description: TRIAL });
    const keys = keysIn(await call(steps, "tool_discovery", { query: "novels" }));
    assert.equal(keys.length, 1);
    assert.equal(opened.open.size, 1);
  }
  assert.equal(opened.open.size, 0);
});
