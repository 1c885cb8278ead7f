import assert from "node:assert/strict";
import { EVERYONE } from "../core/principal.ts";
import { toolsetPage } from "./toolset_page.ts";
import { toolsetsPage } from "./toolsets_page.ts";
import { toolsetsGateway } from "./testing/toolsets_gateway.ts";

Deno.test("toolsetsPage() lists by name, with what is equipped", async () => {
  await using open = await toolsetsGateway({ git: ["status", "log"] });
  const { gateway, toolsets } = open;
  await gateway.toolsets.build({ name: "review", tools: ["git.status", "git.log"] });
  await gateway.toolsets.build({ name: "dev", tools: ["git.status"] });
  await toolsets.equip(EVERYONE, "review");
  const page = await toolsetsPage(gateway);
  assert.deepEqual(page.rows.map(({ name }) => name), ["dev", "review"]);
  assert.equal(page.equipped?.name, "review");
  assert.equal(page.available, 2);
  assert.deepEqual(page.rows.map(({ registered, toolCount }) => [registered, toolCount]), [
    [1, 1],
    [2, 2],
  ]);
});

Deno.test("toolsetPage() has its door, what is equipped instead, and how each tool stands", async () => {
  await using open = await toolsetsGateway({ git: ["status"], files: ["read"] });
  const { gateway, toolsets, away } = open;
  await gateway.toolsets.build({ name: "dev", tools: ["git.status", "files.read"] });
  await gateway.toolsets.build({ name: "other", tools: ["git.status"] });
  await toolsets.equip(EVERYONE, "other");
  away.add("files");
  const page = await toolsetPage(gateway, "dev");
  assert.ok("tools" in page);
  assert.deepEqual(page.tools.map(({ server, tool, state }) => [server, tool, state]), [
    ["git", "status", "registered"],
    ["files", "read", "waiting"],
  ]);
  assert.equal(page.door, "http://127.0.0.1:3333/toolsets/dev/mcp");
  assert.deepEqual(page.equipped, { name: "other", toolCount: 1 });
  assert.deepEqual(page.notes, ["1 tool is waiting for a server that is away"]);
  assert.deepEqual(await toolsetPage(gateway, "de"), { missing: "de", nearest: ["dev"] });
});
