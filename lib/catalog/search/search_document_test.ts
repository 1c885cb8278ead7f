import assert from "node:assert/strict";
import { type CatalogTool, isBroken, readTool } from "../catalog_tool.ts";
import { parameterText, toSearchDocument } from "./search_document.ts";

function aTool(definition: Record<string, unknown>): CatalogTool {
  const tool = readTool(
    "files",
    JSON.stringify({ name: "read_file", inputSchema: { type: "object" }, ...definition }),
    0,
  );
  assert.ok(!isBroken(tool));
  return tool;
}

Deno.test("toSearchDocument() takes all that a tool can be found by", () => {
  const document = toSearchDocument(
    aTool({
      title: "Read",
      description: "Reads a file",
      inputSchema: {
        type: "object",
        properties: { path: { type: "string", description: "Where it is" } },
      },
    }),
    { category: "file_operations", serverTitle: "Files", serverDescription: "Local files" },
  );
  assert.equal(document.key, "files.read_file");
  assert.equal(document.title, "Read");
  assert.equal(document.parameters, "path Where it is");
  assert.equal(document.category, "file_operations");
  assert.equal(document.serverDescription, "Local files");
});

Deno.test("toSearchDocument() has another fingerprint when anything is another", () => {
  const one = toSearchDocument(aTool({ description: "a" }));
  assert.equal(one.fingerprint, toSearchDocument(aTool({ description: "a" })).fingerprint);
  assert.notEqual(one.fingerprint, toSearchDocument(aTool({ description: "b" })).fingerprint);
  assert.notEqual(
    one.fingerprint,
    toSearchDocument(aTool({ description: "a" }), { category: "x" }).fingerprint,
  );
});

Deno.test("parameterText() goes into objects and lists, and stops somewhere", () => {
  const inner = { properties: { city: { description: "A town" } } };
  assert.equal(
    parameterText({ properties: { where: { items: inner }, when: true } }),
    "where city A town when",
  );
  const endless: Record<string, unknown> = {};
  endless.properties = { again: endless };
  assert.ok(parameterText(endless).length < 100);
  assert.equal(parameterText(null), "");
});
