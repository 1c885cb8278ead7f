import { retryStale } from "../core/retry_stale.ts";
import type { ServerSpec } from "../core/server.ts";
import { refuseUnchangeable } from "../surfaces/unchangeable_server.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import { checkKnown } from "./known_names.ts";
import { outcomeText, placeText, withoutGuess } from "./server_add.ts";
import { LIMIT_FLAGS } from "./server_add_limits.ts";
import { changedEntry, readChange, type ServerChange } from "./server_change.ts";
import { openServers, type ServerRow, type ServersAccess } from "./servers_access.ts";
import { print, printJson } from "./terminal.ts";

export const serverUpdate: Command = {
  usage: "server update NAME [--url URL | -- COMMAND ARGS...]",
  meaning: "Change what is named of a server that was added here; the rest stays",
  details: [
    "Examples:",
    "  deno task cli server update issues --url https://mcp.example.com/v2/mcp",
    "  deno task cli server update files --env LOG=debug --unset TRACE",
    "  deno task cli server update files --max-concurrent 2 --calls-per-minute none",
    "  deno task cli server update files --disabled",
    "",
    "A change of how it is reached is tried first, and nothing is stored if that fails.",
    "Values of headers and variables are kept for the place they were given for: for another",
    "host, program or folder give them again. `none` takes a number or a time away.",
    "Servers of a config file are changed there; the change is taken up by itself.",
  ],
  flags: [
    { flag: "url", placeholder: "URL", meaning: "Another address; its headers stay on that host" },
    { flag: "type", placeholder: "TYPE", meaning: "How to speak to the address: http or sse" },
    { flag: "header", placeholder: '"K: V"', meaning: "Set a header; can be repeated" },
    { flag: "env", placeholder: "K=V", meaning: "Set a variable of the program; can be repeated" },
    { flag: "unset", placeholder: "K", meaning: "Take out a header or variable; can be repeated" },
    { flag: "cwd", placeholder: "FOLDER", meaning: "The program's folder" },
    { flag: "lazy", meaning: "Start the program at its first call; --no-lazy with the gateway" },
    { flag: "disabled", meaning: "Switch the server off; --no-disabled switches it on" },
    ...LIMIT_FLAGS,
    JSON_FLAG,
  ],
  async run(input) {
    const change = readChange(input);
    const { name, url } = change;
    await using servers = await openServers(input);
    const rows = await servers.list();
    checkKnown("server", name, rows.map((row) => row.name));
    const source = rows.find((row) => row.name === name)?.source;
    if (source) refuseUnchangeable(name, source);
    const { server, spec } = await changeServer(servers, change);
    if (input.flags.get("json") === true) return printJson({ server });
    print(await outcomeText("Changed", server, servers));
    if (url !== undefined) print(await placeText(spec));
    if (!servers.isRunning) print("No gateway is running: it is so from the next start on.\n");
  },
};

/** Changes what is named in the entry as it is now, whatever others change of it meanwhile. */
export function changeServer(
  servers: Pick<ServersAccess, "describe" | "update">,
  change: ServerChange,
): Promise<{ server: ServerRow; spec: ServerSpec }> {
  const { name } = change;
  return retryStale(async () => {
    const before = await servers.describe(name);
    const spec = changedEntry(before.spec, change);
    const server = await servers.update(name, spec, before.version).catch((error) => {
      throw withoutGuess("change", error, spec);
    });
    return { server, spec };
  });
}
