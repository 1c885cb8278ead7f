import { GatewayError } from "../core/errors.ts";
import { oneNameOf } from "./arguments.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import type { FoundGateway } from "./find_gateways.ts";
import { resolveGateways, type ServerRow } from "./servers_access.ts";
import { inert, print, printError, printJson } from "./terminal.ts";

interface Outcome {
  address: string;
  pid: number;
  server?: ServerRow;
  error?: GatewayError;
}

export const serverRestart: Command = {
  usage: "server restart NAME",
  meaning: "Connect anew; a program is ended and started again",
  details: ["Where several gateways run on the data store, each of them does so."],
  flags: [JSON_FLAG],
  async run(input) {
    const name = oneNameOf("server", "server restart", input);
    const gateways = await resolveGateways(input);
    const outcomes = await Promise.all(gateways.map((gateway) => restart(gateway, name)));
    const first = outcomes.find(({ server }) => server)?.server;
    if (!first) throw outcomes[0]?.error;
    const isWhole = outcomes.every(({ server }) => server);
    if (input.flags.get("json") === true) {
      printJson({
        server: first,
        gateways: outcomes.map(({ error, ...rest }) => ({
          ...rest,
          ...(error ? { error: error.toBody() } : {}),
        })),
      });
      return isWhole ? 0 : 1;
    }
    for (const { address, server, error } of outcomes) {
      const where = outcomes.length > 1 ? ` at ${address}` : "";
      if (server) print(`Restarted ${name}${where}: ${server.toolCount} tools.\n`);
      else printError(inert(`quartermaster: Not restarted${where}: ${error?.message}\n`));
    }
    return isWhole ? 0 : 1;
  },
};

async function restart({ client, status }: FoundGateway, name: string): Promise<Outcome> {
  const { address, pid } = status;
  try {
    return { address, pid, server: await client.restart(name) };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { address, pid, error };
  }
}
