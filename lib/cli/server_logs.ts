import { configError } from "../config/problem.ts";
import { oneName } from "./arguments.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import type { GatewayClient } from "./gateway_client.ts";
import { resolveGateway } from "./servers_access.ts";
import { inert, print, printJson } from "./terminal.ts";

const MOST_LINES = 1_000;
const LOOK_EVERY_MS = 500;

export interface LogLine {
  time: number;
  line: string;
}

export const serverLogs: Command = {
  usage: "server logs NAME [--lines N] [--follow]",
  meaning: "What a server last wrote to its error output",
  flags: [
    { flag: "lines", placeholder: "N", meaning: "How many lines: 1 to 1000, 50 unless told" },
    { flag: "follow", meaning: "Go on with new lines as they come" },
    JSON_FLAG,
  ],
  async run(input) {
    const name = oneName("server logs", input);
    const count = Number(input.flags.get("lines") ?? 50);
    if (!Number.isInteger(count) || count < 1 || count > MOST_LINES) {
      throw configError("Cannot use --lines", "Give a whole number from 1 to 1000");
    }
    const asJson = input.flags.get("json") === true;
    const gateway = await resolveGateway(input);
    if (input.flags.get("follow") === true) return await follow(gateway, name, count, asJson);
    const lines = await gateway.logs(name, count);
    if (asJson) return printJson({ lines });
    print(lines.length === 0 ? `${name} has written nothing.\n` : lines.map(lineText).join(""));
  },
};

/** Prints until the gateway or the user ends it. */
async function follow(
  gateway: GatewayClient,
  name: string,
  count: number,
  asJson: boolean,
): Promise<void> {
  let known: LogLine[] | undefined;
  while (true) {
    const lines = await gateway.logs(name, MOST_LINES);
    const fresh = known === undefined ? lines.slice(-count) : newLines(known, lines);
    for (const line of fresh) print(asJson ? `${JSON.stringify(line)}\n` : lineText(line));
    known = lines;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** What came since: the log is added to at its end, and loses its oldest lines when it is full. */
export function newLines(before: readonly LogLine[], now: readonly LogLine[]): LogLine[] {
  const isSame = (a: LogLine | undefined, b: LogLine | undefined) =>
    a?.time === b?.time && a?.line === b?.line;
  for (let lost = 0; lost < before.length; lost++) {
    const kept = before.length - lost;
    if (kept > now.length || !isSame(before[lost], now[0])) continue;
    if (before.slice(lost).every((line, index) => isSame(line, now[index]))) return now.slice(kept);
  }
  return [...now];
}

function lineText({ time, line }: LogLine): string {
  return `${new Date(time).toISOString()}  ${inert(line)}\n`;
}
