import { posix, win32 } from "node:path";
import { type Env, nonEmpty } from "./env.ts";

export const CLIENTS = ["claude-code", "claude-desktop", "cursor", "vscode"] as const;
export type ClientId = (typeof CLIENTS)[number];

export const CLIENT_NAMES: Record<ClientId, string> = {
  "claude-code": "Claude Code",
  "claude-desktop": "Claude Desktop",
  cursor: "Cursor",
  vscode: "VS Code",
};

export type ClientScope = "user" | "project";

/** A file in which a client keeps its servers, whether it is there or not. */
export interface ClientConfigFile {
  client: ClientId;
  scope: ClientScope;
  path: string;
  /** The member under which the servers stand. */
  section: "mcpServers" | "servers";
}

export interface ClientPlaces {
  os: typeof Deno.build.os;
  env: Env;
  /** The project's folder. */
  cwd: string;
}

export function isClient(word: string): word is ClientId {
  return CLIENTS.some((client) => client === word);
}

/** Where each client keeps its servers; the user's files are left out where no home is known. */
export function clientConfigFiles({ os, env, cwd }: ClientPlaces): ClientConfigFile[] {
  const { join } = os === "windows" ? win32 : posix;
  const home = nonEmpty(env, os === "windows" ? "USERPROFILE" : "HOME");
  const apps = appFolder(os, env, home);
  const claude = nonEmpty(env, "CLAUDE_CONFIG_DIR") ?? home;
  const files: ClientConfigFile[] = [];
  const add = (
    client: ClientId,
    scope: ClientScope,
    base: string | undefined,
    ...parts: string[]
  ) => {
    if (base === undefined) return;
    const section = client === "vscode" ? "servers" : "mcpServers";
    files.push({ client, scope, path: join(base, ...parts), section });
  };
  add("claude-code", "user", claude, ".claude.json");
  add("claude-code", "project", cwd, ".mcp.json");
  add("claude-desktop", "user", apps, "Claude", "claude_desktop_config.json");
  add("cursor", "user", home, ".cursor", "mcp.json");
  add("cursor", "project", cwd, ".cursor", "mcp.json");
  add("vscode", "user", apps, "Code", "User", "mcp.json");
  add("vscode", "project", cwd, ".vscode", "mcp.json");
  return files;
}

/** Where this system's programs keep what belongs to a user. */
function appFolder(
  os: ClientPlaces["os"],
  env: Env,
  home: string | undefined,
): string | undefined {
  if (os === "windows") {
    return nonEmpty(env, "APPDATA") ?? (home && win32.join(home, "AppData", "Roaming"));
  }
  if (os === "darwin") return home && posix.join(home, "Library", "Application Support");
  return nonEmpty(env, "XDG_CONFIG_HOME") ?? (home && posix.join(home, ".config"));
}
