import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import assert from "node:assert/strict";
import { join } from "@std/path";
import { type Browser, launchBrowser } from "./browser.ts";
import { tool } from "./combined_endpoints.ts";
import { assertReadable, browserTest as test, goLive, openPage } from "./console_pages.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";
import { type RunningGateway, startGateway, until } from "./gateway.ts";

let folder: string;
let git: ScriptedServer;
let gateway: RunningGateway;
let browser: Browser;

Deno.test.beforeAll(async () => {
  folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  git = new ScriptedServer([tool("status"), tool("commit")]);
  await Deno.writeTextFile(
    join(folder, ".mcp.json"),
    JSON.stringify({ mcpServers: { git: { type: "http", url: git.url } } }),
  );
  [gateway, browser] = await Promise.all([startGateway([], { cwd: folder }), launchBrowser()]);
});

Deno.test.afterAll(async () => {
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
  await git?.[Symbol.asyncDispose]();
  await Deno.remove(folder, { recursive: true });
});

async function connectAs(name: string, path = "/mcp") {
  const client = new Client({ name, version: "1.2.3" });
  const transport = new StreamableHTTPClientTransport(new URL(path, gateway.url));
  await client.connect(transport as never);
  const call = (name: string, args: Record<string, unknown>) =>
    client.callTool({ name, arguments: args });
  return { client, call, [Symbol.asyncDispose]: () => client.close() };
}

test("clients page shows how to connect, then who is connected and what its model is listed", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await goLive(page, `${gateway.url}/clients`);
  await page.getByRole("heading", { name: "No clients connected" }).waitFor();
  await page.getByText(`${gateway.url}/mcp`).first().waitFor();
  await assertReadable(page, "clients-empty");

  await using cursor = await connectAs("cursor-vscode");
  await using claude = await connectAs("claude-code", "/mcp?expose=all");
  const row = page.locator("tr[data-row]", { hasText: "cursor-vscode" });
  await row.waitFor();
  const { tools } = await cursor.client.listTools();
  await row.getByText(`${tools.length} of 40 tools`).waitFor();
  await row.getByText("search, equipped toolset").waitFor();
  await page.locator("tr[data-row]", { hasText: "claude-code" }).getByText("2 tools").waitFor();
  await claude.call("git_commit", {});
  await page.locator("tr[data-row]", { hasText: "git.commit" }).waitFor();
  await assertReadable(page, "clients-list");

  await cursor.call("tool_discovery", { query: "status" });
  await cursor.call("tool_execute", { toolKey: "git_status", arguments: {} });
  await cursor.call("tool_discovery", { query: "send a fax" });
  await row.getByRole("link", { name: "cursor-vscode" }).click();
  await page.getByRole("heading", { name: "Tools listed to its model" }).waitFor();
  await page.getByRole("cell", { name: "Quartermaster’s own tools" }).waitFor();
  await page.getByText("Every enabled tool can be found by search and called").waitFor();
  await page.getByText("called git.status").waitFor();
  await page.getByRole("listitem").filter({ hasText: "send a fax" }).getByText("Nothing found")
    .waitFor();
  await assertReadable(page, "clients-detail");

  // Two tools cost less than the gateway's own.
  await goLive(page, gateway.url);
  await page.locator(".stat", { hasText: "Tokens saved" }).getByText(/less than the gateway’s own/)
    .waitFor();
  await page.getByText(/The gateway saves tokens once/).waitFor();
  await page.goBack();

  await page.getByRole("button", { name: "Disconnect this client" }).click();
  await page.getByRole("button", { name: "Disconnect", exact: true }).click();
  await page.waitForURL(`${gateway.url}/clients`);
  await page.getByRole("heading", { name: "Disconnected within the last hour" }).waitFor();
  await assert.rejects(cursor.client.listTools(), /404|session/i);
  const missing = await page.goto(`${gateway.url}/clients/00000000`);
  assert.equal(missing?.status(), 404);
  assert.deepEqual(complaints, []);
});

test("activity page shows a search as it happens, with what it found and what was called", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await using claude = await connectAs("claude-code");
  await goLive(page, `${gateway.url}/activity?kind=search`);
  await claude.call("tool_discovery", { query: ["commit"] });
  const row = page.locator("tr[data-call]", { hasText: "“commit”" });
  await row.waitFor();
  assert.match(await row.locator("time").innerText(), /^\d\d:\d\d:\d\d$/);
  await claude.call("tool_execute", { toolKey: "git_commit", arguments: {} });
  await row.getByText("→ commit").waitFor();
  assert.equal(await page.getByText("→ commit").count(), 1);
  await assertReadable(page, "activity-searches");

  await row.getByRole("link").click();
  await page.getByRole("heading", { name: "“commit”" }).waitFor();
  const found = page.locator(".found-table tr", { hasText: "git.commit" });
  await assertReadable(page, "activity-search");
  await found.getByRole("link", { name: "OK" }).click();
  await page.getByRole("heading", { name: "git.commit" }).waitFor();
  await page.getByRole("link", { name: "The search that led to this call" }).waitFor();

  await claude.call("tool_discovery", { query: "zzz qqq xxx" });
  await claude.call("tool_discovery", { query: "Zzz qqq xxx" });
  await goLive(page, `${gateway.url}/activity`);
  await page.getByRole("link", { name: "Show the queries" }).click();
  await page.waitForURL(/kind=missed/);
  const missed = page.getByRole("table", { name: "Searches that found nothing, by query" });
  await missed.locator("tr", { hasText: "zzz qqq xxx" }).getByRole("cell", { name: "2" })
    .waitFor();
  await assertReadable(page, "activity-missed");
  const scrolls = await page.evaluate(() =>
    document.documentElement.scrollHeight - document.documentElement.clientHeight
  );
  assert.equal(scrolls, 0, "only the list scrolls");
  await until(async () => {
    const { calls } = await (await fetch(`${gateway.url}/api/activity?kind=missed`)).json();
    return calls.length >= 2 ? true : undefined;
  });
  assert.deepEqual(complaints, []);
});

test("the command line lists clients, and an unknown one cannot be disconnected", async () => {
  await using claude = await connectAs("claude-code");
  await claude.client.listTools();
  const { clients } = await (await fetch(`${gateway.url}/api/client.list`)).json();
  const listed = clients.find(({ name }: { name: string }) => name === "claude-code");
  assert.equal(listed.endpoint, "mcp?default");
  assert.ok(listed.listing.tokens > 0);
  assert.equal(listed.listing.parts[0].server, undefined);
  const response = await fetch(`${gateway.url}/api/client.disconnect`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client: "nobody" }),
  });
  assert.equal(response.status, 404);
});
