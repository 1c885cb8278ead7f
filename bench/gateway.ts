/** What the gateway costs: calls through it against direct HTTP calls to the same server. */
import { fromFileUrl, join } from "@std/path";
import { startGateway, until } from "../tests/gateway.ts";
import { generateTools } from "../tests/fixtures/generated_tools.ts";
import { BenchClient, callMany } from "./mcp_client.ts";
import { startServer, usageOf } from "./processes.ts";
import { median, printTable } from "./report.ts";
import { serverProgram } from "./server_program.ts";

const ROUNDS = 7;
/** Of each way within a round, where calls are made one at a time. */
const TURNS = 10;
/** With `--token` every request carries one, and the gateway lets nobody in without. */
const TOKEN = Deno.args.includes("--token") ? "a-token-for-the-benchmark-alone" : undefined;
/** What runs the servers: Node, or Deno with `--deno-server`. */
const RUNTIME = Deno.args.includes("--deno-server") ? "deno" : "node";
const RELAY = fromFileUrl(new URL("./fixtures/bare_relay.ts", import.meta.url));
/** `relay` is a stdio server's, through the least there can be instead of the gateway. */
const ways = ["direct", "http", "stdio", "mcpHttp", "mcpStdio", "relay"] as const;
/** Of the ways after the direct one, in the table's head. */
const NAMES = ["http", "stdio", "/mcp http", "/mcp stdio", "bare relay"];
type Way = (typeof ways)[number];
type Samples = Record<string, Record<Way, number[]>>;

function ofEach(): Record<Way, number[]> {
  return Object.fromEntries(ways.map((way) => [way, []])) as unknown as Record<Way, number[]>;
}

export async function benchGateway(): Promise<void> {
  await using folder = await tempFolder();
  await measure(folder.path);
}

async function measure(folder: string): Promise<void> {
  const quick = Deno.args.includes("--quick");
  const { command, args } = await serverProgram(RUNTIME, folder);
  const withTools = (wire: "--http" | "--stdio", tools: number) => ({
    command,
    args: [...args, wire, `--tools=${tools}`],
  });
  await using few = await startServer(withTools("--http", 200));
  await using many = await startServer(withTools("--http", 2000));
  const { command: program, args: words } = withTools("--stdio", 200);
  await using relay = await startServer({
    command: Deno.execPath(),
    args: ["run", "-A", "-q", RELAY, program, ...words],
  });
  const alone = await idleMb({ many: { type: "http", url: many.url } });
  await Deno.writeTextFile(
    join(folder, ".mcp.json"),
    JSON.stringify({
      mcpServers: {
        http: { type: "http", url: few.url },
        http2000: { type: "http", url: many.url },
        stdio: withTools("--stdio", 200),
        stdio2000: withTools("--stdio", 2000),
      },
    }),
  );
  await using gateway = await startGateway(TOKEN ? ["--require-token"] : [], {
    cwd: folder,
    ...(TOKEN ? { env: { QUARTERMASTER_ADMIN_TOKEN: TOKEN } } : {}),
  });
  await until(async () => {
    const { servers } = await (await fetch(`${gateway.url}/readyz`)).json();
    return servers.ready === 4 || undefined;
  });
  const idle = await usageOf(gateway.pid);
  await equip(gateway.url, 40, ["http", "stdio"]);
  const endpoint = (name: string) => `${gateway.url}/servers/${name}/mcp?names=original`;
  const addressOf = (way: Way, tools: "" | "2000") => {
    if (way === "direct") return tools ? many.url : few.url;
    if (way === "relay") return relay.url;
    return way.startsWith("mcp") ? `${gateway.url}/mcp` : endpoint(way + tools);
  };
  const open = async (way: Way, tools: "" | "2000", count: number) => {
    const token = way === "direct" || way === "relay" ? undefined : TOKEN;
    return await Promise.all(
      Array.from({ length: count }, () => new BenchClient(addressOf(way, tools), token).connect()),
    );
  };
  const names: Partial<Record<Way, string>> = {
    mcpHttp: "http_list_issues",
    mcpStdio: "stdio_list_issues",
  };
  const callFor = (way: Way) => (client: BenchClient) =>
    client.request("tools/call", {
      name: names[way] ?? "list_issues",
      arguments: { query: "open bugs", limit: 5 },
    });
  const list = (client: BenchClient) => client.request("tools/list", {});

  const clients = {
    "": Object.fromEntries(
      await Promise.all(ways.map(async (way) => [way, await open(way, "", 16)])),
    ),
    2000: Object.fromEntries(
      await Promise.all(ways.map(async (way) => [way, await open(way, "2000", 1)])),
    ),
  } as Record<"" | "2000", Record<Way, BenchClient[]>>;

  const samples: Samples = {};
  const add = (name: string, way: Way, value: number) => {
    (samples[name] ??= ofEach())[way].push(value);
  };
  const rounds = quick ? 3 : ROUNDS;
  for (let round = -1; round < rounds; round++) {
    // By turns and before the load: a machine's pace changes within a second.
    const oneByOne = ofEach();
    for (let turn = 0; turn < TURNS; turn++) {
      for (const way of ways) {
        const { durations } = await callMany(clients[""][way], quick ? 20 : 50, 1, callFor(way));
        oneByOne[way].push(...durations);
      }
    }
    for (const way of ways) if (round >= 0) add("p50 of a call, ms", way, median(oneByOne[way]));
    for (const way of ways) {
      const few = clients[""][way];
      const call = callFor(way);
      const pid = way === "direct" ? undefined : way === "relay" ? relay.pid : gateway.pid;
      const before = pid === undefined ? undefined : await usageOf(pid);
      const total = quick ? 1_000 : 4_000;
      const sixteen = await callMany(few, total, 16, call);
      const after = pid === undefined ? undefined : await usageOf(pid);
      const sixtyFour = await callMany(few, total / 2, 64, call);
      if (round < 0) continue; // The first round warms everything up.
      add("calls/s at 16", way, sixteen.durations.length / sixteen.seconds);
      add("calls/s at 64", way, sixtyFour.durations.length / sixtyFour.seconds);
      if (before && after) {
        add("CPU ms a call at 16", way, (after.cpuSeconds - before.cpuSeconds) * 1000 / total);
      }
    }
    // After the calls of all ways: megabytes of lists leave garbage, and whichever way came next
    // would have its calls measured while the gateway clears that away.
    for (const way of ways) {
      if (way.startsWith("mcp") || way === "relay") continue;
      const short = await callMany(clients[""][way], 40, 1, list);
      const long = await callMany(clients[2000][way], 20, 1, list);
      if (round < 0) continue;
      add("p50 of list of 200, ms", way, median(short.durations));
      add("p50 of list of 2,000, ms", way, median(long.durations));
    }
  }
  const halves: number[] = [];
  const calls = quick ? 5_000 : 50_000;
  for (let step = 0; step < 10; step++) {
    for (const way of ["http", "mcpStdio"] as const) {
      await callMany(clients[""][way], calls / 20, 16, callFor(way));
    }
    halves.push((await usageOf(gateway.pid)).rssMb);
  }
  const rows = Object.entries(samples).map(([name, values]) => {
    const show = (own: number[]) => own.length === 0 ? "" : median(own).toFixed(3);
    const ratio = (own: number[]) =>
      values.direct.length === 0 || own.length === 0
        ? ""
        : `${median(own.map((value, index) => value / values.direct[index]!)).toFixed(2)}x`;
    const [, ...through] = ways;
    return [
      name,
      show(values.direct),
      ...through.flatMap((way) => [show(values[way]), ratio(values[way])]),
    ];
  });
  printTable(
    `gateway: medians of ${rounds} interleaved rounds; ratios to direct HTTP, round by round; servers run by ${RUNTIME}; /mcp with 40 tools equipped`,
    [
      [
        "",
        "direct",
        ...NAMES.flatMap((name) => [name, "ratio"]),
      ],
      ...rows,
    ],
  );
  printTable("gateway: memory, MB", [
    ["idle, 2,000 tools", `${alone.toFixed(0)}`],
    ["idle, 4,400 tools", `${idle.rssMb.toFixed(0)}`],
    ...halves.map((mb, index) => [`after ${(index + 1) * calls / 10} calls`, mb.toFixed(0)]),
  ]);
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
