import assert from "node:assert/strict";
import { Store } from "../storage/store.ts";
import { ToolMetadataRepository } from "../storage/catalog_repositories.ts";
import { Catalog } from "./catalog.ts";
import { ToolTokens } from "./tool_tokens.ts";

function listed(...descriptions: string[]): string[] {
  return descriptions.map((description, index) =>
    JSON.stringify({ name: `tool${index}`, description, inputSchema: { type: "object" } })
  );
}

/** Counts over a store; a text costs its length. */
function open(store: Store, catalog: Catalog) {
  const repository = new ToolMetadataRepository(store);
  const counted: string[] = [];
  let isStopped = false;
  const tokens = new ToolTokens(repository, catalog, (texts) => {
    counted.push(...texts);
    return Promise.resolve(isStopped ? [] : texts.map(({ length }) => length));
  });
  return {
    tokens,
    repository,
    counted,
    stop: () => isStopped = true,
    goOn: () => isStopped = false,
  };
}

function test(name: string, run: (store: Store, catalog: Catalog) => Promise<void>): void {
  Deno.test(name, async () => {
    await using store = await Store.open({ location: ":memory:" });
    await run(store, new Catalog());
  });
}

test("ToolTokens counts each definition once, also over restarts", async (store, catalog) => {
  catalog.setListed("git", listed("one", "two"));
  catalog.setListed("docker", listed("three"));
  const tools = ["git", "docker"].flatMap((server) => catalog.of(server).tools);
  const expected = tools.reduce((sum, { text }) => sum + text.length, 0);
  const first = open(store, catalog);
  const [total, again] = await Promise.all([first.tokens.total(tools), first.tokens.total(tools)]);
  assert.deepEqual([total, again, first.counted.length], [expected, expected, 3]);
  assert.equal(first.tokens.of(tools[0]!), tools[0]!.text.length);
  const second = open(store, catalog);
  assert.equal(second.tokens.of(tools[0]!), 0);
  assert.equal(await second.tokens.total(tools), expected);
  assert.deepEqual(second.counted, []);
  catalog.setListed("git", listed("one", "other"));
  await second.tokens.prepare(catalog.of("git").tools);
  assert.equal(second.counted.length, 1);
});

test("ToolTokens keeps what is there now, and no more", async (store, catalog) => {
  catalog.setListed("git", listed("one", "two", "three"));
  const { tokens, repository } = open(store, catalog);
  const before = catalog.of("git").tools;
  await tokens.prepare(before);
  assert.equal((await repository.tokens("git")).size, 3);
  catalog.setListed("git", listed("one", "changed"));
  const now = catalog.of("git").tools;
  // Asked for one of them alone: the other one stays known.
  await tokens.prepare([now[1]!]);
  const kept = new Set((await repository.tokens("git")).keys());
  assert.deepEqual(kept, new Set(now.map(({ fingerprint }) => fingerprint)));
  assert.equal(tokens.of(before[2]!), 0, "nor in memory");
  assert.ok(now.every((tool) => tokens.of(tool) > 0));
  assert.ok(await tokens.total(before) > 0, "though one may still ask for what was listed");
});

test("ToolTokens keeps no count of a counter that was stopped", async (store, catalog) => {
  catalog.setListed("git", listed("one"));
  const { tokens, repository, stop, goOn } = open(store, catalog);
  const { tools } = catalog.of("git");
  stop();
  assert.equal(await tokens.total(tools), 0);
  assert.equal((await repository.tokens("git")).size, 0);
  goOn();
  assert.equal(await tokens.total(tools), tools[0]!.text.length);
});

test("ToolTokens goes on after a count that failed", async (store, catalog) => {
  catalog.setListed("git", listed("one"));
  const { tools } = catalog.of("git");
  let fails = true;
  const tokens = new ToolTokens(new ToolMetadataRepository(store), catalog, (texts) => {
    if (fails) return Promise.reject(new Error("no tokenizer"));
    return Promise.resolve(texts.map(() => 5));
  });
  await assert.rejects(tokens.total(tools), /no tokenizer/);
  fails = false;
  assert.equal(await tokens.total(tools), 5);
});
