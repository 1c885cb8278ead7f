/** How the gateway grows: many tools, many servers, restarts, large results and many sessions. */
import { fromFileUrl, join } from "@std/path";
import { type RunningGateway, startGateway, until } from "../tests/gateway.ts";
import { generateTools } from "../tests/fixtures/generated_tools.ts";
import { BenchClient, callMany } from "./mcp_client.ts";
import { startServer, usageOf } from "./processes.ts";
import { printTable } from "./report.ts";

const FIXTURE = fromFileUrl(new URL("./fixtures/many_servers.ts", import.meta.url));
/** How long the gateway gets to release memory. */
const REST_MS = 30_000;
const LARGE_BYTES = 10 * 1024 * 1024;
const LARGE_RESULTS = 40;
const SESSIONS = 2_000;
/** Only some of it: `--only=tools,servers,memory`. */
const ONLY = Deno.args.find((arg) => arg.startsWith("--only="))?.slice(7).split(",");

type Row = [string, string, string];

export async function benchGrowth(): Promise<void> {
  const parts: Record<string, () => Promise<Row[]>> = {
    call: () => measureStart({ servers: 1, tools: 2_000, readyGoal: "< 1 s" }),
    tools: () =>
      measureStart({ servers: 200, tools: 100, readyGoal: "< 6 s", restartGoal: "< 3 s" }),
    servers: () => measureStart({ servers: 400, tools: 10, readyGoal: "< 4 s" }),
    memory: measureMemory,
  };
  const rows: Row[] = [];
  for (const [name, measure] of Object.entries(parts)) {
    if (!ONLY || ONLY.includes(name)) rows.push(...await measure());
  }
  printTable("growth", [["", "measured", "goal"], ...rows]);
}

interface Size {
  servers: number;
  tools: number;
  readyGoal: string;
  restartGoal?: string;
}

/** From the start to the first call of the last server's tool, fresh and again. */
async function measureStart({ servers, tools, readyGoal, restartGoal = "" }: Size): Promise<Row[]> {
  await using many = await startMany(tools);
  await using folder = await tempFolder();
  await configure(folder.path, many.url, servers);
  const fresh = await startAndCall(folder.path, servers);
  const again = await startAndCall(folder.path, servers);
  const what = `${servers * tools} tools on ${servers} servers`;
  const cpu = (run: Run) => `${inSeconds(run.readyMs)} (CPU ${run.cpuSeconds.toFixed(1)} s)`;
  return [
    [`${what}, fresh`, cpu(fresh), readyGoal],
    [`${what}, restart`, cpu(again), restartGoal],
    [`${what}, memory`, `${inMb(fresh.rssMb)}, ${inMb(again.rssMb)}`, "< 400 MB"],
  ];
}

interface Run {
  readyMs: number;
  cpuSeconds: number;
  rssMb: number;
}

async function startAndCall(folder: string, servers: number): Promise<Run> {
  const begun = performance.now();
  await using gateway = await start(folder);
  await until(async () => {
    const { servers: state } = await (await fetch(`${gateway.url}/readyz`)).json();
    return state.ready === servers || undefined;
  });
  const client = await new BenchClient(`${gateway.url}/servers/s${servers - 1}/mcp`).connect();
  await call(client, 10);
  const readyMs = performance.now() - begun;
  const { cpuSeconds } = await usageOf(gateway.pid);
  await rest(10_000);
  return { readyMs, cpuSeconds, rssMb: (await usageOf(gateway.pid)).rssMb };
}

/** What large results, and in another gateway closed sessions, leave behind. */
async function measureMemory(): Promise<Row[]> {
  const large = await measureRelease(async ({ clients, memory }) => {
    await callMany(clients, LARGE_RESULTS, 4, (client) => call(client, LARGE_BYTES));
    return await memory();
  });
  const sessions = await measureRelease(({ url, memory }) => openAndCloseSessions(url, memory));
  return [
    [`${LARGE_RESULTS} results of 10 MB`, large, "as before"],
    [`${SESSIONS} sessions, closed`, sessions, "as before"],
  ];
}

interface Used {
  url: string;
  clients: BenchClient[];
  memory(): Promise<number>;
}

/** Memory before, with all of `work` (which returns it), and after a rest. */
async function measureRelease(work: (used: Used) => Promise<number>): Promise<string> {
  await using many = await startMany(10);
  await using folder = await tempFolder();
  await configure(folder.path, many.url, 1);
  await using gateway = await start(folder.path);
  const url = `${gateway.url}/servers/s0/mcp`;
  const memory = async () => (await usageOf(gateway.pid)).rssMb;
  const clients = await Promise.all(
    Array.from({ length: 4 }, () => new BenchClient(url).connect()),
  );
  await callMany(clients, 2_000, 4, (client) => call(client, 10));
  await rest(10_000);
  const before = await memory();
  const most = await work({ url, clients, memory });
  await rest(REST_MS);
  return `${inMb(before)}, ${inMb(most)}, ${inMb(await memory())} after 30 s`;
}

/** Each session has an open stream. Returns the memory with all of them open. */
async function openAndCloseSessions(url: string, memory: () => Promise<number>): Promise<number> {
  // Closes its connections at the end: the default client keeps up to one per session for later.
  using client = Deno.createHttpClient({});
  const request = (init: RequestInit) => fetch(url, { ...init, ...{ client } });
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "bench", version: "1" },
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  const streams: { session: string; stream: Response }[] = [];
  for (let opened = 0; opened < SESSIONS; opened++) {
    const response = await request({ method: "POST", headers, body });
    await response.text();
    const session = response.headers.get("mcp-session-id") ?? "";
    const own = { ...headers, "mcp-session-id": session };
    const stream = await request({ headers: own });
    streams.push({ session, stream });
  }
  const most = await memory();
  for (const { session, stream } of streams) {
    const own = { "mcp-session-id": session };
    const closed = await request({ method: "DELETE", headers: own });
    await closed.body?.cancel();
    await stream.body?.cancel().catch(() => {});
  }
  return most;
}

const call = (client: BenchClient, bytes: number) =>
  client.request("tools/call", { name: TOOL, arguments: { workspace: "w", bytes } });

const TOOL = generateTools(1)[0]!.name;

const startMany = (tools: number) =>
  startServer({
    command: Deno.execPath(),
    args: ["run", "-A", "-q", "--no-lock", FIXTURE, `--tools=${tools}`],
  });

const start = (folder: string): Promise<RunningGateway> =>
  startGateway([], {
    cwd: folder,
    dataDir: join(folder, "data"),
    env: { QUARTERMASTER_EMBEDDINGS: "local" },
  });

async function configure(folder: string, url: string, servers: number): Promise<void> {
  const mcpServers = Object.fromEntries(
    Array.from({ length: servers }, (_, index) => [
      `s${index}`,
      { type: "http", url: `${url}/${index}/mcp` },
    ]),
  );
  await Deno.writeTextFile(join(folder, ".mcp.json"), JSON.stringify({ mcpServers }));
}

async function tempFolder(): Promise<{ path: string } & AsyncDisposable> {
  const path = await Deno.makeTempDir({ prefix: "quartermaster_growth_" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const inSeconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;
const inMb = (mb: number) => `${mb.toFixed(0)} MB`;
