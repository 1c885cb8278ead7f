import type { Gateway } from "../compose.ts";
import { CLIENT_NAMES, CLIENTS } from "../config/client_configs.ts";
import { clientEntry, type Door, ownCommand, snippet } from "../config/client_entry.ts";

/** How one client is told of a door. */
export interface ClientSnippet {
  client: string;
  /** Where it goes. */
  place: string;
  code: string;
  /** The client's own command that does the same, where it has one. */
  command?: string;
  /** Whether a token has to be put in the place of YOUR_TOKEN. */
  needsToken?: true;
}

const PLACES = {
  "claude-code": ".mcp.json in the project, or ~/.claude.json",
  "claude-desktop": "claude_desktop_config.json, under Settings, Developer, Edit Config",
  cursor: ".cursor/mcp.json in the project, or ~/.cursor/mcp.json",
  vscode: ".vscode/mcp.json in the project, or MCP: Open User Configuration",
} as const;

/** What to put where, for each client that is known. */
export function clientSnippets(
  gateway: Pick<Gateway, "address" | "options"> & Partial<Pick<Gateway, "access">>,
  door: Door,
): ClientSnippet[] {
  const { address, options } = gateway;
  const isTokenNeeded = gateway.access?.isRequired ?? false;
  const name = door.kind === "all" ? "quartermaster" : door.name;
  return CLIENTS.map((client) => {
    const entry = clientEntry(client, door, address, options);
    const section = client === "vscode" ? "servers" : "mcpServers";
    const command = ownCommand(client, "user", name, entry);
    const common = { client: CLIENT_NAMES[client], place: PLACES[client] };
    // One that is started as a program reads the gateway's data, and comes in by that.
    if (!isTokenNeeded || !("url" in entry)) {
      return {
        ...common,
        code: snippet({ section }, name, entry),
        ...(command === undefined ? {} : { command }),
      };
    }
    const bearer = "Bearer YOUR_TOKEN";
    const withToken = { ...entry, headers: { Authorization: bearer } };
    return {
      ...common,
      code: snippet({ section }, name, withToken),
      ...(command === undefined
        ? {}
        : { command: `${command} --header "Authorization: ${bearer}"` }),
      needsToken: true,
    };
  });
}
