/** How long the server takes for each page of the console, with 400 servers and 5,000 tools. */
import { join } from "@std/path";
import { startGateway, until } from "../tests/gateway.ts";
import { generateTools } from "../tests/fixtures/generated_tools.ts";
import { usageOf } from "./processes.ts";
import { median, printTable } from "./report.ts";

const SERVERS = 400;
const TOOLS = 5_000;
const ROUNDS = 7;
const GOAL_MS = 300;

const PAGES = [
  "/",
  "/servers",
  "/servers/server_7",
  "/servers/~new",
  "/tools",
  "/tools?q=list+open+issues",
  "/tools?server=server_7",
  "/tools/server_7/FIRST",
  "/toolsets",
  "/toolsets/~new",
  "/toolsets/bench",
  "/optimization",
  "/optimization/server_7/FIRST",
  "/clients",
  "/activity",
  "/activity?kind=missed",
  "/security",
  "/security/review",
  "/security/tokens",
  "/security/projects",
  "/security/audit",
  "/settings",
];

export async function benchConsole(): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_bench_" });
  await using servers = serveMany();
  const { port } = servers.addr;
  const names = Array.from({ length: SERVERS }, (_, index) => `server_${index}`);
  const entries = names.map((name) => [name, { url: `http://127.0.0.1:${port}/${name}/mcp` }]);
  await Deno.writeTextFile(
    join(folder, ".mcp.json"),
    JSON.stringify({ mcpServers: Object.fromEntries(entries) }),
  );
  await using gateway = await startGateway([], { cwd: folder });
  await until(async () => {
    const { servers } = await (await fetch(`${gateway.url}/readyz`)).json();
    return servers.ready === SERVERS || undefined;
  });
  const first = toolsOf("server_7")[0]!.name;
  await post(`${gateway.url}/api/toolset.create`, {
    name: "bench",
    tools: names.slice(0, 40).map((name) => `${name}.${toolsOf(name)[0]!.name}`),
    autoEquip: true,
  });
  const rows: string[][] = [];
  for (const page of PAGES) {
    const url = new URL(page.replace("FIRST", first), gateway.url);
    const times: number[] = [];
    let bytes = 0;
    // The first round loads the page's code.
    for (let round = -1; round < ROUNDS; round++) {
      const started = performance.now();
      const response = await fetch(url);
      bytes = (await response.bytes()).length;
      if (!response.ok) throw new Error(`${url.pathname}: ${response.status}`);
      if (round >= 0) times.push(performance.now() - started);
    }
    const worst = Math.max(...times);
    rows.push([
      page,
      `${median(times).toFixed(0)} ms`,
      `${worst.toFixed(0)} ms`,
      `${(bytes / 1024).toFixed(0)} KB`,
      median(times) <= GOAL_MS ? "" : "over the goal",
    ]);
  }
  printTable(`console: ${SERVERS} servers, ${TOOLS} tools; goal ${GOAL_MS} ms`, [
    ["page", "median", "worst", "HTML", ""],
    ...rows,
  ]);
  const { rssMb } = await usageOf(gateway.pid);
  printTable("console: memory", [["after all pages", `${rssMb.toFixed(0)} MB`]]);
  await Deno.remove(folder, { recursive: true });
}

async function post(url: string, body: unknown): Promise<void> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url}: ${await response.text()}`);
  await response.body?.cancel();
}

const all = generateTools(TOOLS);

function toolsOf(server: string) {
  const each = TOOLS / SERVERS;
  const index = Number(server.slice("server_".length));
  return all.slice(Math.floor(index * each), Math.floor((index + 1) * each));
}

/** The least MCP server there can be, once for each name. */
function serveMany(): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    if (request.method !== "POST") return new Response(null, { status: 405 });
    const { id, method } = await request.json();
    if (id === undefined) return new Response(null, { status: 202 });
    const name = new URL(request.url).pathname.split("/")[1]!;
    const results: Record<string, unknown> = {
      initialize: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name, version: "1" },
      },
      "tools/list": { tools: toolsOf(name).map(({ definition }) => JSON.parse(definition)) },
      ping: {},
    };
    return Response.json({ jsonrpc: "2.0", id, result: results[method] ?? {} });
  });
}
