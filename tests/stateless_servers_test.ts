import assert from "node:assert/strict";
import { fromFileUrl } from "@std/path";
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/types"
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { serveStateless } from "../lib/servers/testing/stateless_server.ts";
import { Endpoints } from "./combined_endpoints.ts";
import { until } from "./gateway.ts";
import { TEST_LOCK } from "./packages.ts";
import { StatelessClient } from "./stateless_client.ts";

const PROGRAM = fromFileUrl(
  new URL("../lib/servers/testing/stateless_server.ts", import.meta.url),
);
const CAPABILITIES = { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} };

/** A client of SDK v1, which speaks 2025-11-25, with all that it hears. */
async function connect(url: string, path: string) {
  const client = new Client({ name: "test", version: "1" }, { capabilities: CAPABILITIES });
  const heard: string[] = [];
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///mine" }] }));
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({
    action: "accept",
    ...(params.mode === "url" ? {} : { content: { color: "blue" } }),
  }));
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    model: "m",
    role: "assistant",
    content: { type: "text", text: "sampled" },
  }));
  const hear = ({ method, params }: { method: string; params?: unknown }) =>
    void heard.push(`${method} ${JSON.stringify(params)}`);
  client.setNotificationHandler(LoggingMessageNotificationSchema, hear);
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, hear);
  client.setNotificationHandler(ToolListChangedNotificationSchema, hear);
  await client.connect(new StreamableHTTPClientTransport(new URL(path, url)) as never);
  return {
    client,
    heard,
    text: async (name: string, args: Record<string, unknown> = {}) =>
      JSON.stringify(await client.callTool({ name, arguments: args })),
    hasHeard: (text: string) => until(() => heard.find((message) => message.includes(text))),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

Deno.test("clients of 2025-11-25 use servers of 2026-07-28 as if they had sessions", async (t) => {
  await using http = serveStateless();
  await using endpoints = await Endpoints.open({
    program: { command: Deno.execPath(), args: ["run", "-A", "-q", "--lock", TEST_LOCK, PROGRAM] },
    remote: { type: "http", url: http.url },
  });
  const { url } = endpoints;
  for (const server of ["program", "remote"]) {
    const places: [path: string, prefix: string][] = [
      [`/servers/${server}/mcp?names=original`, ""],
      ["/mcp?expose=all", `${server}_`],
    ];
    for (const [path, prefix] of places) {
      await t.step(`${server} at ${path}`, async () => {
        await using user = await connect(url, path);
        const { client, text, hasHeard } = user;
        const { tools } = await client.listTools();
        assert.ok(tools.some(({ name }) => name === `${prefix}echo`));
        const numbers = tools.find(({ name }) => name === `${prefix}numbers`);
        assert.ok(numbers && numbers.outputSchema === undefined);
        const { content, structuredContent } = await client.callTool({ name: numbers.name });
        assert.deepEqual(content, [{ type: "text", text: "one and two" }]);
        assert.equal(structuredContent, undefined);
        assert.match(await text(`${prefix}echo`, { region: "Zürich" }), /Zürich/);
        assert.match(await text(`${prefix}ask`), /blue, state/);
        const all = await text(`${prefix}ask_all`).catch(() => text(`${prefix}ask-all`));
        for (const part of ["sampled", "file:///mine"]) assert.ok(all.includes(part), all);
        let progress = 0;
        const onprogress = () => void progress++;
        await client.callTool({ name: `${prefix}count` }, undefined, { onprogress });
        assert.equal(progress, 3);
        await hasHeard("counted");
        const { resources } = await client.listResources();
        for (const { uri } of resources) await client.subscribeResource({ uri });
        await text(`${prefix}touch`);
        await hasHeard("notifications/resources/updated");
        await text(`${prefix}grow`, { name: `extra-${prefix}` });
        await hasHeard("notifications/tools/list_changed");
      });
    }
  }
  await endpoints.build("counting", ["remote.numbers"]);
  await using older = await connect(url, "/toolsets/counting/mcp");
  assert.match(await older.text("remote_numbers"), /one and two/);
  await using newer = await StatelessClient.http(new URL("/toolsets/counting/mcp", url));
  const [numbers] = (await newer.client.listTools()).tools;
  assert.equal(numbers?.outputSchema?.type, "array");
  const { structuredContent } = await newer.client.callTool({ name: "remote_numbers" });
  assert.deepEqual(structuredContent, [1, 2]);
  const page = await fetch(new URL("/servers/remote", url));
  assert.match(await page.text(), /2026-07-28/);
});
