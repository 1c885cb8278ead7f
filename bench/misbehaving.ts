/**
 * What one server that floods the gateway costs the calls to another: `deno task bench misbehaving`.
 * Blocks of calls with and without the flood take turns, through the gateway and directly: a flood
 * takes time of the processor from direct calls too, and only the rest is the gateway's.
 */
import { join } from "@std/path";
import { EndpointClient } from "../tests/faults.ts";
import { fixtureCommand, startHttpFixture } from "../tests/fixtures/start_fixture.ts";
import { startGateway, until } from "../tests/gateway.ts";
import { BenchClient, callMany } from "./mcp_client.ts";
import { startServer } from "./processes.ts";
import { median, printTable, quantile } from "./report.ts";
import { serverProgram } from "./server_program.ts";

interface Block {
  through: number;
  direct: number;
}

const KINDS = {
  http: ["comments", "interim", "progress", "logs", "garbage", "slow", "own"],
  sse: ["comments", "progress", "logs", "garbage", "slow"],
  stdio: ["progress", "logs", "garbage", "stderr", "line", "slow"],
};
const IS_QUICK = Deno.args.includes("--quick");
const ROUNDS = IS_QUICK ? 2 : 5;
const CALLS = IS_QUICK ? 300 : 1_000;
const RETRY_MS = 1_000;
const ONLY = Deno.args.find((arg) => arg.startsWith("--kind="))?.slice("--kind=".length);

export async function benchMisbehaving(): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_bench_" });
  try {
    await measure(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function measure(folder: string): Promise<void> {
  const { command, args } = await serverProgram("node", folder);
  await using steady = await startServer({ command, args: [...args, "--http", "--tools=10"] });
  await using web = await startHttpFixture("flooding_server");
  const reach = {
    http: { type: "http", url: `${web.url}/mcp` },
    sse: { type: "sse", url: `${web.url}/sse` },
    stdio: fixtureCommand("flooding_server"),
  };
  const mcpServers = { steady: { type: "http", url: steady.url }, ...reach };
  await Deno.writeTextFile(join(folder, ".mcp.json"), JSON.stringify({ mcpServers }));
  await using gateway = await startGateway([], { cwd: folder });
  const isReady = async () => {
    const { servers } = await (await fetch(`${gateway.url}/readyz`)).json();
    return servers.ready === servers.total || undefined;
  };
  await until(isReady);
  const own = (name: string) => `${gateway.url}/servers/${name}/mcp?names=original`;
  const through = await new BenchClient(own("steady")).connect();
  const direct = await new BenchClient(steady.url).connect();
  const p99 = async (client: BenchClient) => {
    const params = { name: "list_issues", arguments: { query: "open bugs", limit: 5 } };
    const call = (client: BenchClient) => client.request("tools/call", params);
    return quantile((await callMany([client], CALLS, 1, call)).durations, 0.99);
  };
  const block = async () => ({ through: await p99(through), direct: await p99(direct) });
  await block();
  const rows: string[][] = [];
  for (const [transport, kinds] of Object.entries(KINDS)) {
    for (const kind of kinds) {
      if (ONLY !== undefined && ONLY !== `${transport}-${kind}`) continue;
      const [alone, beside]: [Block[], Block[]] = [[], []];
      for (let round = 0; round < ROUNDS; round++) {
        await until(isReady);
        alone.push(await block());
        const client = await EndpointClient.open(own(transport));
        const stop = new AbortController();
        const params = {
          name: "flood",
          arguments: { kind },
          _meta: { progressToken: 1 },
        };
        // A flood that has been cut begins again, as when a model retries.
        const flooding = (async () => {
          while (!stop.signal.aborted) {
            await client.request("tools/call", params, stop.signal);
            await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
          }
        })().catch(() => {});
        beside.push(await block());
        stop.abort();
        await flooding;
        // What is not one call's flood goes on without it.
        await restart(gateway.url, transport);
      }
      const of = (blocks: Block[], path: keyof Block) => median(blocks.map((each) => each[path]));
      const ratio = (path: keyof Block) =>
        `${median(beside.map((each, at) => each[path] / alone[at]![path])).toFixed(2)}x`;
      rows.push([
        `${transport}, ${kind}`,
        of(alone, "through").toFixed(2),
        of(beside, "through").toFixed(2),
        ratio("through"),
        ratio("direct"),
      ]);
    }
  }
  printTable(
    `misbehaving: p99 of calls to another server, ms; medians of ${ROUNDS} interleaved rounds of ${CALLS} calls`,
    [["flood", "without", "with", "ratio", "ratio of direct calls"], ...rows],
  );
}

/** Ends every stream of a server. */
async function restart(url: string, server: string): Promise<void> {
  const response = await fetch(`${url}/api/server.restart`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: server }),
  });
  await response.body?.cancel();
}
