import assert from "node:assert/strict";
import { Server } from "@modelcontextprotocol/sdk/server";
// @ts-types="@modelcontextprotocol/sdk/types"
import {
  CallToolRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  ResourceUpdatedNotificationSchema,
  SubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import { at, connect, type EndpointClient, Endpoints, must } from "./combined_endpoints.ts";
import { serveSessions } from "./fixtures/serve_sessions.ts";
import { until } from "./gateway.ts";

const PAGE = "ui://get-time/mcp-app.html";
const Meta = z.looseObject({
  ui: z.object({ resourceUri: z.string() }),
  "ui/resourceUri": z.string(),
});

/** An MCP App as its SDK makes it: a tool, and the page that shows its results. */
function app(title: string): Server {
  const server = new Server({ name: title, version: "1" }, {
    capabilities: { tools: {}, resources: { subscribe: true } },
  });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [{
      name: "get_time",
      description: `Gets the time, shown by ${title}`,
      inputSchema: { type: "object" },
      _meta: { ui: { resourceUri: PAGE }, "ui/resourceUri": PAGE },
    }],
  }));
  server.setRequestHandler(CallToolRequestSchema, async () => {
    await server.sendResourceUpdated({ uri: PAGE });
    return { content: [{ type: "resource_link", uri: PAGE, name: "page" }] };
  });
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: [{ uri: PAGE, name: "page", mimeType: "text/html;profile=mcp-app" }],
  }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
    if (uri !== PAGE) throw new Error(`No resource ${uri}`);
    return { contents: [{ uri, mimeType: "text/html;profile=mcp-app", text: title }] };
  });
  server.setRequestHandler(SubscribeRequestSchema, () => ({}));
  return server;
}

/** Where each of the listed tools has its page. */
async function pagesOf({ client }: EndpointClient): Promise<Map<string, string>> {
  const { tools } = await client.listTools();
  const apps = tools.filter(({ name }) => name.endsWith("_get_time"));
  return new Map(apps.map(({ name, _meta }) => {
    const { ui, "ui/resourceUri": older } = Meta.parse(_meta);
    assert.equal(ui.resourceUri, older);
    return [name, older];
  }));
}

/** What a host would show. */
async function read({ client }: EndpointClient, uri: string): Promise<string> {
  const { contents } = await client.readResource({ uri });
  const [page] = z.array(z.object({ uri: z.string(), text: z.string() })).parse(contents);
  assert.equal(page?.uri, uri);
  return page.text;
}

Deno.test("two servers with the same ui:// page each show their own at combined endpoints", async (t) => {
  await using first = serveSessions(() => app("First"));
  await using second = serveSessions(() => app("Second"));
  await using endpoints = await Endpoints.open({ appa: at(first), appb: at(second) });
  await endpoints.build("both", ["appa.get_time", "appb.get_time"]);
  await endpoints.build("late", ["appb.get_time"]);

  for (const path of ["/mcp?expose=all", "/toolsets/both/mcp", "/mcp", "/mcp?expose=toolset"]) {
    await t.step(`${path}: tools, lists, reads and results agree on whose page it is`, async () => {
      await using client = await connect(endpoints.url, path);
      if (/^\/mcp(\?expose=toolset)?$/.test(path)) {
        await must(client, "equip-toolset", { name: "both" });
      }
      const pages = await pagesOf(client);
      const [ours, theirs] = [pages.get("appa_get_time")!, pages.get("appb_get_time")!];
      assert.ok([ours, theirs].every((uri) => uri.startsWith("ui://") && URL.canParse(uri)));
      assert.equal(await read(client, ours), "First");
      assert.equal(await read(client, theirs), "Second");
      const { resources } = await client.client.listResources();
      assert.deepEqual(resources.map(({ uri }) => uri), [ours, theirs]);
      for (const [name, page] of pages) {
        const { content } = await client.client.callTool({ name });
        assert.deepEqual(content, [{ type: "resource_link", uri: page, name: "page" }]);
      }
      await assert.rejects(
        client.client.readResource({ uri: PAGE }),
        /2 servers have the resource/,
      );
    });
  }

  await t.step("a toolset of one shows its page, and not the other's", async () => {
    await using client = await connect(endpoints.url, "/toolsets/late/mcp");
    const [page = ""] = (await pagesOf(client)).values();
    assert.equal(await read(client, page), "Second");
    await assert.rejects(read(client, page.replace("appb", "appa")), /There is no resource/);
  });

  await t.step("updates come under the URI of the page that was subscribed to", async () => {
    await using client = await connect(endpoints.url, "/mcp?expose=all");
    const pages = await pagesOf(client);
    const updated: string[] = [];
    client.client.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }) => void updated.push(params.uri),
    );
    const uri = pages.get("appb_get_time")!;
    await client.client.subscribeResource({ uri });
    await client.client.callTool({ name: "appb_get_time" });
    await until(() => updated.length > 0 || undefined);
    assert.deepEqual(updated, [uri]);
  });

  for (const expose of ["discovery", "index", "optimizer"]) {
    await t.step(
      `?expose=${expose}: the pages of tools that can be called can be read`,
      async () => {
        await using client = await connect(endpoints.url, `/mcp?expose=${expose}`);
        assert.equal(await read(client, "ui://appb.quartermaster/get-time/mcp-app.html"), "Second");
      },
    );
  }

  await t.step("at a server's own endpoint pages keep their URIs", async () => {
    await using client = await connect(endpoints.url, "/servers/appb/mcp?names=flat");
    assert.deepEqual([...(await pagesOf(client)).values()], [PAGE]);
    assert.equal(await read(client, PAGE), "Second");
  });
});
