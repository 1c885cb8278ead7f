import assert from "node:assert/strict";
import { Catalog } from "../catalog/catalog.ts";
import { NameTables } from "../routing/name_table.ts";
import { Builtins } from "../routing/resolve.ts";
import { CombinedSurface } from "./combined_surface.ts";

/** A client at a door that shows every tool there is. */
function openDoor() {
  const catalog = new Catalog();
  const list = (...names: string[]) =>
    catalog.setListed(
      "git",
      names.map((name) => JSON.stringify({ name, inputSchema: { type: "object" } })),
    );
  list("status");
  const surface = new CombinedSurface({
    instructions: "",
    names: new NameTables([]),
    listed: [],
    builtins: new Builtins([]),
    shown: {
      catalog,
      findServer: () => undefined,
      servers: () => [],
      tools: () => catalog.of("git").tools,
    },
  });
  const open = () =>
    surface.open({
      client: { protocolVersion: "2025-11-25", capabilities: {} },
      principal: "Ada",
      push: () => {},
      ask: (text) => text,
      askedAs: () => undefined,
    });
  const session = open();
  const listTools = () =>
    session.request({
      id: 1,
      method: "tools/list",
      params: {},
      text: "{}",
      signal: new AbortController().signal,
      send: () => {},
    });
  return { surface, list, listTools, open };
}

Deno.test("CombinedSurface.changes() is about what clients were last told", () => {
  const { surface, list } = openDoor();
  assert.deepEqual(surface.changes("Ada"), { tools: false, others: false });
  list("status", "log");
  assert.deepEqual(surface.changes("Ada"), { tools: true, others: false });
  surface.told("Ada");
  assert.deepEqual(surface.changes("Ada"), { tools: false, others: false });
  list("status");
  list("status", "log");
  assert.equal(surface.changes("Ada").tools, false, "nobody has seen it in between");
});

Deno.test("CombinedSurface.changes() knows of a list that a client saw and nobody told of", async () => {
  const { surface, list, listTools, open } = openDoor();
  list("status", "log");
  assert.match(await listTools(), /git_log/);
  open();
  assert.equal(surface.changes("Ada").tools, true, "whoever else comes");
  list("status");
  assert.equal(surface.changes("Ada").tools, true);
  surface.told("Ada");
  await listTools();
  assert.equal(surface.changes("Ada").tools, false);
});
