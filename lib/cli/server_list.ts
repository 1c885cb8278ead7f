import type { Env } from "../config/env.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import { openServers, type ServerRow } from "./servers_access.ts";
import { type Color, inert, painter, print, printJson, table } from "./terminal.ts";
import { noPositionals } from "./arguments.ts";

const COLORS: Record<string, Color> = {
  ready: "green",
  connecting: "yellow",
  degraded: "yellow",
  needs_login: "yellow",
  failed: "red",
};

export const serverList: Command = {
  usage: "server list",
  meaning: "All servers with their state and number of tools",
  flags: [JSON_FLAG],
  async run(input) {
    noPositionals("server list", input);
    await using servers = await openServers(input);
    const rows = await servers.list();
    if (input.flags.get("json") === true) return printJson({ servers: rows });
    if (rows.length === 0) {
      return print("There are no servers. Add one with `deno task cli server add`.\n");
    }
    print(serversTable(rows, input.env));
    if (!servers.isRunning) print("\nNo gateway is running: start one with `deno task start`.\n");
  },
};

function serversTable(rows: ServerRow[], env: Env): string {
  const paint = painter(env);
  const heading = ["NAME", "STATE", "TYPE", "TOOLS", ""].map((word) => paint("gray", word));
  const body = rows.map(({ name, state, type, toolCount, reason }) => {
    const words = state.replace("_", " ");
    const color = COLORS[state];
    const shown = color === undefined ? words : paint(color, words);
    return [name, shown, type, String(toolCount), inert(reason).replaceAll("\n", " ")];
  });
  return table([heading, ...body]);
}
