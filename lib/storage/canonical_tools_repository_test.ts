import assert from "node:assert/strict";
import { CanonicalToolsRepository, type SeenTool } from "./canonical_tools_repository.ts";
import { keys } from "./keys.ts";
import { Store } from "./store.ts";

const seen = (name: string, text = "{}"): SeenTool => ({ name, text, fingerprint: text });
const broken = (name: string, text = "{}", problem = "It is wrong") => ({ name, text, problem });

Deno.test("CanonicalToolsRepository goes on with a tool's version after it was invalid", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const tools = new CanonicalToolsRepository(store);
  await tools.record("s", [seen("a", "1")], 10);
  await tools.record("s", [seen("a", "2")], 20);
  const turned = await tools.record("s", [], 30, [broken("a", "bad")]);
  assert.equal(turned.isInvalidChanged, true);
  assert.equal((await tools.list("s"))[0]?.goneSince, 30);
  assert.deepEqual((await tools.history("s")).invalid, [
    { server: "s", name: "a", problem: "It is wrong", text: "bad", seenAt: 30 },
  ]);

  await tools.record("s", [seen("a", "2")], 40);
  const [mended] = await tools.list("s");
  assert.deepEqual([mended?.version, mended?.goneSince, mended?.current.seenAt], [
    2,
    undefined,
    20,
  ]);
  assert.deepEqual((await tools.history("s")).invalid, []);

  await tools.record("s", [], 50, [broken("a", "bad")]);
  await tools.record("s", [seen("a", "3")], 60);
  const [changed] = await tools.list("s");
  assert.deepEqual([changed?.version, changed?.earlier.map(({ text }) => text)], [3, ["2", "1"]]);
});

Deno.test("CanonicalToolsRepository keeps invalid tools with the same, long or odd names apart", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const tools = new CanonicalToolsRepository(store);
  const long = "ж".repeat(5_000);
  const list = [
    broken("twice", "1"),
    broken("twice", "2"),
    broken("(tool 3 has no name)"),
    broken(long),
    broken(`${long}!`),
    broken("\u0000\ud800"),
  ];
  await tools.record("s", [seen("twice")], 10, list);
  assert.equal((await tools.history("s")).invalid.length, list.length);
  assert.deepEqual((await tools.history("s", long)).invalid.map(({ name }) => name), [long]);
  const { tools: valid, invalid } = await tools.history("s", "twice");
  assert.deepEqual([valid.length, invalid.length], [1, 2]);

  assert.equal((await tools.record("s", [seen("twice")], 20, list)).isInvalidChanged, false);
  const reworded = list.map((tool) => ({ ...tool, problem: "In other words" }));
  await tools.record("s", [seen("twice")], 30, reworded.slice(0, 1));
  assert.deepEqual(
    (await tools.history("s")).invalid.map(({ problem, seenAt }) => [problem, seenAt]),
    [["In other words", 10]],
  );
  await tools.removeServer("s");
  assert.deepEqual(await tools.history("s"), { tools: [], invalid: [] });
  assert.deepEqual(
    await Array.fromAsync(store.list({ prefix: [] })).then((all) =>
      all.filter(({ key }) => String(key[0]).endsWith("_tools"))
    ),
    [],
  );
});

Deno.test("CanonicalToolsRepository keeps the other tools where a name is too long for a key", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const tools = new CanonicalToolsRepository(store);
  const names = Array.from({ length: 150 }, (_, index) => `${index}`.padEnd(1_500, "x"));
  await tools.record("s", [...names, "y".repeat(3_000), "short"].map((name) => seen(name)), 10);
  assert.equal((await tools.list("s")).length, 151);
  assert.deepEqual(await tools.history("s", "y".repeat(3_000)), { tools: [], invalid: [] });
});

Deno.test("CanonicalToolsRepository keeps the newest versions, up to a number and a size", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const tools = new CanonicalToolsRepository(store);
  for (let time = 1; time <= 25; time++) await tools.record("s", [seen("many", `${time}`)], time);
  const [many] = await tools.list("s");
  assert.deepEqual([many?.version, many?.earlier.length, many?.earlier[0]?.text], [25, 20, "24"]);
  const large = (mark: string) => seen("large", mark.repeat(700_000));
  for (const mark of ["a", "b", "c"]) await tools.record("s", [large(mark)], 30);
  const { tools: [kept] } = await tools.history("s", "large");
  assert.deepEqual(kept?.earlier.map(({ text }) => text[0]), ["b"]);
});

Deno.test("CanonicalToolsRepository reads records of before, and leaves out what it cannot read", async () => {
  const warnings: string[] = [];
  await using store = await Store.open({
    location: ":memory:",
    onWarning: (message) => warnings.push(message),
  });
  const current = { text: "{}", fingerprint: "f", seenAt: 1 };
  const value = { server: "s", name: "a", version: 1, current, earlier: [] };
  await store.commit({
    sets: [
      { key: keys.canonicalTools("s", "a"), value },
      { key: keys.canonicalTools("s", "b"), value: { odd: true } },
      { key: keys.invalidTools("s", "c", 1), value: 7 },
    ],
  });
  const tools = new CanonicalToolsRepository(store);
  assert.deepEqual(await tools.history("s"), { tools: [value], invalid: [] });
  assert.equal(warnings.length, 2);
});

Deno.test("CanonicalToolsRepository forgets the tools that are gone for longest", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const tools = new CanonicalToolsRepository(store);
  const many = Array.from({ length: 1_999 }, (_, index) => seen(`many_${index}`));
  await tools.record("s", [seen("first")], 10);
  await tools.record("s", [seen("second")], 20);
  await tools.record("s", many, 30);
  await tools.record("s", [seen("last")], 40);
  const names = (await tools.list("s")).map(({ name }) => name);
  assert.equal(names.length, 2_001);
  assert.ok(!names.includes("first"));
  assert.ok(["second", "many_0", "many_1998", "last"].every((name) => names.includes(name)));
  await tools.record("s", [seen("last"), seen("first")], 50);
  const { tools: [first] } = await tools.history("s", "first");
  assert.equal(first?.version, 1);
});
