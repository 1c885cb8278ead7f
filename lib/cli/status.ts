import type { Command } from "./command.ts";
import { findGateways, openStore } from "./operation_target.ts";
import type { GatewayStatus } from "../operations/status.ts";

export const status: Command = {
  usage: "status",
  meaning: "Show whether a gateway is running; exit code 1 if not",
  async run(input) {
    await using store = await openStore(input);
    const gateways = (await findGateways(store)).map(({ status }) => ({
      ...status,
      uptimeSeconds: Math.round((Date.now() - status.startedAt) / 1000),
    }));
    const running = gateways.length > 0;
    return {
      data: { running, gateways },
      text: running
        ? gateways.map(statusText).join("")
        : `No gateway is running on ${store.location.label}.\n`,
      exitCode: running ? 0 : 1,
    };
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
