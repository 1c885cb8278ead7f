import { join } from "@std/path";
import type { LoadedServers } from "../config/mcp_file.ts";
import { GatewayError } from "../core/errors.ts";
import { ServersRepository } from "../storage/servers_repository.ts";
import { parseLocation } from "../storage/location.ts";
import { Store } from "../storage/store.ts";
import { noPositionals } from "./arguments.ts";
import { type Command, type CommandInput, JSON_FLAG } from "./command.ts";
import { checkClients } from "./doctor/clients_check.ts";
import { checkConfig } from "./doctor/config_check.ts";
import { checkData } from "./doctor/data_check.ts";
import { type Finding, ok } from "./doctor/finding.ts";
import { checkLeftovers } from "./doctor/leftovers_check.ts";
import { checkPort } from "./doctor/port_check.ts";
import { checkRuntime } from "./doctor/runtime_check.ts";
import { checkByConnecting, checkEntries, checkRunning } from "./doctor/servers_check.ts";
import { findGateways } from "./find_gateways.ts";
import {
  clearStatus,
  type Color,
  inert,
  painter,
  print,
  printJson,
  showStatus,
  table,
} from "./terminal.ts";

const COLORS: Record<Finding["level"], Color> = { ok: "green", warning: "yellow", problem: "red" };

export const doctor: Command = {
  usage: "doctor",
  meaning: "Look for what is wrong, and say what to do; exit code 1 if there is a problem",
  details: [
    "Looks at Deno, the config file, the data folder and the store, the port, what killed gateways",
    "left running, every server, and the clients' configs. Where no gateway runs, each server is",
    "connected to, for 10 s at most.",
  ],
  flags: [JSON_FLAG],
  async run(input) {
    noPositionals("doctor", input);
    const findings = await examine(input);
    clearStatus();
    const count = (level: Finding["level"]) =>
      findings.filter((found) => found.level === level).length;
    const [problems, warnings] = [count("problem"), count("warning")];
    if (input.flags.get("json") === true) printJson({ problems, warnings, findings });
    else print(findingsText(findings, input) + summary(problems, warnings));
    return problems > 0 ? 1 : 0;
  },
};

async function examine(input: CommandInput): Promise<Finding[]> {
  const findings = checkRuntime();
  showStatus("Looking at the data store ...");
  const data = await checkData(input);
  findings.push(...data);
  const isUsable = !data.some(({ level, about }) => level === "problem" && about !== "disk");
  await using store = isUsable ? await openIfThere(input) : undefined;
  const gateways = store ? await findGateways(store) : [];
  const address = gateways[0]?.address;

  showStatus("Looking at the configuration ...");
  const { findings: config, servers } = await checkConfig(input, address);
  findings.push(...config);
  findings.push(...await checkPort(input.options, gateways));
  if (store) findings.push(...await checkLeftovers(store, gateways.length > 0));

  const stored = store ? await Array.fromAsync(new ServersRepository(store).list()) : [];
  const entries = await checkEntries([...servers, ...stored.map(({ value }) => value)], input.env);
  findings.push(...entries.findings);
  if (gateways.length > 0) findings.push(...await checkRunning(gateways, entries.hopeless));
  else if (isUsable) {
    findings.push(...await connectToAll(input, store !== undefined, entries.hopeless, servers));
  }

  showStatus("Looking at the clients ...");
  findings.push(...await checkClients(input, address));
  return findings;
}

/** Looking must not make a store where there is none. */
async function openIfThere({ options }: CommandInput): Promise<Store | undefined> {
  const location = parseLocation(options.kv);
  if (location.kind === "memory") return undefined;
  const isThere = location.kind !== "file" ||
    await Deno.stat(location.path).then(() => true, () => false);
  return isThere ? await Store.open({ location: options.kv }) : undefined;
}

async function connectToAll(
  input: CommandInput,
  hasStore: boolean,
  hopeless: ReadonlySet<string>,
  configured: LoadedServers["servers"],
): Promise<Finding[]> {
  await using stack = new AsyncDisposableStack();
  let where = input;
  if (!hasStore) {
    const folder = await Deno.makeTempDir({ prefix: "quartermaster_doctor_" });
    stack.defer(() => Deno.remove(folder, { recursive: true }));
    where = { ...input, options: { ...input.options, kv: join(folder, "store.kv") } };
  }
  try {
    const { OfflineServers } = await import("./offline_servers.ts");
    const servers = stack.use(await OfflineServers.open(where));
    // What is wrong with an entry itself was found in its file.
    const held = new Set(configured.filter(({ problem }) => problem).map(({ name }) => name));
    const rows = (await servers.list()).filter(({ name }) =>
      !hopeless.has(name) && !held.has(name)
    );
    if (rows.length === 0) return [ok("servers", "There is none to connect to")];
    let left = rows.length;
    showStatus(`Connecting to ${left} servers ...`);
    return await checkByConnecting(rows, async (name, limitMs) => {
      const row = await servers.tryOut(name, limitMs);
      showStatus(`Connecting to ${--left} servers ...`);
      return row;
    });
  } catch (error) {
    // A broken config file, which was found before.
    if (error instanceof GatewayError && error.code === "CONFIG_INVALID") return [];
    throw error;
  }
}

function findingsText(findings: Finding[], { env }: CommandInput): string {
  const paint = painter(env);
  const rows = findings.flatMap(({ about, level, message, fix }) => [
    [paint(COLORS[level], level), about, inert(message).replaceAll("\n", " ")],
    ...(fix === undefined ? [] : [["", "", paint("gray", `-> ${inert(fix)}`)]]),
  ]);
  return table(rows);
}

function summary(problems: number, warnings: number): string {
  const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;
  if (problems + warnings === 0) return "\nAll is well.\n";
  return `\n${counted(problems, "problem")}, ${counted(warnings, "warning")}.\n`;
}
