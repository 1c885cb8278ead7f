import assert from "node:assert/strict";
import { join, toFileUrl } from "@std/path";
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/client/stdio"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport";
// @ts-types="@modelcontextprotocol/sdk/types"
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { listAll, sameResults } from "./fixtures/compare_servers.ts";
import { connectChaos as connectEager, until as untilTrue } from "./fixtures/exercise_chaos.ts";
import { exerciseEverything } from "./fixtures/exercise_everything.ts";
import { npmServer, type NpmServerEntry, startEverythingOverHttp } from "./fixtures/npm_servers.ts";
import { startGateway, until } from "./gateway.ts";

/** A gateway in front of these servers, all of them ready. */
async function startBehind(mcpServers: Record<string, unknown>) {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  await Deno.writeTextFile(join(folder, ".mcp.json"), JSON.stringify({ mcpServers }));
  const gateway = await startGateway([], { cwd: folder });
  await until(async () => {
    const { servers } = await (await fetch(`${gateway.url}/readyz`)).json();
    return servers.ready === Object.keys(mcpServers).length || undefined;
  });
  return {
    /** The way to a server's endpoint, where the tools keep their names. */
    endpoint(server: string): Transport {
      const url = new URL(`/servers/${server}/mcp?names=original`, gateway.url);
      return new StreamableHTTPClientTransport(url) as unknown as Transport;
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** These servers outlive the end of stdin, and the SDK would wait for two seconds before it kills. */
class ImpatientTransport extends StdioClientTransport {
  override async close(): Promise<void> {
    if (this.pid !== null) Deno.kill(this.pid, "SIGKILL");
    await super.close();
  }
}

function directly({ command, args, env }: NpmServerEntry): Transport {
  const whole = { ...Deno.env.toObject(), ...env };
  return new ImpatientTransport({ command, args, env: whole, stderr: "ignore" });
}

/** A client that offers nothing, and so shares the gateway's connection with others. */
async function connectPlain(transport: Transport) {
  const client = new Client({ name: "plain", version: "1" });
  await client.connect(transport);
  return { client, [Symbol.asyncDispose]: () => client.close() };
}

Deno.test("the server everything keeps every feature behind an endpoint", async (t) => {
  const entry = npmServer("everything");
  await using http = await startEverythingOverHttp();
  await using behind = await startBehind({ stdio: entry, http: { type: "http", url: http.url } });
  await using plain = await connectPlain(directly(entry));
  await using eager = await connectEager(directly(entry));
  for (const server of ["stdio", "http"]) {
    await t.step(server, async () => {
      await using shared = await connectPlain(behind.endpoint(server));
      assert.deepEqual(await listAll(shared.client), await listAll(plain.client));
      assert.equal(shared.client.getInstructions(), plain.client.getInstructions());
      await using own = await connectEager(behind.endpoint(server));
      await exerciseEverything(own, eager);
    });
  }
});

Deno.test("the server filesystem reads and writes below its root, or below a client's own", async () => {
  const root = await Deno.makeTempDir({ prefix: "quartermaster_root_" });
  const other = await Deno.makeTempDir({ prefix: "quartermaster_other_" });
  await Deno.writeTextFile(join(other, "mine.txt"), "Mine");
  const entry = npmServer("filesystem", [root]);
  await using behind = await startBehind({ files: entry });
  await using direct = await connectPlain(directly(entry));
  await using shared = await connectPlain(behind.endpoint("files"));
  assert.deepEqual(await listAll(shared.client), await listAll(direct.client));
  const call = async (name: string, args: Record<string, unknown>, client = shared.client) => {
    const { content, isError } = await client.callTool({ name, arguments: args });
    return (isError ? "Failed: " : "") + JSON.stringify(content);
  };

  const path = join(root, "a.txt");
  const lines = "one\ntwo\nthree naïve \u{1F30D}\n";
  await call("write_file", { path, content: lines });
  assert.equal(await Deno.readTextFile(path), lines);
  await call("edit_file", { path, edits: [{ oldText: "two", newText: "2" }] });
  assert.equal(await Deno.readTextFile(path), lines.replace("two", "2"));
  await call("create_directory", { path: join(root, "below") });
  await call("move_file", { source: path, destination: join(root, "below", "b.txt") });
  await sameResults(shared.client, direct.client, [
    ["read_text_file", { path: join(root, "below", "b.txt"), head: 2 }],
    ["read_multiple_files", { paths: [join(root, "below", "b.txt"), join(root, "nowhere")] }],
    ["read_media_file", { path: join(root, "below", "b.txt") }],
    ["directory_tree", { path: root }],
    ["list_directory_with_sizes", { path: join(root, "below") }],
    ["search_files", { path: root, pattern: "**/*.txt" }],
    ["get_file_info", { path: join(root, "below", "b.txt") }],
    ["list_allowed_directories", {}],
    ["read_text_file", { path: join(other, "mine.txt") }],
  ]);
  assert.match(
    await call("read_text_file", { path: join(other, "mine.txt") }),
    /^Failed: .*denied/,
  );

  const rooted = new Client({ name: "rooted", version: "1" }, { capabilities: { roots: {} } });
  rooted.setRequestHandler(ListRootsRequestSchema, () => ({
    roots: [{ uri: toFileUrl(other).href }],
  }));
  await rooted.connect(behind.endpoint("files"));
  await until(async () => {
    const allowed = await call("list_allowed_directories", {}, rooted);
    return allowed.includes(other) && !allowed.includes(root) || undefined;
  });
  assert.match(await call("read_text_file", { path: join(other, "mine.txt") }, rooted), /Mine/);
  assert.match(await call("list_allowed_directories", {}), new RegExp(root));
  await rooted.close();
  for (const folder of [root, other]) await Deno.remove(folder, { recursive: true });
});

Deno.test("the server memory keeps what it is told, and tells those who subscribed", async () => {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_memory_" });
  const file = join(folder, "memory.jsonl");
  const entry = npmServer("memory", [], { MEMORY_FILE_PATH: file });
  await using behind = await startBehind({ memory: entry });
  await using direct = await connectPlain(directly(entry));
  await using shared = await connectPlain(behind.endpoint("memory"));
  const { client } = shared;
  assert.deepEqual(await listAll(client), await listAll(direct.client));

  const ada = { name: "Ada", entityType: "person", observations: ["Wrote the first program"] };
  const engine = { name: "Engine", entityType: "machine", observations: [] };
  const relation = { from: "Ada", to: "Engine", relationType: "programs" };
  const created = await client.callTool({
    name: "create_entities",
    arguments: { entities: [ada, engine] },
  });
  assert.deepEqual(created.structuredContent, { entities: [ada, engine] });
  await client.callTool({ name: "create_relations", arguments: { relations: [relation] } });
  const observations = [{ entityName: "Ada", contents: ["Born in 1815"] }];
  await client.callTool({ name: "add_observations", arguments: { observations } });
  assert.match(await Deno.readTextFile(file), /Born in 1815/);
  await sameResults(client, direct.client, [
    ["read_graph", {}],
    ["search_nodes", { query: "1815" }],
    ["open_nodes", { names: ["Engine", "Nobody"] }],
    ["add_observations", { observations: [{ entityName: "Nobody", contents: ["x"] }] }],
  ]);
  const uri = "memory://knowledge-graph";
  assert.deepEqual(await client.readResource({ uri }), await direct.client.readResource({ uri }));

  await using eager = await connectEager(behind.endpoint("memory"));
  await using bystander = await connectEager(behind.endpoint("memory"));
  await eager.client.subscribeResource({ uri });
  await bystander.client.readResource({ uri });
  await eager.call("delete_entities", { entityNames: ["Engine"] });
  await untilTrue(() => eager.heard.includes(`updated ${uri}`));
  const { structuredContent } = await client.callTool({ name: "read_graph" });
  assert.deepEqual(structuredContent, {
    entities: [{ ...ada, observations: [...ada.observations, "Born in 1815"] }],
    relations: [],
  });
  assert.deepEqual(bystander.heard, []);
  await Deno.remove(folder, { recursive: true });
});
