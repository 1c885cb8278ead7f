import { type Command, noPositionals } from "./command.ts";
import { findGateways, openStore } from "./operation_target.ts";
import type { GatewayStatus } from "../operations/status.ts";
import { print, printJson } from "./terminal.ts";

export const status: Command = {
  usage: "status",
  meaning: "Whether a gateway runs on this data folder; exit code 1 if none does",
  async run(input) {
    noPositionals("status", input);
    await using store = await openStore(input);
    const found = (await findGateways(store)).map(({ status }) => ({
      ...status,
      uptimeSeconds: Math.round((Date.now() - status.startedAt) / 1000),
    }));
    if (input.flags.get("json") === true) {
      printJson({ running: found.length > 0, gateways: found });
    } else if (found.length === 0) {
      print(`No gateway is running on ${store.location.label}.\n`);
    } else {
      print(found.map(statusText).join(""));
    }
    return found.length > 0 ? 0 : 1;
  },
};

function statusText(status: GatewayStatus & { uptimeSeconds: number }): string {
  const { version, address, pid, uptimeSeconds, servers } = status;
  const states = Object.entries(servers)
    .map(([state, count]) => `${count} ${state.replace("_", " ")}`).join(", ");
  return `Quartermaster ${version} is running at ${address}\n` +
    `  pid ${pid}, up ${uptimeText(uptimeSeconds)}\n` +
    `  servers: ${states || "none"}\n`;
}

export function uptimeText(seconds: number): string {
  const units: [string, number][] = [["d", 86_400], ["h", 3_600], ["min", 60]];
  for (const [unit, size] of units) {
    if (seconds >= 2 * size) return `${Math.floor(seconds / size)} ${unit}`;
  }
  return `${seconds} s`;
}
