import assert from "node:assert/strict";
import { canonicalCatalog } from "./canonical_catalog.ts";
import { Catalog } from "./catalog.ts";

const text = (name: string) =>
  JSON.stringify({ name, description: `Own ${name}`, inputSchema: { type: "object" } });

Deno.test("canonicalCatalog() follows lists and selections, and never has promoted descriptions", () => {
  const shown = new Catalog();
  shown.setListed("s", [text("a"), text("b")]);
  shown.setEnabled("s", ["a"]);
  shown.setPromotions([{ server: "s", toolName: "a", description: "Promoted" }]);
  using own = canonicalCatalog(shown);
  const seen = () =>
    own.catalog.of("s").tools.map(({ name, enabled, definition: { description } }) =>
      `${name} ${enabled} ${description}`
    );
  assert.equal(shown.of("s").tools[0]?.definition.description, "Promoted");
  assert.deepEqual(seen(), ["a true Own a", "b false Own b"]);
  let changes = 0;
  own.catalog.onChange(() => changes++);
  shown.setPromotions([{ server: "s", toolName: "a", description: "Promoted again" }]);
  assert.equal(changes, 0, "a promotion changes nothing here");
  shown.setEnabled("s", ["a", "b"]);
  shown.setListed("s", [text("b"), text("c")]);
  assert.deepEqual(seen(), ["b true Own b", "c false Own c"]);
  shown.remove("s");
  assert.deepEqual(seen(), []);
});
