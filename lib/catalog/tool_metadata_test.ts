import assert from "node:assert/strict";
import { Catalog } from "./catalog.ts";
import { ToolMetadataBook } from "./tool_metadata.ts";

function toolOf(description: string, extra: Record<string, unknown> = {}) {
  const catalog = new Catalog();
  const definition = { name: "go", description, inputSchema: { type: "object", ...extra } };
  catalog.setListed("srv", [JSON.stringify(definition)]);
  return catalog.of("srv").tools[0]!;
}

Deno.test("ToolMetadataBook.of() takes what people said before what is inferred", () => {
  const tool = toolOf("Search the web. And more.");
  const inferred = new ToolMetadataBook();
  assert.deepEqual(inferred.of(tool), { summary: "Search the web", category: "search" });
  const configured = new ToolMetadataBook({ "srv.*": "web", "other.go": "x" });
  assert.equal(configured.of(tool).category, "web");
  configured.setOverrides([{ server: "srv", tool: "go", summary: "Google it", category: "mine" }]);
  assert.deepEqual(configured.of(tool), { summary: "Google it", category: "mine" });
  configured.setOverrides([]);
  assert.equal(configured.of(tool).summary, "Search the web");
});

Deno.test("ToolMetadataBook.of() sees what a server calls deprecated", () => {
  const book = new ToolMetadataBook();
  assert.equal(
    book.of(toolOf("[DEPRECATED] Use stop instead.\nOld.")).deprecated,
    "Use stop instead.",
  );
  assert.match(book.of(toolOf("Runs.", { deprecated: true })).deprecated!, /deprecated/);
  assert.equal(book.of(toolOf("Lists deprecated packages")).deprecated, undefined);
});
