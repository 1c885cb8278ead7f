import { configError } from "../config/problem.ts";
import { GatewayError } from "../core/errors.ts";
import { visibleJson } from "../core/hidden_text.ts";
import { oneNameOf } from "./arguments.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import type { FoundGateway } from "./find_gateways.ts";
import { resolveGateways } from "./servers_access.ts";
import { inert, print, printError, printJson } from "./terminal.ts";

const MOST_LINES = 1_000;
const LOOK_EVERY_MS = 500;

export interface LogLine {
  time: number;
  line: string;
  /** The address of the gateway it comes from, where there are several. */
  gateway?: string;
}

export const serverLogs: Command = {
  usage: "server logs NAME [--lines N] [--follow]",
  meaning: "What a server last wrote to its error output",
  details: [
    "Where several gateways run on the data store, each has its own connection to the server; their",
    "lines come in the order of time, each with the gateway's address.",
  ],
  flags: [
    { flag: "lines", placeholder: "N", meaning: "How many lines: 1 to 1000, 50 unless told" },
    { flag: "follow", meaning: "Go on with new lines as they come" },
    JSON_FLAG,
  ],
  async run(input) {
    const name = oneNameOf("server", "server logs", input);
    const count = Number(input.flags.get("lines") ?? 50);
    if (!Number.isInteger(count) || count < 1 || count > MOST_LINES) {
      throw configError("Cannot use --lines", "Give a whole number from 1 to 1000");
    }
    const asJson = input.flags.get("json") === true;
    const logs = new MergedLogs(await resolveGateways(input), name);
    if (input.flags.get("follow") === true) return await follow(logs, count, asJson);
    const lines = (await logs.read(count)).slice(-count);
    if (asJson) return printJson({ lines });
    print(lines.length === 0 ? `${name} has written nothing.\n` : lines.map(lineText).join(""));
  },
};

/** Prints until the last gateway or the user ends it. */
async function follow(logs: MergedLogs, count: number, asJson: boolean): Promise<void> {
  let fresh = (await logs.read(MOST_LINES)).slice(-count);
  while (true) {
    for (const line of fresh) print(asJson ? `${visibleJson(line)}\n` : lineText(line));
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    fresh = await logs.read(MOST_LINES);
  }
}

/** One server's lines at all gateways. */
class MergedLogs {
  readonly #name: string;
  readonly #isOne: boolean;
  readonly #known = new Map<FoundGateway, LogLine[]>();

  constructor(gateways: FoundGateway[], name: string) {
    this.#name = name;
    this.#isOne = gateways.length === 1;
    for (const gateway of gateways) this.#known.set(gateway, []);
  }

  /** What came since the last time, in the order of time. */
  async read(most: number): Promise<LogLine[]> {
    const read = await Promise.all(
      Array.from(this.#known.keys(), async (gateway) => ({
        gateway,
        lines: await this.#ask(gateway, most),
      })),
    );
    const failures = read.map(({ lines }) => lines).filter((lines) =>
      lines instanceof GatewayError
    );
    if (failures.length === read.length) throw failures[0];
    const fresh: LogLine[] = [];
    for (const { gateway, lines } of read) {
      const { address } = gateway.status;
      if (lines instanceof GatewayError) {
        this.#known.delete(gateway);
        printError(inert(`quartermaster: Nothing from ${address}: ${lines.message}\n`));
        continue;
      }
      const added = newLines(this.#known.get(gateway) ?? [], lines);
      fresh.push(...added.map((line) => this.#isOne ? line : { ...line, gateway: address }));
      this.#known.set(gateway, lines);
    }
    return fresh.sort((a, b) => a.time - b.time);
  }

  async #ask({ client }: FoundGateway, most: number): Promise<LogLine[] | GatewayError> {
    try {
      return await client.logs(this.#name, most);
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
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

function lineText({ time, line, gateway }: LogLine): string {
  const where = gateway === undefined ? "" : `${gateway.replace(/^https?:\/\//, "")}  `;
  return `${new Date(time).toISOString()}  ${where}${inert(line)}\n`;
}
