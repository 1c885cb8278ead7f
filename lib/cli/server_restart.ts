import { oneName } from "./arguments.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import { resolveGateway } from "./servers_access.ts";
import { print, printJson } from "./terminal.ts";

export const serverRestart: Command = {
  usage: "server restart NAME",
  meaning: "Connect anew; a program is ended and started again",
  flags: [JSON_FLAG],
  async run(input) {
    const name = oneName("server restart", input);
    const gateway = await resolveGateway(input);
    const server = await gateway.restart(name);
    if (input.flags.get("json") === true) printJson({ server });
    else print(`Restarted ${name}: ${server.toolCount} tools.\n`);
  },
};
