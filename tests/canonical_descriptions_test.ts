import assert from "node:assert/strict";
import { connect } from "./combined_endpoints.ts";
import { POOR_DESCRIPTION } from "./fixtures/library_server.ts";
import { GOOD, Lab, promoteAsPerson, propose } from "./optimization.ts";

Deno.test("?descriptions=canonical shows no promoted description, in lists and in search", async () => {
  await using lab = await Lab.open({});
  await using manager = await lab.manager();
  await promoteAsPerson(lab, await propose(manager, GOOD));
  const { url } = lab.gateway;

  const described = async (path: string) => {
    await using client = await connect(url, path);
    const { tools } = await client.client.listTools();
    return tools.find(({ name }) => /find_books$/.test(name))?.description;
  };
  for (const path of ["/servers/library/mcp", "/mcp?expose=all"]) {
    const canonical = `${path}${path.includes("?") ? "&" : "?"}descriptions=canonical`;
    assert.equal(await described(path), GOOD, path);
    assert.equal(await described(canonical), POOR_DESCRIPTION, canonical);
  }

  const found = async (path: string) => {
    await using client = await connect(url, path);
    const query = "novels by author or subject";
    return (await client.call("tool_discovery", { query, detailLevel: "full" })).text;
  };
  assert.match(await found("/mcp"), /Finds books in the catalog/);
  assert.doesNotMatch(await found("/mcp?descriptions=canonical"), /Finds books in the catalog/);

  // Both follow what changes.
  await manager.call("revert_optimization", { server: "library", tool: "find_books" });
  assert.equal(await described("/servers/library/mcp"), POOR_DESCRIPTION);
});
