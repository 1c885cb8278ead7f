import { GatewayError } from "../core/errors.ts";
import { defined } from "../core/defined.ts";
import { counted, visibleJson } from "../core/text.ts";
import { parseInput } from "../operations/operation.ts";
import { SERVER_OPERATIONS, type Status } from "../operations/servers.ts";
import type { CommandInput, CommandOutcome } from "./command.ts";
import { type FoundGateway, resolveGateways } from "./operation_target.ts";
import { readInput } from "./operation_command.ts";
import { inert, print, printError } from "./terminal.ts";

const MOST_LINES = 1_000;
const LOOK_EVERY_MS = 500;

export interface GatewayLine {
  time: number;
  line: string;
  /** The address of the gateway it comes from, if there are several. */
  gateway?: string;
}

/** `server logs`: the lines of all gateways on the data store, merged by time. */
export async function runLogs(input: CommandInput): Promise<CommandOutcome> {
  const { name, lines: count } = parseInput(
    SERVER_OPERATIONS.logs,
    await readInput(SERVER_OPERATIONS.logs, input),
  );
  const logs = new MergedLogs(await resolveGateways(input), name);
  if (input.flags.get("follow")) return await follow(logs, count, input.flags.get("json") === true);
  const lines = (await logs.read(count)).slice(-count);
  return {
    data: { lines },
    text: lines.map(lineText).join("") || `${name} has no output yet.\n`,
  };
}

/** Prints until the last gateway or the user ends it. */
async function follow(logs: MergedLogs, count: number, asJson: boolean): Promise<never> {
  let fresh = (await logs.read(MOST_LINES)).slice(-count);
  while (true) {
    for (const line of fresh) print(asJson ? `${visibleJson(line)}\n` : lineText(line));
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    fresh = await logs.read(MOST_LINES);
  }
}

class MergedLogs {
  readonly #name: string;
  readonly #isOne: boolean;
  readonly #known = new Map<FoundGateway, GatewayLine[]>();

  constructor(gateways: FoundGateway[], name: string) {
    this.#name = name;
    this.#isOne = gateways.length === 1;
    for (const gateway of gateways) this.#known.set(gateway, []);
  }

  /** What came since the last time, in the order of time. */
  async read(most: number): Promise<GatewayLine[]> {
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
    const fresh: GatewayLine[] = [];
    for (const { gateway, lines } of read) {
      const { address } = gateway.status;
      if (lines instanceof GatewayError) {
        this.#known.delete(gateway);
        printError(
          inert(`quartermaster: cannot read the logs from ${address}: ${lines.message}\n`),
        );
        continue;
      }
      const added = newLines(this.#known.get(gateway) ?? [], lines);
      fresh.push(...added.map((line) => this.#isOne ? line : { ...line, gateway: address }));
      this.#known.set(gateway, lines);
    }
    return fresh.sort((a, b) => a.time - b.time);
  }

  async #ask({ client }: FoundGateway, most: number): Promise<GatewayLine[] | GatewayError> {
    try {
      const input = { name: this.#name, lines: most };
      return (await client.run(SERVER_OPERATIONS.logs, input)).lines;
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  }
}

/** What came since: the log is added to at its end, and loses its oldest lines when it is full. */
export function newLines(
  before: readonly GatewayLine[],
  now: readonly GatewayLine[],
): GatewayLine[] {
  const isSame = (a: GatewayLine | undefined, b: GatewayLine | undefined) =>
    a?.time === b?.time && a?.line === b?.line;
  for (let lost = 0; lost < before.length; lost++) {
    const kept = before.length - lost;
    if (kept > now.length || !isSame(before[lost], now[0])) continue;
    if (before.slice(lost).every((line, index) => isSame(line, now[index]))) return now.slice(kept);
  }
  return [...now];
}

function lineText({ time, line, gateway }: GatewayLine): string {
  const where = gateway === undefined ? "" : `${gateway.replace(/^https?:\/\//, "")}  `;
  return `${new Date(time).toISOString()}  ${where}${inert(line)}\n`;
}

interface Outcome {
  address: string;
  pid: number;
  server?: Status;
  error?: GatewayError;
}

/** `server restart`: every gateway on the data store has its own connection to the server. */
export async function runRestart(input: CommandInput): Promise<CommandOutcome> {
  const { name } = parseInput(
    SERVER_OPERATIONS.restart,
    await readInput(SERVER_OPERATIONS.restart, input),
  );
  const gateways = await resolveGateways(input);
  const outcomes = await Promise.all(gateways.map((gateway) => restart(gateway, name)));
  const first = outcomes.find(({ server }) => server)?.server;
  if (!first) throw outcomes[0]?.error;
  const where = (address: string) => outcomes.length > 1 ? ` at ${address}` : "";
  const failed = outcomes.filter(({ error }) => error);
  if (!input.flags.get("json")) {
    for (const { address, error } of failed) {
      printError(inert(`quartermaster: cannot restart${where(address)}: ${error?.message}\n`));
    }
  }
  return {
    data: {
      server: first,
      gateways: outcomes.map(({ error, ...rest }) => ({
        ...rest,
        ...defined({ error: error?.toBody() }),
      })),
    },
    text: outcomes.map(({ address, server }) =>
      server ? `Restarted ${name}${where(address)}: ${counted(server.toolCount, "tool")}.\n` : ""
    ).join(""),
    exitCode: failed.length > 0 ? 1 : 0,
  };
}

async function restart({ client, status }: FoundGateway, name: string): Promise<Outcome> {
  const { address, pid } = status;
  try {
    return { address, pid, ...await client.run(SERVER_OPERATIONS.restart, { name }) };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { address, pid, error };
  }
}
