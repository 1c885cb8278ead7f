/**
 * What idle and slow clients cost the others: `deno task bench connections [--count=10000]`. The
 * benchmark and the gateway each need that many file descriptors.
 */
import { join } from "@std/path";
import { libraryServer } from "../tests/fixtures/library_server.ts";
import { startGateway, until } from "../tests/gateway.ts";
import { BenchClient, callMany } from "./mcp_client.ts";
import { usageOf } from "./processes.ts";
import { median, printTable, quantile } from "./report.ts";

const COUNT = Number(
  Deno.args.find((arg) => arg.startsWith("--count="))?.slice("--count=".length) ?? 10_000,
);
/** One in so many sends its request byte by byte. */
const SLOW_EVERY = 20;
const DRIP_MS = 1_000;
const CALLS = 1_000;

export async function benchConnections(): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_bench_" });
  const held: Deno.TcpConn[] = [];
  try {
    const mcpServers = { library: libraryServer(join(folder, "calls")) };
    await Deno.writeTextFile(join(folder, ".mcp.json"), JSON.stringify({ mcpServers }));
    await using gateway = await startGateway([], { cwd: folder });
    await until(async () => {
      const { servers } = await (await fetch(`${gateway.url}/readyz`)).json();
      return servers.ready === 1 || undefined;
    });
    const url = `${gateway.url}/servers/library/mcp?names=original`;
    const clients = [await new BenchClient(url).connect()];
    const measure = async () => {
      const params = { name: "opening_hours", arguments: { day: "Monday" } };
      const { durations } = await callMany(
        clients,
        CALLS,
        1,
        (client) => client.request("tools/call", params),
      );
      const { rssMb } = await usageOf(gateway.pid);
      return [median(durations).toFixed(2), quantile(durations, 0.99).toFixed(2), rssMb.toFixed(0)];
    };
    await measure();
    const before = await measure();
    const port = Number(new URL(gateway.url).port);
    for (let opened = 0; opened < COUNT; opened++) {
      held.push(await Deno.connect({ hostname: "127.0.0.1", port }));
    }
    const drip = setInterval(() => {
      for (let at = 0; at < held.length; at += SLOW_EVERY) {
        held[at]!.write(Uint8Array.of(0x47)).catch(() => {});
      }
    }, DRIP_MS);
    const during = await measure();
    const alive = await countAlive(held.filter((_, at) => at % SLOW_EVERY !== 0), port);
    clearInterval(drip);
    for (const connection of held.splice(0)) connection.close();
    const after = await measure();
    printTable(`connections: ${COUNT} idle, of which every ${SLOW_EVERY}th is slow`, [
      ["", "p50 of a call, ms", "p99, ms", "memory, MB"],
      ["before", ...before],
      ["during", ...during],
      ["after", ...after],
      [`${alive.open} of ${alive.asked} idle connections asked later were answered`],
    ]);
  } finally {
    for (const connection of held) connection.close();
    await Deno.remove(folder, { recursive: true });
  }
}

/** How many of the connections still answer a request. */
async function countAlive(connections: Deno.TcpConn[], port: number) {
  const asked = connections.filter((_, at) => at % 100 === 0);
  const request = `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
  let open = 0;
  for (const connection of asked) {
    try {
      await connection.write(new TextEncoder().encode(request));
      if (await connection.read(new Uint8Array(1_000)) !== null) open++;
    } catch {
      // The gateway has closed it.
    }
  }
  return { open, asked: asked.length };
}
