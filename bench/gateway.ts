/** What the gateway costs: calls through it against direct HTTP calls to the same server. */
import { fromFileUrl, join } from "@std/path";
import { startGateway, until } from "../tests/gateway.ts";
import { generateTools } from "../tests/fixtures/generated_tools.ts";
import { BenchClient, callMany, type Revision } from "./mcp_client.ts";
import { startServer, usageOf } from "./processes.ts";
import { median, printTable } from "./report.ts";
import { type ServerProgram, serverProgram } from "./server_program.ts";

/** Of each way within a round, where calls are made one at a time. */
const TURNS = 10;
/** With `--token` every request carries one, and the gateway lets nobody in without. */
const TOKEN = Deno.args.includes("--token") ? "a-token-for-the-benchmark-alone" : undefined;
/** What runs the servers: Node, or Deno with `--deno-server`. */
const RUNTIME = Deno.args.includes("--deno-server") ? "deno" : "node";
const RELAY = fromFileUrl(new URL("./fixtures/bare_relay.ts", import.meta.url));
/** One revision only: `--revision=2026-07-28`. */
const ONLY = Deno.args.find((arg) => arg.startsWith("--revision="))?.slice("--revision=".length);
/** Only the results of several sizes: `--sizes`. */
const IS_SIZES = Deno.args.includes("--sizes");
const IS_QUICK = Deno.args.includes("--quick");
const ROUNDS = IS_QUICK ? 3 : 7;

/** A way to the same tool: directly, or through something that is measured. */
interface Way {
  name: string;
  url: string;
  /** The same with 2,000 tools, if its lists are measured. */
  long?: string;
  tool?: string;
  /** The process between client and server. */
  pid?: number;
  token?: string | undefined;
}

/** The direct way first. */
type Ways = [Way, ...Way[]];

export async function benchGateway(): Promise<void> {
  await using folder = await tempFolder();
  await measure(folder.path);
}

async function measure(folder: string): Promise<void> {
  const sessions = await serverProgram(RUNTIME, folder);
  const stateless = await serverProgram(RUNTIME, folder, "stateless_server");
  const started = (
    { command, args }: ServerProgram,
    wire: "--http" | "--stdio",
    tools: number,
  ) => ({
    command,
    args: [...args, wire, `--tools=${tools}`],
  });
  await using few = await startServer(started(sessions, "--http", 200));
  await using many = await startServer(started(sessions, "--http", 2000));
  await using few26 = await startServer(started(stateless, "--http", 200));
  await using many26 = await startServer(started(stateless, "--http", 2000));
  const { command: program, args: words } = started(sessions, "--stdio", 200);
  await using relay = await startServer({
    command: Deno.execPath(),
    args: ["run", "-A", "-q", RELAY, program, ...words],
  });
  if (IS_SIZES) return await measureSizes(few.url);
  const alone = await idleMb({ many: { type: "http", url: many.url } });
  const mcpServers = {
    http: { type: "http", url: few.url },
    http2000: { type: "http", url: many.url },
    stdio: started(sessions, "--stdio", 200),
    stdio2000: started(sessions, "--stdio", 2000),
    stateless: { type: "http", url: few26.url },
    stateless2000: { type: "http", url: many26.url },
    statelessStdio: started(stateless, "--stdio", 200),
    statelessStdio2000: started(stateless, "--stdio", 2000),
  };
  await Deno.writeTextFile(join(folder, ".mcp.json"), JSON.stringify({ mcpServers }));
  await using gateway = await startGateway(TOKEN ? ["--require-token"] : [], {
    cwd: folder,
    ...(TOKEN ? { env: { QUARTERMASTER_ADMIN_TOKEN: TOKEN } } : {}),
  });
  await until(async () => {
    const { servers } = await (await fetch(`${gateway.url}/readyz`)).json();
    return servers.ready === Object.keys(mcpServers).length || undefined;
  });
  const idle = await usageOf(gateway.pid);
  await equip(gateway.url, 40, ["http", "stdio", "stateless", "statelessStdio"]);
  const own = (name: string) => `${gateway.url}/servers/${name}/mcp?names=original`;
  const through = (name: string, server: string): Way => ({
    name,
    url: own(server),
    long: own(`${server}2000`),
    pid: gateway.pid,
    token: TOKEN,
  });
  const aggregated = (name: string, server: string): Way => ({
    name,
    url: `${gateway.url}/mcp`,
    tool: `${server}_list_issues`,
    pid: gateway.pid,
    token: TOKEN,
  });
  const ways: Record<Revision, Ways> = {
    "2025-11-25": [
      { name: "direct", url: few.url, long: many.url },
      through("http", "http"),
      through("stdio", "stdio"),
      aggregated("/mcp http", "http"),
      aggregated("/mcp stdio", "stdio"),
      { name: "bare relay", url: relay.url, pid: relay.pid },
    ],
    "2026-07-28": [
      { name: "direct", url: few26.url, long: many26.url },
      through("http", "stateless"),
      through("stdio", "statelessStdio"),
      through("2025 http", "http"),
      through("2025 stdio", "stdio"),
      aggregated("/mcp http", "stateless"),
      aggregated("/mcp stdio", "statelessStdio"),
    ],
  };
  for (const [revision, own] of Object.entries(ways) as [Revision, Ways][]) {
    if (ONLY === undefined || ONLY === revision) await measureWays(revision, own);
  }
  if (ONLY === undefined) await measureSizes(few.url);
  const calls = IS_QUICK ? 5_000 : 50_000;
  const [, http] = ways["2025-11-25"];
  const after = await memoryAfter(calls, gateway.pid, [http!, aggregated("", "stdio")]);
  printTable("gateway: memory, MB", [
    ["idle, 2,000 tools", `${alone.toFixed(0)}`],
    ["idle, 8,800 tools", `${idle.rssMb.toFixed(0)}`],
    ...after,
  ]);
}

function callOf({ tool = "list_issues" }: Way) {
  const params = { name: tool, arguments: { query: "open bugs", limit: 5 } };
  return (client: BenchClient) => client.request("tools/call", params);
}

function openClients(url: string, count: number, { token }: Way, revision: Revision) {
  const open = () => new BenchClient(url, token, revision).connect();
  return Promise.all(Array.from({ length: count }, open));
}

/** Measures by turns, and prints each way beside the direct one. */
async function measureWays(revision: Revision, ways: Ways): Promise<void> {
  const opened = await Promise.all(ways.map(async (way) => ({
    way,
    clients: await openClients(way.url, 16, way, revision),
    long: way.long === undefined ? [] : await openClients(way.long, 1, way, revision),
  })));
  const samples = new Map<string, Map<Way, number[]>>();
  const add = (name: string, way: Way, value: number) => {
    const own = samples.get(name) ?? new Map<Way, number[]>();
    samples.set(name, own);
    own.set(way, [...own.get(way) ?? [], value]);
  };
  const list = (client: BenchClient) => client.request("tools/list", {});
  for (let round = -1; round < ROUNDS; round++) {
    // By turns and before the load: a machine's pace changes within a second.
    const oneByOne = new Map<Way, number[]>(ways.map((way) => [way, []]));
    for (let turn = 0; turn < TURNS; turn++) {
      for (const { way, clients } of opened) {
        const { durations } = await callMany(clients, IS_QUICK ? 20 : 50, 1, callOf(way));
        oneByOne.get(way)!.push(...durations);
      }
    }
    for (const [way, own] of oneByOne) if (round >= 0) add("p50 of a call, ms", way, median(own));
    for (const { way, clients } of opened) {
      const { pid } = way;
      const call = callOf(way);
      const before = pid === undefined ? undefined : await usageOf(pid);
      const total = IS_QUICK ? 1_000 : 4_000;
      const sixteen = await callMany(clients, total, 16, call);
      const after = pid === undefined ? undefined : await usageOf(pid);
      const sixtyFour = await callMany(clients, total / 2, 64, call);
      if (round < 0) continue; // The first round warms everything up.
      add("calls/s at 16", way, sixteen.durations.length / sixteen.seconds);
      add("calls/s at 64", way, sixtyFour.durations.length / sixtyFour.seconds);
      if (before && after) {
        add("CPU ms a call at 16", way, (after.cpuSeconds - before.cpuSeconds) * 1000 / total);
      }
    }
    // After the calls of all ways: megabytes of lists leave garbage, and whichever way came next
    // would have its calls measured while the gateway clears that away.
    for (const { way, clients, long } of opened) {
      if (long.length === 0) continue;
      const short = await callMany(clients, 40, 1, list);
      const whole = await callMany(long, 20, 1, list);
      if (round < 0) continue;
      add("p50 of list of 200, ms", way, median(short.durations));
      add("p50 of list of 2,000, ms", way, median(whole.durations));
    }
  }
  const [direct, ...others] = ways;
  const rows = Array.from(samples, ([name, values]) => {
    const base = values.get(direct);
    const show = (own: number[] | undefined) => own ? median(own).toFixed(3) : "";
    const ratio = (own: number[] | undefined) =>
      base && own ? `${median(own.map((value, index) => value / base[index]!)).toFixed(2)}x` : "";
    const cells = others.map((way) => values.get(way)).flatMap((own) => [show(own), ratio(own)]);
    return [name, show(base), ...cells];
  });
  printTable(
    `gateway, client of ${revision}: medians of ${ROUNDS} interleaved rounds; ratios to direct HTTP, round by round; servers run by ${RUNTIME}; /mcp with 40 tools equipped`,
    [["", direct.name, ...others.flatMap(({ name }) => [name, "ratio"])], ...rows],
  );
}

/** Results of 1 KB and 1 MB, with the content guard in its default mode and without it. */
async function measureSizes(url: string): Promise<void> {
  await using folder = await tempFolder();
  const mcpServers = { mark: { type: "http", url }, off: { type: "http", url, answers: "off" } };
  await Deno.writeTextFile(join(folder.path, ".mcp.json"), JSON.stringify({ mcpServers }));
  await using gateway = await startGateway([], { cwd: folder.path });
  await until(async () => {
    const { servers } = await (await fetch(`${gateway.url}/readyz`)).json();
    return servers.ready === servers.total || undefined;
  });
  const own = (server: string) => `${gateway.url}/servers/${server}/mcp?names=original`;
  const ways = [url, own("mark"), own("off")];
  const clients = await Promise.all(ways.map((way) => new BenchClient(way).connect()));
  const rows: string[][] = [];
  for (const [name, chars, count] of [["1 KB", 1_000, 50], ["1 MB", 1_000_000, 5]] as const) {
    const params = { name: "list_issues", arguments: { chars } };
    const p50s: number[][] = ways.map(() => []);
    for (let round = -1; round < ROUNDS; round++) {
      for (const [index, client] of clients.entries()) {
        const call = (client: BenchClient) => client.request("tools/call", params);
        const { durations } = await callMany([client], count, 1, call);
        if (round >= 0) p50s[index]!.push(median(durations));
      }
    }
    const [base = [], ...others] = p50s;
    const ratio = (own: number[]) => median(own.map((value, index) => value / base[index]!));
    const cells = others.flatMap((own) => [median(own).toFixed(2), `${ratio(own).toFixed(2)}x`]);
    rows.push([name, median(base).toFixed(2), ...cells]);
  }
  printTable(
    `gateway: p50 of a call by the size of its result, ms; medians of ${ROUNDS} interleaved rounds`,
    [["result", "direct", "guard: mark", "ratio", "guard: off", "ratio"], ...rows],
  );
}

/** What the gateway holds after each tenth of so many calls. */
async function memoryAfter(calls: number, pid: number, ways: Way[]): Promise<string[][]> {
  const rows: string[][] = [];
  const opened = await Promise.all(
    ways.map(async (way) => ({ way, clients: await openClients(way.url, 16, way, "2025-11-25") })),
  );
  for (let step = 1; step <= 10; step++) {
    for (const { way, clients } of opened) {
      await callMany(clients, calls / 10 / ways.length, 16, callOf(way));
    }
    rows.push([`after ${step * calls / 10} calls`, (await usageOf(pid)).rssMb.toFixed(0)]);
  }
  return rows;
}

async function tempFolder(): Promise<AsyncDisposable & { path: string }> {
  const path = await Deno.makeTempDir({ prefix: "quartermaster_bench_" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

/** What a gateway with these servers holds once they are ready and it has come to rest. */
async function idleMb(mcpServers: Record<string, unknown>): Promise<number> {
  await using folder = await tempFolder();
  await Deno.writeTextFile(join(folder.path, ".mcp.json"), JSON.stringify({ mcpServers }));
  await using gateway = await startGateway([], { cwd: folder.path });
  await until(async () => {
    const { servers } = await (await fetch(`${gateway.url}/readyz`)).json();
    return servers.ready === servers.total || undefined;
  });
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  return (await usageOf(gateway.pid)).rssMb;
}

/** Has so many tools of the servers listed at /mcp. */
async function equip(url: string, count: number, servers: string[]): Promise<void> {
  const send = async (method: string, path: string, body: unknown) => {
    const response = await fetch(new URL(path, url), {
      method,
      headers: {
        "content-type": "application/json",
        ...(TOKEN ? { authorization: `Bearer ${TOKEN}` } : {}),
      },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    await response.body?.cancel();
  };
  const tools = servers.flatMap((server) =>
    generateTools(count / servers.length).map(({ name }) => `${server}.${name}`)
  );
  await send("POST", "/api/toolsets", { name: "bench", tools });
  await send("POST", "/api/toolsets/bench/equip", {});
}
