import { oneNameOf } from "./arguments.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import { resolveGateways } from "./servers_access.ts";
import { print, printJson } from "./terminal.ts";

export const serverLogout: Command = {
  usage: "server logout NAME",
  meaning: "Forget the login to a server, and have it revoked where that can be asked for",
  flags: [JSON_FLAG],
  async run(input) {
    const name = oneNameOf("server", "server logout", input);
    const [gateway] = await resolveGateways(input);
    const ended = await gateway!.client.logins().end(name);
    if (input.flags.get("json") === true) return printJson(ended);
    if (!ended.existed) return print(`There was no login to ${name}.\n`);
    print(
      ended.revoked
        ? `Logged out of ${name}; the authorization server has revoked the login.\n`
        : `Logged out of ${name}. The authorization server was not heard to revoke the login: ` +
          "what was given may work elsewhere until it runs out.\n",
    );
  },
};
