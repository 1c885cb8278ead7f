import { join } from "@std/path";
import { GatewayError } from "../core/errors.ts";
import { ServersRepository } from "../storage/servers_repository.ts";
import { parseLocation } from "../storage/kv_client.ts";
import { Store } from "../storage/store.ts";
import type { Command, CommandInput } from "./command.ts";
import {
  checkClients,
  checkConfig,
  checkData,
  checkLeftovers,
  checkPort,
  type CheckResult,
  checkRuntime,
  ok,
} from "./doctor/checks.ts";
import { checkEvaluator } from "./doctor/evaluator_check.ts";
import { checkByConnecting, checkEntries, checkRunning } from "./doctor/servers_check.ts";
import { findGateways, listServers, openTarget } from "./operation_target.ts";
import { SERVER_OPERATIONS } from "../operations/servers.ts";
import { clearStatus, type Color, inert, painter, showStatus, table } from "./terminal.ts";
import { counted } from "../core/text.ts";

const COLORS: Record<CheckResult["level"], Color> = {
  ok: "green",
  warning: "yellow",
  problem: "red",
};

export const doctor: Command = {
  usage: "doctor",
  meaning: "Check the installation and suggest fixes; exit code 1 if there is a problem",
  details: [
    "Checks Deno, the config file, the data folder, the data store, the port, leftover processes of",
    "killed gateways, every server, the evaluator for optimization, and the clients' configs. If no",
    "gateway is running, it connects to each server, for 10 s at most. --fix repairs servers whose npx",
    "cache is broken.",
  ],
  flags: [{ flag: "fix", meaning: "Repair servers whose npx cache is broken" }],
  async run(input) {
    const found = await examine(input);
    const findings = input.flags.get("fix") ? await repair(found, input) : found;
    clearStatus();
    const count = (level: CheckResult["level"]) =>
      findings.filter((found) => found.level === level).length;
    const [problems, warnings] = [count("problem"), count("warning")];
    const summary = problems + warnings === 0
      ? "No problems found."
      : `${counted(problems, "problem")}, ${counted(warnings, "warning")}.`;
    return {
      data: { problems, warnings, findings },
      text: `${findingsText(findings, input)}\n${summary}\n`,
      exitCode: problems > 0 ? 1 : 0,
    };
  },
};

/** Repairs what can be, and says how that went in place of the finding. */
async function repair(findings: CheckResult[], input: CommandInput): Promise<CheckResult[]> {
  if (findings.every(({ repairable }) => repairable === undefined)) return findings;
  await using servers = await openTarget(input);
  const results: CheckResult[] = [];
  for (const finding of findings) {
    const { about, repairable } = finding;
    if (repairable === undefined) {
      results.push(finding);
      continue;
    }
    showStatus(`Repairing ${repairable} ...`);
    try {
      const { server } = await servers.run(SERVER_OPERATIONS.repair, { name: repairable });
      const outcome = servers.isRunning
        ? `Repaired: its package was reinstalled, ${counted(server.toolCount, "tool")}`
        : "Repaired: the next start reinstalls its package";
      results.push(ok(about, outcome));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      results.push({ ...finding, message: `${finding.message}. Cannot repair it: ${why}` });
    }
  }
  return results;
}

async function examine(input: CommandInput): Promise<CheckResult[]> {
  const findings = checkRuntime();
  showStatus("Checking the data store ...");
  const data = await checkData(input);
  findings.push(...data);
  const isUsable = !data.some(({ level, about }) => level === "problem" && about !== "disk");
  await using store = isUsable ? await openIfThere(input) : undefined;
  const gateways = store ? await findGateways(store) : [];
  const address = gateways[0]?.address;

  showStatus("Checking the configuration ...");
  const { findings: config, servers, leftOut } = await checkConfig(input, address);
  findings.push(...config);
  findings.push(...await checkPort(input.options, gateways));
  if (store) findings.push(...await checkLeftovers(store, gateways.length > 0));

  const stored = store ? await Array.fromAsync(new ServersRepository(store).list()) : [];
  // What is wrong with an entry itself was found in its file; a stored one may have the same name.
  const unusable = [
    ...servers.filter(({ problem }) => problem),
    ...leftOut.filter(({ name }) => !stored.some(({ value }) => value.name === name)),
  ];
  const usable = servers.filter(({ problem }) => !problem);
  const entries = await checkEntries([...usable, ...stored.map(({ value }) => value)], input.env);
  findings.push(...entries.findings);
  const hopeless = new Set([...entries.hopeless, ...unusable.map(({ name }) => name)]);
  if (gateways.length > 0) findings.push(...await checkRunning(gateways, hopeless));
  else if (isUsable) findings.push(...await connectToAll(input, store !== undefined, hopeless));

  findings.push(...await checkEvaluator(input));
  showStatus("Checking the clients ...");
  findings.push(...await checkClients(input, address));
  return findings;
}

/** A check must not create a store. */
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
): Promise<CheckResult[]> {
  await using stack = new AsyncDisposableStack();
  let where = input;
  if (!hasStore) {
    const folder = await Deno.makeTempDir({ prefix: "quartermaster_doctor_" });
    stack.defer(() => Deno.remove(folder, { recursive: true }));
    where = { ...input, options: { ...input.options, kv: join(folder, "store.kv") } };
  }
  try {
    const { CommandGateway } = await import("./command_gateway.ts");
    const servers = stack.use(await CommandGateway.open(where));
    const rows = (await listServers(servers)).filter(({ name }) => !hopeless.has(name));
    if (rows.length === 0) return [ok("servers", "No servers to connect to")];
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

function findingsText(findings: CheckResult[], { env }: CommandInput): string {
  const paint = painter(env);
  const rows = findings.flatMap(({ about, level, message, fix }) => [
    [paint(COLORS[level], level), about, inert(message).replaceAll("\n", " ")],
    ...(fix === undefined ? [] : [["", "", paint("gray", `-> ${inert(fix)}`)]]),
  ]);
  return table(rows);
}
