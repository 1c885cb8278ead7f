/**
 * How each client writes a server: the shape of an entry, where entries stand, and the file's syntax.
 * From the clients' own documentation; docs/clients/ has a page for each.
 */
import { isObject } from "../core/rpc.ts";

/** A server as most clients write it, and as .mcp.json has it. */
export type ClientEntry =
  | { type?: "http"; url: string; headers?: Record<string, string> }
  | { command: string; args: string[]; env?: Record<string, unknown> };

type Raw = Record<string, unknown>;

export interface Dialect {
  syntax: "json" | "toml" | "yaml";
  /** Where the entries stand. With several, the first that a file has counts, else the last. */
  sections: string[][];
  /** The entry as the client writes it. */
  write(entry: ClientEntry, name: string): Raw;
  /** An entry of the client's, as .mcp.json would have it; undefined if it is not an MCP server. */
  read(raw: Raw): Raw | undefined;
}

const COMMON: Dialect = {
  syntax: "json",
  sections: [["mcpServers"]],
  write: (entry) => ({ ...entry }),
  read: (raw) => raw,
};

/** Like the common one, but a URL needs no type. */
const UNTYPED: Dialect = { ...COMMON, write: untyped };

export const DIALECTS = {
  "claude-code": COMMON,
  "claude-desktop": COMMON,
  cursor: UNTYPED,
  vscode: { ...COMMON, sections: [["servers"]] },
  windsurf: { ...COMMON, write: (entry) => renamed(untyped(entry), { url: "serverUrl" }) },
  zed: {
    ...UNTYPED,
    sections: [["context_servers"]],
    read({ source: _, settings: _settings, command, ...rest }) {
      // Before 2025 Zed wrote { command: { path, args, env } }.
      if (isObject(command)) return { ...renamed(command, { path: "command" }), ...rest };
      return "url" in rest ? rest : command === undefined ? undefined : { command, ...rest };
    },
  },
  codex: {
    syntax: "toml",
    sections: [["mcp_servers"]],
    write: (entry) => renamed(untyped(entry), { headers: "http_headers" }),
    read: readCodex,
  },
  "gemini-cli": {
    ...COMMON,
    write: (entry) => renamed(untyped(entry), { url: "httpUrl" }),
    read({ trust: _, httpUrl, url, ...rest }) {
      if (httpUrl !== undefined) return { type: "http", url: httpUrl, ...rest };
      return url === undefined ? rest : { type: "sse", url, ...rest };
    },
  },
  opencode: {
    syntax: "json",
    // Version 2 has its own place for them, and still reads that of version 1.
    sections: [["mcp", "servers"], ["mcp"]],
    write: (entry) =>
      "url" in entry ? { type: "remote", ...untyped(entry), enabled: true } : {
        type: "local",
        command: [entry.command, ...entry.args],
        ...(entry.env ? { environment: entry.env } : {}),
        enabled: true,
      },
    read({ type, command, environment, ...rest }) {
      if (type === "remote") return { type: "http", ...rest };
      if (type !== "local" || !Array.isArray(command)) return undefined;
      const [program, ...args] = command;
      return { command: program, args, ...(environment ? { env: environment } : {}), ...rest };
    },
  },
  goose: {
    syntax: "yaml",
    sections: [["extensions"]],
    write: (entry, name) => ({
      enabled: true,
      name,
      ...("url" in entry
        ? {
          type: "streamable_http",
          uri: entry.url,
          ...(entry.headers ? { headers: entry.headers } : {}),
        }
        : { type: "stdio", cmd: entry.command, args: entry.args, envs: entry.env ?? {} }),
      timeout: 300,
    }),
    read(
      { type, uri, cmd, args, envs, env_keys: _, timeout: _timeout, bundled: _bundled, ...rest },
    ) {
      const { available_tools: _tools, display_name: _display, ...others } = rest;
      const remote = { streamable_http: "http", sse: "sse" }[String(type)];
      if (remote !== undefined) return { type: remote, url: uri, ...others };
      return type === "stdio" ? { command: cmd, args, env: envs, ...others } : undefined;
    },
  },
  "lm-studio": UNTYPED,
} satisfies Record<string, Dialect>;

function untyped(entry: ClientEntry): Raw {
  const { type: _, ...rest } = { type: undefined, ...entry };
  return rest;
}

function renamed(raw: Raw, names: Record<string, string>): Raw {
  return Object.fromEntries(Object.entries(raw).map(([key, value]) => [names[key] ?? key, value]));
}

/** Codex names variables where others write their values in. */
function readCodex(
  { url, http_headers, env_http_headers, bearer_token_env_var: bearer, ...rest }: Raw,
): Raw {
  const { startup_timeout_sec: seconds, tool_timeout_sec: _, ...others } = rest;
  const limit = typeof seconds === "number" ? { startTimeoutMs: seconds * 1000 } : {};
  if (url === undefined) return { ...others, ...limit };
  const named = isObject(env_http_headers)
    ? Object.entries(env_http_headers).map(([header, name]) => [header, `\${${name}}`])
    : [];
  const headers = {
    ...(isObject(http_headers) ? http_headers : {}),
    ...Object.fromEntries(named),
    ...(typeof bearer === "string" ? { Authorization: `Bearer \${${bearer}}` } : {}),
  };
  return { type: "http", url, headers, ...others, ...limit };
}
