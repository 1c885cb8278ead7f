import assert from "node:assert/strict";
import { Catalog } from "./catalog.ts";
import { type ReviewRules, ToolGuard } from "./tool_guard.ts";
import { canonicalDescription, fingerprint, renamed, shownFingerprint } from "./catalog_tool.ts";

const tool = (name: string, more = "") =>
  `{"name":"${name}","inputSchema":{"type":"object"}${more}}`;

Deno.test("Catalog.setListed() keeps valid tools and flags the others", () => {
  const catalog = new Catalog();
  const seen = catalog.setListed("a", [
    tool("one"),
    '{"name":"broken","inputSchema":{"type":"array"}}',
    '{"inputSchema":{"type":"object"}}',
    tool("one"),
    "null",
  ]);
  assert.deepEqual(seen.map(({ name }) => name), ["one"]);
  const { tools, broken } = catalog.of("a");
  assert.equal(tools.length, 1);
  assert.deepEqual(broken.map(({ name }) => name), [
    "broken",
    "(tool 3 has no name)",
    "one",
    "(tool 5 has no name)",
  ]);
  assert.match(broken[0]!.problem, /inputSchema/);
  assert.match(broken[2]!.problem, /twice/);
});

Deno.test("Catalog publishes a new snapshot for a change, and none for the same list", () => {
  const catalog = new Catalog();
  const changes: string[][] = [];
  catalog.onChange((server) => changes.push([server]));
  catalog.setListed("a", [tool("one")]);
  const before = catalog.snapshot;
  catalog.setListed("a", [tool("one")]);
  assert.equal(catalog.snapshot, before);
  catalog.setListed("b", [tool("two")]);
  assert.equal(catalog.snapshot.servers.get("a"), before.servers.get("a"));
  catalog.remove("a");
  assert.deepEqual(changes, [["a"], ["b"], ["a"]]);
  assert.equal(before.servers.size, 1);
});

Deno.test("Catalog.parse() reads a list once, also if the server lists it again after a restart", () => {
  const catalog = new Catalog();
  const recalled = [tool("one"), tool("two")];
  const read = catalog.parse("a", recalled);
  catalog.setListed("a", recalled);
  const listed = [...recalled];
  assert.equal(catalog.parse("a", listed), read);
  catalog.setListed("a", listed);
  assert.equal(catalog.parse("a", [...recalled]), read);
  assert.notEqual(catalog.parse("a", [tool("one")]), read);
  assert.notEqual(catalog.parse("b", [...recalled]), read);
});

Deno.test("Catalog.setEnabled() leaves new tools of a partly enabled server off", () => {
  const catalog = new Catalog();
  catalog.setListed("a", [tool("one"), tool("two")]);
  catalog.setEnabled("a", ["one"]);
  catalog.setListed("a", [tool("one"), tool("two"), tool("three")]);
  const enabled = () =>
    catalog.of("a").tools.filter((tool) => tool.enabled).map(({ name }) => name);
  assert.deepEqual(enabled(), ["one"]);
  catalog.setEnabled("a", undefined);
  assert.deepEqual(enabled(), ["one", "two", "three"]);
});

Deno.test("Catalog.unlist() takes a server's tools away, and remembers which of them are on", () => {
  const catalog = new Catalog();
  catalog.setListed("a", [tool("one"), tool("two")]);
  catalog.setEnabled("a", ["one"]);
  catalog.unlist("a");
  assert.deepEqual(catalog.of("a").tools, []);
  catalog.setListed("a", [tool("one"), tool("two")]);
  assert.deepEqual(catalog.of("a").tools.map(({ enabled }) => enabled), [true, false]);
});

Deno.test("Catalog.setSelections() turns everything on where a selection is gone", () => {
  const catalog = new Catalog();
  catalog.setListed("a", [tool("one"), tool("two")]);
  catalog.setSelections(new Map([["a", ["one"]]]));
  assert.deepEqual(catalog.enabledOf("a"), ["one"]);
  catalog.setSelections(new Map());
  assert.equal(catalog.enabledOf("a"), null);
  assert.ok(catalog.of("a").tools.every((tool) => tool.enabled));
});

Deno.test("fingerprint() sees every change, but not the order of keys", () => {
  assert.equal(
    fingerprint('{"a":1,"b":[1,{"c":2,"d":3}]}'),
    fingerprint('{ "b":[1,{"d":3,"c":2}], "a":1 }'),
  );
  assert.notEqual(fingerprint('{"a":[1,2]}'), fingerprint('{"a":[2,1]}'));
  assert.notEqual(fingerprint('{"a":1}'), fingerprint('{"a":"1"}'));
});

Deno.test("renamed() changes the name and no other byte", () => {
  const catalog = new Catalog();
  catalog.setListed("a", [
    '{ "x":12345678901234567890, "inputSchema":{"type":"object","name":"no"},"name" : "one" }',
  ]);
  const [one] = catalog.of("a").tools;
  assert.equal(
    renamed(one!, "a.one"),
    '{ "x":12345678901234567890, "inputSchema":{"type":"object","name":"no"},"name" : "a.one" }',
  );
});

Deno.test("Catalog.setPromotions() replaces the description alone, and gives the text back byte for byte", () => {
  const catalog = new Catalog();
  const own =
    '{ "name":"one", "description":"old \\u00e9", "inputSchema":{"type":"object"},"x":1.50}';
  catalog.setListed("a", [own, tool("two")]);
  const before = catalog.of("a").tools[0]!;
  catalog.setPromotions([
    { server: "a", toolName: "one", description: 'new "text"' },
    { server: "a", toolName: "two", description: "its first" },
    { server: "b", toolName: "three", description: "not there yet" },
  ]);
  const [one, two] = catalog.of("a").tools;
  assert.equal(one!.text, own.replace('"old \\u00e9"', '"new \\"text\\""'));
  assert.equal(one!.definition.description, 'new "text"');
  assert.equal(canonicalDescription(one!), "old é");
  assert.equal(one!.fingerprint, before.fingerprint);
  assert.notEqual(shownFingerprint(one!), shownFingerprint(before));
  assert.deepEqual(JSON.parse(two!.text), { ...JSON.parse(tool("two")), description: "its first" });
  assert.equal(canonicalDescription(two!), undefined);
  assert.equal(catalog.setListed("a", [own, tool("two")])[0]!.text, own);

  catalog.setListed("b", [tool("three")]);
  assert.equal(catalog.of("b").tools[0]!.definition.description, "not there yet");

  catalog.setPromotions([]);
  assert.equal(catalog.of("a").tools[0]!.text, own);
});

Deno.test("Catalog.setPromotions() publishes for the servers it concerns and for no others", () => {
  const catalog = new Catalog();
  for (const server of ["a", "b"]) catalog.setListed(server, [tool("one")]);
  const changes: string[] = [];
  catalog.onChange((server) => changes.push(server));
  const promotion = { server: "a", toolName: "one", description: "better" };
  catalog.setPromotions([promotion]);
  catalog.setPromotions([{ ...promotion }]);
  assert.deepEqual(changes, ["a"]);
});

function holding(catalog: Catalog, ...names: string[]): ReviewRules {
  const pins = catalog.of("a").tools.filter(({ name }) => names.includes(name))
    .map((tool) => [tool.name, { tool, isKept: false }] as const);
  return {
    policy: "hold",
    isWhole: true,
    pins: new Map(pins),
    rejected: new Map(),
    hidden: new Set(),
    waived: new Set(),
  };
}

Deno.test("Catalog.setListed() gives what the server lists, whatever is shown of it", () => {
  const guard = new ToolGuard();
  const catalog = new Catalog({ guard });
  catalog.setListed("a", [tool("one")]);
  guard.setRules("a", holding(catalog, "one"));
  const changed = tool("one", ',"title":"another"');
  const seen = catalog.setListed("a", [changed, tool("two")]);
  assert.deepEqual(seen.map(({ text }) => text), [changed, tool("two")]);
  assert.deepEqual(catalog.of("a").tools.map(({ text }) => text), [tool("one")]);
});

Deno.test("Catalog.refresh() publishes where the rules make a difference, and only there", () => {
  const guard = new ToolGuard();
  const catalog = new Catalog({ guard });
  catalog.setListed("a", [tool("one"), tool("two")]);
  let changes = 0;
  catalog.onChange(() => changes++);
  catalog.refresh("a");
  assert.equal(changes, 0);
  guard.setRules("a", holding(catalog, "one"));
  catalog.refresh("a");
  catalog.refresh("a");
  assert.equal(changes, 1);
  assert.deepEqual(catalog.of("a").tools.map(({ name }) => name), ["one"]);
  catalog.refresh("nowhere");
});

Deno.test("Catalog.read() holds a single client's list to the same rules, and remembers what it held", () => {
  const guard = new ToolGuard();
  const catalog = new Catalog({ guard });
  catalog.setListed("a", [tool("one")]);
  guard.setRules("a", holding(catalog, "one"));
  const own = [tool("one", ',"title":"another"'), tool("secret")];
  assert.deepEqual(catalog.read("a", own).tools.map(({ text }) => text), [tool("one")]);
  assert.deepEqual(catalog.heldOf("a").map(({ name }) => name), ["one", "secret"]);
  let changes = 0;
  catalog.onChange(() => changes++);
  // That client is to read its list anew, though the one for all is the same.
  catalog.refresh("a");
  assert.equal(changes, 1);
  assert.deepEqual(catalog.heldOf("a").map(({ kind, name }) => [kind, name]), [
    ["changed", "one"],
    ["added", "secret"],
  ]);
  guard.setRules("a", { ...holding(catalog, "one"), policy: "allow" });
  catalog.refresh("a");
  assert.deepEqual(catalog.heldOf("a"), []);
});

Deno.test("Catalog.heldOf() has each version that a client is listed once, and of one tool a few", () => {
  const guard = new ToolGuard();
  const told: string[] = [];
  const catalog = new Catalog({ guard });
  catalog.onHeldElsewhere((_, held) => told.push(...held.map(({ listed }) => titleOf(listed))));
  const version = (n: number) => tool("one", `,"title":"${n}"`);
  const titleOf = ({ text }: { text: string }) => JSON.parse(text).title ?? "";
  const titles = () => catalog.heldOf("a").map(({ listed }) => titleOf(listed));
  catalog.setListed("a", [tool("one")]);
  guard.setRules("a", holding(catalog, "one"));
  catalog.setListed("a", [version(0)]);
  for (const n of [0, 1, 2, 1]) catalog.read("a", [version(n)]);
  assert.deepEqual(titles().sort(), ["0", "1", "2"]);
  // What the list for all has is told of with that list.
  assert.deepEqual(told, ["1", "2"]);
  for (let n = 3; n < 200; n++) catalog.read("a", [version(n)]);
  assert.deepEqual(titles(), ["0", "195", "196", "197", "198", "199"]);
  catalog.read("a", [version(199), tool("other")]);
  assert.ok(catalog.heldOf("a").some(({ name }) => name === "other"));
});
