import { configError } from "../config/problem.ts";
import { GatewayError } from "../core/errors.ts";
import { oneNameOf } from "./arguments.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import { openServers } from "./servers_access.ts";
import { ask, print, printJson } from "./terminal.ts";

export const serverRemove: Command = {
  usage: "server remove NAME [--yes]",
  meaning: "Remove a server that was added here, with its stored tools",
  details: [
    "Servers of a config file are removed there; the change is taken up by itself.",
  ],
  flags: [{ flag: "yes", meaning: "Do not ask; needed where there is no terminal" }, JSON_FLAG],
  async run(input) {
    const name = oneNameOf("server", "server remove", input);
    const asJson = input.flags.get("json") === true;
    const isAgreed = input.flags.get("yes") === true;
    if (!isAgreed && (asJson || !Deno.stdin.isTerminal() || !Deno.stdout.isTerminal())) {
      throw configError("server remove cannot ask here", "Give --yes to remove without a question");
    }
    await using servers = await openServers(input);
    if (!isAgreed) {
      const { all } = await servers.tools(name);
      if (!ask(`Remove server "${name}"? Clients lose its ${all.length} tools.`)) {
        throw new GatewayError("ACCESS_DENIED", { message: `Server "${name}" was not removed` });
      }
    }
    await servers.remove(name);
    if (asJson) printJson({ removed: name });
    else print(`Removed ${name}.\n`);
  },
};
