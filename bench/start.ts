/** From process start to the first answer on /healthz, and what the idle process holds. */
import { fromFileUrl } from "@std/path";
import { median, printTable } from "./report.ts";

const CONFIG = fromFileUrl(new URL("../deno.json", import.meta.url));
const ROUNDS = 9;
const IDLE_MS = 3_000;

export async function benchStart(): Promise<void> {
  const starts: number[] = [];
  const memory: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { startMs, rssMb } = await measure(round > ROUNDS - 4);
    // The first round warms the caches of the file system and of Deno.
    if (round > 0) starts.push(startMs);
    if (rssMb !== undefined) memory.push(rssMb);
  }
  printTable("start: deno task start, warm cache, demo server alone", [
    ["", "median", "worst", "goal"],
    [
      "first 200 on /healthz",
      `${median(starts).toFixed(0)} ms`,
      `${Math.max(...starts).toFixed(0)} ms`,
      "< 500 ms",
    ],
    [
      "idle RSS",
      `${median(memory).toFixed(0)} MB`,
      `${Math.max(...memory).toFixed(0)} MB`,
      "< 95 MB",
    ],
  ]);
}

async function measure(withIdle: boolean): Promise<{ startMs: number; rssMb?: number }> {
  const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_bench_" });
  const port = freePort();
  const started = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "task",
      "-q",
      "--config",
      CONFIG,
      "start",
      "--port",
      String(port),
      "--data-dir",
      dataDir,
    ],
    cwd: dataDir,
    env: { XDG_CONFIG_HOME: dataDir },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    await firstAnswer(`http://127.0.0.1:${port}/healthz`);
    const startMs = performance.now() - started;
    if (!withIdle) return { startMs };
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    return { startMs, rssMb: await residentMb(await lastChild(child.pid)) };
  } finally {
    child.kill("SIGTERM");
    await child.status;
    await Deno.remove(dataDir, { recursive: true });
  }
}

async function firstAnswer(url: string): Promise<void> {
  for (let tries = 0; tries < 5_000; tries++) {
    try {
      const response = await fetch(url);
      await response.body?.cancel();
      if (response.ok) return;
    } catch { /* not up yet */ }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error(`No answer from ${url}`);
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** The gateway, below the task and its launcher. */
async function lastChild(pid: number): Promise<number> {
  const [child] = (await outputOf("pgrep", ["-P", String(pid)])).split("\n");
  return child ? await lastChild(Number(child)) : pid;
}

async function residentMb(pid: number): Promise<number> {
  return Number(await outputOf("ps", ["-o", "rss=", "-p", String(pid)])) / 1024;
}

async function outputOf(program: string, args: string[]): Promise<string> {
  const { stdout } = await new Deno.Command(program, { args }).output();
  return new TextDecoder().decode(stdout);
}
