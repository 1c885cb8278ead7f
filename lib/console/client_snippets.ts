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
}

const PLACES = {
  "claude-code": ".mcp.json in the project, or ~/.claude.json",
  "claude-desktop": "claude_desktop_config.json, under Settings, Developer, Edit Config",
  cursor: ".cursor/mcp.json in the project, or ~/.cursor/mcp.json",
  vscode: ".vscode/mcp.json in the project, or MCP: Open User Configuration",
} as const;

/** What to put where, for each client that is known. */
export function clientSnippets(
  { address, options }: Pick<Gateway, "address" | "options">,
  door: Door,
): ClientSnippet[] {
  const name = door.kind === "all" ? "quartermaster" : door.name;
  return CLIENTS.map((client) => {
    const entry = clientEntry(client, door, address, options);
    const section = client === "vscode" ? "servers" : "mcpServers";
    const command = ownCommand(client, "user", name, entry);
    return {
      client: CLIENT_NAMES[client],
      place: PLACES[client],
      code: snippet({ section }, name, entry),
      ...(command === undefined ? {} : { command }),
    };
  });
}
