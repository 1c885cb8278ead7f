import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/types"
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Endpoints } from "./combined_endpoints.ts";
import { npmServer } from "./fixtures/npm_servers.ts";

/** What the server everything lists only to clients that offer these. */
const CONDITIONAL = ["get-roots-list", "trigger-elicitation-request", "trigger-sampling-request"];
const CAPABILITIES = { sampling: {}, elicitation: {}, roots: {} };

async function connect(url: string, path: string, capabilities: object = {}) {
  const client = new Client({ name: "test", version: "1" }, { capabilities });
  if ("roots" in capabilities) {
    client.setRequestHandler(ListRootsRequestSchema, () => ({
      roots: [{ uri: "file:///mine", name: "mine" }],
    }));
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(path, url)) as never);
  return {
    client,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    text: async (name: string, args: Record<string, unknown> = {}) =>
      JSON.stringify(await client.callTool({ name, arguments: args })),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

Deno.test("tools that a server lists to capable clients are there from the first list on", async (t) => {
  await using endpoints = await Endpoints.open({ every: npmServer("everything") });
  const { url } = endpoints;
  const flat = CONDITIONAL.map((name) => `every_${name.replaceAll("-", "_")}`);
  const has = (listed: string[], wanted: string[]) =>
    wanted.filter((name) => listed.includes(name));

  await t.step("at the server's endpoint and at /mcp, and for nobody else", async () => {
    await using own = await connect(url, "/servers/every/mcp?names=original", CAPABILITIES);
    assert.deepEqual(has(await own.names(), CONDITIONAL), CONDITIONAL);
    await using all = await connect(url, "/mcp?expose=all", CAPABILITIES);
    assert.deepEqual(has(await all.names(), flat), flat);
    for (const path of ["/servers/every/mcp?names=original", "/mcp?expose=all"]) {
      await using plain = await connect(url, path);
      assert.deepEqual(has(await plain.names(), [...CONDITIONAL, ...flat]), []);
    }
  });

  await t.step("found by search and callable", async () => {
    await using capable = await connect(url, "/mcp", CAPABILITIES);
    await capable.names();
    const search = { query: "list the roots of the client" };
    assert.match(await capable.text("tool_discovery", search), /get-roots-list/);
    const found = await capable.text("tool_execute", { toolKey: "every.get-roots-list" });
    assert.match(found, /file:\/\/\/mine/);
    assert.match(await capable.text("every_get_roots_list"), /file:\/\/\/mine/);
    await using plain = await connect(url, "/mcp");
    assert.doesNotMatch(await plain.text("tool_discovery", search), /get-roots-list/);
    await assert.rejects(plain.text("every_get_roots_list"), /no tool/);
  });

  await t.step("in a toolset", async () => {
    await endpoints.build("asking", ["every.get-roots-list", "every.echo"]);
    await using capable = await connect(url, "/toolsets/asking/mcp", CAPABILITIES);
    assert.deepEqual((await capable.names()).sort(), ["every_echo", "every_get_roots_list"]);
    assert.match(await capable.text("every_get_roots_list"), /file:\/\/\/mine/);
    await using plain = await connect(url, "/toolsets/asking/mcp");
    assert.deepEqual(await plain.names(), ["every_echo"]);
  });

  await t.step("not once they are disabled", async () => {
    await endpoints.api("POST", "/api/server.set_tools", {
      server: "every",
      tools: ["echo"],
    });
    await using capable = await connect(url, "/mcp?expose=all", CAPABILITIES);
    assert.deepEqual(await capable.names(), ["every_echo"]);
  });
});
