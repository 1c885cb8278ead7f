import assert from "node:assert/strict";
import { Catalog } from "../catalog/catalog.ts";
import { NameTables } from "../catalog/name_table.ts";
import type { ToolText } from "../core/tool_text.ts";
import { catalogTargets } from "./targets.ts";

function tool(name: string, description?: string): string {
  return JSON.stringify({ name, description, inputSchema: { type: "object" } });
}

function open() {
  const catalog = new Catalog();
  catalog.setListed("files", [tool("read.me", "Reads."), tool("delete"), tool("hidden", "H.")]);
  catalog.setEnabled("files", ["read.me", "delete"]);
  catalog.setListed("git", [tool("status", "Status.")]);
  const names = new NameTables([], 60);
  const equipped = () => [...catalog.of("git").tools, ...catalog.of("files").tools.slice(0, 1)];
  return {
    catalog,
    targets: catalogTargets({
      ...{ catalog, names, equipped, equippedName: () => undefined, toolset: () => [] },
    }),
  };
}

const shownTexts = (tools: { text: string }[]) => tools.map(({ text }) => JSON.parse(text));

Deno.test("catalogTargets.shown() replaces exactly one description among the enabled tools", () => {
  const { targets } = open();
  assert.deepEqual(shownTexts(targets.shown("files", "delete", { description: "Removes." }, [])), [
    { name: "files_read_me", description: "Reads.", inputSchema: { type: "object" } },
    { name: "files_delete", description: "Removes.", inputSchema: { type: "object" } },
  ]);
});

Deno.test("catalogTargets.shown() shows what is named of other servers, as far as it is there", () => {
  const { catalog, targets } = open();
  const beside = targets.equipped();
  assert.deepEqual(beside, [
    { server: "git", tool: "status" },
    { server: "files", tool: "read.me" },
  ]);
  const names = () =>
    targets.shown("files", "delete", { description: "x" }, beside).map(({ name }) => name);
  assert.deepEqual(names(), ["files_read_me", "files_delete", "git_status"]);
  catalog.setEnabled("git", []);
  assert.deepEqual(names(), ["files_read_me", "files_delete"]);
});

Deno.test("catalogTargets.shown() shows the server's own description beside promoted siblings", () => {
  const { catalog, targets } = open();
  catalog.setPromotions([
    { server: "files", toolName: "delete", description: "Promoted." },
    { server: "files", toolName: "read.me", description: "Promoted too." },
  ]);
  const [sibling, target] = shownTexts(targets.shown("files", "delete", { description: "" }, []));
  assert.equal("description" in target, false);
  assert.equal(sibling.description, "Promoted too.");
});

Deno.test("catalogTargets.find() speaks of the server's own description, whatever is promoted", () => {
  const { catalog, targets } = open();
  catalog.setPromotions([{ server: "files", toolName: "read.me", description: "Promoted." }]);
  const found = targets.find("files", "read.me");
  assert.equal(found?.canonicalDescription, "Reads.");
  assert.equal(found?.definition.description, "Reads.");
  assert.equal(found?.flatName, "files_read_me");
  assert.deepEqual(found?.siblings, [{ name: "delete", description: "" }]);
  assert.equal(targets.find("files", "delete")?.canonicalDescription, null);
  assert.equal(targets.find("files", "hidden")?.enabled, false);
  assert.equal(targets.find("files", "no"), undefined);
  assert.equal(targets.tools().length, 4);
});

Deno.test("catalogTargets know the server's own texts of parameters, whatever is promoted", () => {
  const { catalog, targets } = open();
  const own =
    '{"name":"delete","inputSchema":{"type":"object","properties":{"path":{"description":"P"}}}}';
  catalog.setListed("files", [own]);
  const text = { description: "Removes.", parameters: { path: "A file" } };
  catalog.setPromotions([{ server: "files", toolName: "delete", ...text }]);
  const found = targets.find("files", "delete");
  assert.deepEqual(found?.parameters, { path: "P" });
  assert.deepEqual(found?.definition, JSON.parse(own));
  const shown = (text: ToolText) => {
    const [tool] = targets.shown("files", "delete", text, []);
    return JSON.parse(tool!.text).inputSchema.properties.path.description;
  };
  assert.equal(shown(text), "A file");
  assert.equal(shown({ description: "" }), "P");
  assert.equal(shown({ description: "Removes." }), "P");
  // Also where the description is the server's own.
  assert.equal(shown({ description: "", parameters: { path: "A path" } }), "A path");
});
