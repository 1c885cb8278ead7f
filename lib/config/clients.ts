import { posix, win32 } from "node:path";
import { type ClientEntry, type Dialect, DIALECTS } from "./client_dialects.ts";
import { openSyntax } from "./client_syntax.ts";
import { type Env, nonEmpty, programCommand } from "./platform.ts";
import type { ReadOptions } from "./options.ts";

export type ClientId = keyof typeof DIALECTS;
export const CLIENTS = Object.keys(DIALECTS) as ClientId[];

export const CLIENT_NAMES: Record<ClientId, string> = {
  "claude-code": "Claude Code",
  "claude-desktop": "Claude Desktop",
  cursor: "Cursor",
  vscode: "VS Code",
  windsurf: "Windsurf",
  zed: "Zed",
  codex: "Codex CLI",
  "gemini-cli": "Gemini CLI",
  opencode: "OpenCode",
  goose: "Goose",
  "lm-studio": "LM Studio",
};

export type ClientScope = "user" | "project";

/** A file in which a client keeps its servers, whether it is there or not. */
export interface ClientConfigFile {
  client: ClientId;
  scope: ClientScope;
  path: string;
}

interface ClientPlaces {
  os: typeof Deno.build.os;
  env: Env;
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
  // These keep to ~/.config on macOS as well.
  const dotConfig = (os === "linux" ? nonEmpty(env, "XDG_CONFIG_HOME") : undefined) ??
    (home && join(home, ".config"));
  const codex = nonEmpty(env, "CODEX_HOME") ?? (home && join(home, ".codex"));
  const isWindows = os === "windows";
  const files: [ClientId, ClientScope, base: string | undefined, file: string][] = [
    ["claude-code", "user", claude, ".claude.json"],
    ["claude-code", "project", cwd, ".mcp.json"],
    ["claude-desktop", "user", apps, "Claude/claude_desktop_config.json"],
    ["cursor", "user", home, ".cursor/mcp.json"],
    ["cursor", "project", cwd, ".cursor/mcp.json"],
    ["vscode", "user", apps, "Code/User/mcp.json"],
    ["vscode", "project", cwd, ".vscode/mcp.json"],
    ["windsurf", "user", home, ".codeium/windsurf/mcp_config.json"],
    isWindows
      ? ["zed", "user", apps, "Zed/settings.json"]
      : ["zed", "user", dotConfig, "zed/settings.json"],
    ["zed", "project", cwd, ".zed/settings.json"],
    ["codex", "user", codex, "config.toml"],
    ["codex", "project", cwd, ".codex/config.toml"],
    ["gemini-cli", "user", home, ".gemini/settings.json"],
    ["gemini-cli", "project", cwd, ".gemini/settings.json"],
    ["opencode", "user", dotConfig, "opencode/opencode.json"],
    ["opencode", "project", cwd, "opencode.json"],
    isWindows
      ? ["goose", "user", apps, "Block/goose/config/config.yaml"]
      : ["goose", "user", dotConfig, "goose/config.yaml"],
    ["lm-studio", "user", home, ".lmstudio/mcp.json"],
  ];
  return files.flatMap(([client, scope, base, file]) =>
    base === undefined ? [] : [{ client, scope, path: join(base, file) }]
  );
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

export interface ClientEndpoint {
  kind: "all" | "toolset" | "server";
  name: string;
}

/** What a client's config says of the gateway. Claude Desktop starts programs only. */
export function clientEntry(
  client: ClientId,
  endpoint: ClientEndpoint,
  address: string,
  input: Pick<ReadOptions, "options" | "origins">,
): ClientEntry {
  if (client === "claude-desktop") return stdioEntry(endpoint, input);
  return { type: "http", url: new URL(clientEndpointPath(endpoint), address).href };
}

export function clientEndpointPath({ kind, name }: ClientEndpoint): string {
  return kind === "all" ? "/mcp" : `/${kind}s/${encodeURIComponent(name)}/mcp`;
}

export function dialectOf(client: ClientId): Dialect {
  return DIALECTS[client];
}

/** The entry as the client writes it, in a file that has nothing else. */
export async function configSnippet(
  client: ClientId,
  name: string,
  entry: ClientEntry,
): Promise<string> {
  const { syntax, sections, write } = dialectOf(client);
  return (await openSyntax(syntax)).snippet([...sections.at(-1)!, name], write(entry, name));
}

/** The client's own command that does the same, where it has one. */
export function clientAddCommand(
  client: ClientId,
  scope: ClientScope,
  name: string,
  entry: ClientEntry,
): string | undefined {
  if (!("url" in entry)) return undefined;
  if (client === "claude-code") {
    return `claude mcp add --transport http --scope ${scope} ${name} ${entry.url}`;
  }
  if (client === "gemini-cli") {
    return `gemini mcp add --transport http --scope ${scope} ${name} ${entry.url}`;
  }
}

/** Includes the flags given here, because a client starts it in another folder and environment. */
function stdioEntry(
  { kind, name }: ClientEndpoint,
  { options, origins }: Pick<ReadOptions, "options" | "origins">,
): ClientEntry {
  const [command = "", ...start] = programCommand("serve", options);
  const flags = [
    ["--data-dir", options.dataDir, origins.dataDir],
    ["--kv", options.kv, origins.kv],
    ["--config", options.config, origins.config],
  ].flatMap(([flag, value, origin]) =>
    value !== undefined && (origin === "flag" || origin === "environment") ? [flag!, value] : []
  );
  return {
    command,
    args: [
      ...start,
      "--stdio",
      ...(kind === "all" ? [] : [`--${kind}`, name]),
      ...flags,
    ],
  };
}
