import manifest from "../../deno.json" with { type: "json" };
import { fileURLToPath } from "node:url";
import { ROOT } from "../core/root.ts";
import type { ClientConfigFile, ClientId, ClientScope } from "./client_configs.ts";
import type { ReadOptions } from "./options.ts";

const MAIN = fileURLToPath(new URL("main.ts", ROOT));

/** Which of the gateway's doors a client is to use. */
export interface Door {
  kind: "all" | "toolset" | "server";
  /** Of the toolset or server. */
  name: string;
}

export type ClientEntry =
  | { type?: "http"; url: string }
  | { command: string; args: string[] };

/** What a client's config says of the gateway. Claude Desktop starts programs only. */
export function clientEntry(
  client: ClientId,
  door: Door,
  address: string,
  input: Pick<ReadOptions, "options" | "origins">,
): ClientEntry {
  if (client === "claude-desktop") return stdioEntry(door, input);
  const url = new URL(doorPath(door), address).href;
  return client === "cursor" ? { url } : { type: "http", url };
}

export function doorPath({ kind, name }: Door): string {
  return kind === "all" ? "/mcp" : `/${kind}s/${encodeURIComponent(name)}/mcp`;
}

/** A whole config file with nothing but the entry in it. */
export function snippet(
  file: Pick<ClientConfigFile, "section">,
  name: string,
  entry: ClientEntry,
): string {
  return JSON.stringify({ [file.section]: { [name]: entry } }, null, 2);
}

/** The client's own command that does the same, where it has one. */
export function ownCommand(
  client: ClientId,
  scope: ClientScope,
  name: string,
  entry: ClientEntry,
): string | undefined {
  if (client !== "claude-code" || !("url" in entry)) return undefined;
  return `claude mcp add --transport http --scope ${scope} ${name} ${entry.url}`;
}

/** As `deno task start` does it, from whatever folder and with whatever variables. */
function stdioEntry(
  { kind, name }: Door,
  { options, origins }: Pick<ReadOptions, "options" | "origins">,
): ClientEntry {
  const [, ...start] = manifest.tasks.start.command.split(" ");
  const flags = [
    ["--data-dir", options.dataDir, origins.dataDir],
    ["--kv", options.kv, origins.kv],
    ["--config", options.config, origins.config],
  ].flatMap(([flag, value, origin]) =>
    value !== undefined && (origin === "flag" || origin === "environment") ? [flag!, value] : []
  );
  return {
    command: Deno.execPath(),
    args: [
      ...start.map((word) => word === "main.ts" ? MAIN : word),
      "--stdio",
      ...(kind === "all" ? [] : [`--${kind}`, name]),
      ...flags,
    ],
  };
}
