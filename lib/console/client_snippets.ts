import type { Gateway } from "../gateway.ts";
import {
  CLIENT_NAMES,
  clientAddCommand,
  type ClientEndpoint,
  clientEntry,
  CLIENTS,
  configSnippet,
} from "../config/clients.ts";

export interface ClientSnippet {
  client: string;
  place: string;
  code: string;
  /** The client's own command that does the same, where it has one. */
  command?: string;
  /** Whether YOUR_TOKEN has to be replaced. */
  needsToken?: true;
}

const PLACES = {
  "claude-code": ".mcp.json in the project, or ~/.claude.json",
  "claude-desktop": "claude_desktop_config.json, under Settings, Developer, Edit Config",
  cursor: ".cursor/mcp.json in the project, or ~/.cursor/mcp.json",
  vscode: ".vscode/mcp.json in the project, or MCP: Open User Configuration",
  windsurf: "~/.codeium/windsurf/mcp_config.json",
  zed: "settings.json, opened with zed: open settings",
  codex: "~/.codex/config.toml",
  "gemini-cli": ".gemini/settings.json in the project, or ~/.gemini/settings.json",
  opencode: "opencode.json in the project, or ~/.config/opencode/opencode.json",
  goose: "~/.config/goose/config.yaml",
  "lm-studio": "mcp.json, under Program, Install, Edit mcp.json",
} as const;

/** The configuration of each known client, with the token if there is one. */
export async function clientSnippets(
  gateway: Pick<Gateway, "address" | "options"> & Partial<Pick<Gateway, "access">>,
  endpoint: ClientEndpoint,
  token?: string,
): Promise<ClientSnippet[]> {
  const { address, options, access } = gateway;
  const name = endpoint.kind === "all" ? "quartermaster" : endpoint.name;
  const bearer = `Bearer ${token ?? "YOUR_TOKEN"}`;
  return await Promise.all(CLIENTS.map(async (client) => {
    const entry = clientEntry(client, endpoint, address, options);
    const command = clientAddCommand(client, "user", name, entry);
    // A client that starts a program finds the gateway by its data folder and needs no header.
    const isSent = "url" in entry && (token !== undefined || access?.isRequired === true);
    const env = token === undefined ? {} : { env: { QUARTERMASTER_TOKEN: token } };
    const whole = { ...entry, ...(isSent ? { headers: { Authorization: bearer } } : env) };
    return {
      client: CLIENT_NAMES[client],
      place: PLACES[client],
      code: await configSnippet(client, name, whole),
      ...(command && {
        command: isSent ? `${command} --header "Authorization: ${bearer}"` : command,
      }),
      ...(isSent && token === undefined ? { needsToken: true as const } : {}),
    };
  }));
}
