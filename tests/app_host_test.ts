import assert from "node:assert/strict";
import { fromFileUrl } from "@std/path";
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/types"
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as z from "zod";
import { launchBrowser } from "./browser.ts";
import { Endpoints } from "./combined_endpoints.ts";
import { npmServer } from "./fixtures/npm_servers.ts";
import { until } from "./gateway.ts";
import { TEST_LOCK } from "./packages.ts";

const host = fromFileUrl(new URL("./fixtures/app_host.ts", import.meta.url));
const EXTENSION = "io.modelcontextprotocol/ui";
const MIME = "text/html;profile=mcp-app";
const Meta = z.looseObject({ ui: z.looseObject({ resourceUri: z.string() }) });
const Page = z.object({ uri: z.string(), mimeType: z.literal(MIME), text: z.string() });

async function bundledHost(): Promise<string> {
  const args = ["bundle", "-q", "--platform=browser", "--lock", TEST_LOCK, host];
  const { success, stdout } = await new Deno.Command(Deno.execPath(), { args }).output();
  assert.ok(success, "the host could not be bundled");
  return new TextDecoder().decode(stdout);
}

Deno.test("MCP Apps from npm show their pages and call their tools through /mcp, in a host of their SDK", async (t) => {
  await using endpoints = await Endpoints.open({
    budget: { ...npmServer("budget", ["--stdio"]) },
    clock: { ...npmServer("clock", ["--stdio"]) },
  });
  const script = await bundledHost();
  const browser = await launchBrowser();
  await using _ = { [Symbol.asyncDispose]: () => browser.close() };
  const page = await browser.newPage();
  await page.addScriptTag({ content: script, type: "module" });

  const client = new Client({ name: "host", version: "1" }, {
    capabilities: { extensions: { [EXTENSION]: { mimeTypes: [MIME] } } },
  });
  const url = new URL("/mcp", endpoints.url);
  await client.connect(new StreamableHTTPClientTransport(url) as never);
  await using __ = { [Symbol.asyncDispose]: () => client.close() };
  const called: string[] = [];
  await page.exposeFunction("callTool", async (params: { name: string }) => {
    called.push(params.name);
    return CallToolResultSchema.parse(await client.callTool(params));
  });

  /** Calls a tool and shows its page, as the host of a model would. */
  async function show(server: string, tool: string) {
    await using all = await listing();
    const { tools } = await all.client.listTools();
    const listed = tools.find(({ name }) => name === `${server}_${tool}`);
    assert.ok(listed, tools.map(({ name }) => name).join());
    const { ui } = Meta.parse(listed._meta);
    assert.match(ui.resourceUri, new RegExp(`^ui://${server}\\.quartermaster/`));
    const { contents } = await client.readResource({ uri: ui.resourceUri });
    const [{ text: html, uri }] = z.tuple([Page]).parse(contents);
    assert.equal(uri, ui.resourceUri);
    const result = await client.callTool({ name: listed.name, arguments: {} });
    await page.evaluate((shown) => Reflect.get(globalThis, "showApp")(shown), {
      html,
      args: {},
      result,
    });
    return page.frameLocator("iframe");
  }

  async function listing() {
    const client = new Client({ name: "lister", version: "1" });
    const url = new URL("/mcp?expose=all", endpoints.url);
    await client.connect(new StreamableHTTPClientTransport(url) as never);
    return { client, [Symbol.asyncDispose]: () => client.close() };
  }

  await t.step("a page calls its own tool", async () => {
    const frame = await show("clock", "get_time");
    const time = frame.locator("#server-time");
    await time.filter({ hasText: /\d{4}-\d\d-\d\dT/ }).waitFor();
    await frame.locator("#get-time-btn").click();
    await until(() => called.length === 1 || undefined);
    assert.deepEqual(called, ["get-time"]);
  });

  await t.step("another server's page shows its result", async () => {
    const frame = await show("budget", "get_budget_data");
    await frame.locator("canvas").first().waitFor();
    // The choices are in the result of the tool.
    await frame.locator("option", { hasText: "$50,000" }).waitFor({ state: "attached" });
  });
});
