/**
 * Equips two toolsets in turn under many clients:
 * `deno run -A tests/soak/equip_soak.ts [CLIENTS] [EQUIPS]` (default: 50 and 200).
 */
import assert from "node:assert/strict";
import { connect, DEV_TOOLS, devServers, Endpoints, lists, must } from "../combined_endpoints.ts";

export interface EquipReport {
  /** Clients that ended with anything but the tools of the toolset that was equipped last. */
  wrongLists: string[][];
  /** Of notifications to one client: the most within any second. */
  mostInASecond: number;
  fewestTold: number;
  mostTold: number;
  seconds: number;
  /** Of the gateway: before, at half time and at the end. */
  memoryMb: [number, number, number];
}

export interface EquipOptions {
  clients: number;
  equips: number;
  /** How long the last news may take. */
  settleMs: number;
}

const TOOLSETS = {
  first: {
    tools: DEV_TOOLS,
    names: ["docker_ps", "git_commit", "git_status", "linear_create_issue"],
  },
  second: { tools: ["docker.*"], names: ["docker_build_image", "docker_ps"] },
};

/** Every client listens, and lists its tools whenever it is told to. */
export async function equipOften(
  { clients, equips, settleMs }: EquipOptions,
): Promise<EquipReport> {
  await using dev = devServers();
  await using endpoints = await Endpoints.open(dev.entries);
  for (const [name, { tools }] of Object.entries(TOOLSETS)) await endpoints.build(name, tools);
  await using stack = new AsyncDisposableStack();
  const connected = await Promise.all(
    Array.from({ length: clients }, () => connect(endpoints.url, "/mcp")),
  );
  const latest = connected.map(() => [] as string[]);
  for (const [index, client] of connected.entries()) {
    stack.use(client);
    client.onTools.add(() => void client.tools().then((names) => latest[index] = names));
  }
  const memory = async () => {
    const text = await (await fetch(new URL("/metrics", endpoints.url))).text();
    return Number(/^quartermaster_memory_bytes (\S+)$/m.exec(text)?.[1]) / 2 ** 20;
  };
  const started = performance.now();
  const before = await memory();
  let half = before;
  for (let count = 0; count < equips; count++) {
    const name = count % 2 === 0 ? "second" : "first";
    await must(connected[count % clients]!, "equip-toolset", { name });
    if (count === Math.floor(equips / 2)) half = await memory();
  }
  const seconds = (performance.now() - started) / 1000;
  const { names } = TOOLSETS[equips % 2 === 0 ? "first" : "second"];
  // By a client of its own: one that has listed the last tools by itself need not be told of them.
  await lists(stack.use(await connect(endpoints.url, "/mcp")), names);
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  const told = connected.map((client) => client.told.tools);
  return {
    wrongLists: latest.filter((list) => list.join() !== names.join()),
    mostInASecond: Math.max(...told.map(mostInASecond)),
    fewestTold: Math.min(...told.map(({ length }) => length)),
    mostTold: Math.max(...told.map(({ length }) => length)),
    seconds,
    memoryMb: [before, half, await memory()],
  };
}

function mostInASecond(times: readonly number[]): number {
  return Math.max(
    0,
    ...times.map((from) => times.filter((at) => at >= from && at < from + 1_000).length),
  );
}

if (import.meta.main) {
  const [clients = 50, equips = 200] = Deno.args.map(Number);
  const report = await equipOften({ clients, equips, settleMs: 3_000 });
  const [before, half, after] = report.memoryMb.map((mb) => mb.toFixed(0));
  const lines = [
    `${clients} clients, ${equips} equips in ${report.seconds.toFixed(1)} s`,
    `told ${report.fewestTold} to ${report.mostTold} times, ${report.mostInASecond} at most in a second`,
    `memory ${before} -> ${half} -> ${after} MB`,
  ];
  Deno.stdout.writeSync(new TextEncoder().encode(`${lines.join("\n")}\n`));
  assert.deepEqual(report.wrongLists, []);
  assert.ok(report.mostInASecond <= 3);
  assert.ok(report.memoryMb[2] - report.memoryMb[1] < 30, "the second half needs no more memory");
}
