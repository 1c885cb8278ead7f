/**
 * What each V8 flag of the start command is worth: a new gateway for every set of flags, in an order
 * that rotates, measured over its first calls and again when it is warm.
 */
import { join } from "@std/path";
import { startCommand, startGateway, until } from "../tests/gateway.ts";
import { BenchClient, callMany } from "./mcp_client.ts";
import { startServer, usageOf } from "./processes.ts";
import { median, printTable } from "./report.ts";
import { serverProgram } from "./server_program.ts";

const ROUNDS = 5;
/** Shared equally by both servers. */
const COLD_CALLS = 5_000;
const WARMING_CALLS = 30_000;
const WARM_CALLS = 8_000;

/** The start command without the flag, or without all of them; `--expose-gc` is used by the gateway. */
function without(left: string | undefined): string[] {
  return startCommand().map((word) => {
    const flags = word.match(/^--v8-flags=(.*)$/)?.[1]?.split(",");
    if (!flags) return word;
    const stay = flags.filter((flag) =>
      flag === "--expose-gc" || (left !== "all" && flag.split("=")[0] !== left)
    );
    return `--v8-flags=${stay.join(",")}`;
  });
}

function variants(): Record<string, string[]> {
  const flags = startCommand().join(" ").match(/--v8-flags=(\S+)/)?.[1]?.split(",") ?? [];
  const names = flags.map((flag) => flag.split("=")[0]!).filter((name) => name !== "--expose-gc");
  return Object.fromEntries([
    ["as started", without(undefined)],
    ...names.map((name) => [`without ${name}`, without(name)]),
    ["without any", without("all")],
  ]);
}

/** CPU ms a call at 16 at a time, and the median of single calls, for both servers. */
type Measured = Record<string, number>;

export async function benchFlags(): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_bench_" });
  const { command, args } = await serverProgram("node", folder);
  await using http = await startServer({ command, args: [...args, "--http", "--tools=200"] });
  await Deno.writeTextFile(
    join(folder, ".mcp.json"),
    JSON.stringify({
      mcpServers: {
        http: { type: "http", url: http.url },
        stdio: { command, args: [...args, "--stdio", "--tools=200"] },
      },
    }),
  );
  const all = Object.entries(variants());
  const samples = new Map<string, Measured[]>(all.map(([name]) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (let turn = 0; turn < all.length; turn++) {
      const [name, start] = all[(round + turn) % all.length]!;
      samples.get(name)!.push(await measure(start, folder));
    }
  }
  const columns = Object.keys(samples.get("as started")![0]!);
  printTable(`V8 flags: medians of ${ROUNDS} rounds in rotated order`, [
    ["", ...columns],
    ...[...samples].map(([name, rounds]) => [
      name,
      ...columns.map((column) => median(rounds.map((measured) => measured[column]!)).toFixed(3)),
    ]),
  ]);
  await Deno.remove(folder, { recursive: true });
}

async function measure(command: string[], cwd: string): Promise<Measured> {
  await using gateway = await startGateway([], { cwd, command });
  await until(async () => {
    const { servers } = await (await fetch(`${gateway.url}/readyz`)).json();
    return servers.ready === 2 || undefined;
  });
  const measured: Measured = {};
  const call = (client: BenchClient) =>
    client.request("tools/call", { name: "list_issues", arguments: { query: "bugs", limit: 5 } });
  const names = ["http", "stdio"];
  const clients = await Promise.all(
    names.map((name) =>
      Promise.all(
        Array.from({ length: 16 }, () =>
          new BenchClient(`${gateway.url}/servers/${name}/mcp?names=original`).connect()),
      )
    ),
  );
  const cpu = async (calls: number, label: string) => {
    for (const [index, name] of names.entries()) {
      const before = await usageOf(gateway.pid);
      await callMany(clients[index]!, calls / 2, 16, call);
      const after = await usageOf(gateway.pid);
      const spent = after.cpuSeconds - before.cpuSeconds;
      measured[`${label} ${name}, CPU ms`] = spent * 1000 / (calls / 2);
    }
  };
  await cpu(COLD_CALLS, "cold");
  for (const own of clients) await callMany(own, WARMING_CALLS / 2, 16, call);
  await cpu(WARM_CALLS, "warm");
  for (const [index, name] of names.entries()) {
    const { durations } = await callMany(clients[index]!, 1_000, 1, call);
    measured[`warm ${name}, p50 ms`] = median(durations);
  }
  measured["RSS MB"] = (await usageOf(gateway.pid)).rssMb;
  return measured;
}
