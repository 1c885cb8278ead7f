import { isNaming, type Naming } from "../routing/names.ts";

/** Which MCP door a request knocks at. */
export type DoorPath =
  & (
    | { kind: "server"; server: string; naming: Naming }
    | { kind: "gateway" }
    | { kind: "toolset"; toolset: string }
    /** The default door; `expose` as it was written. */
    | { kind: "default"; expose: string; naming: Naming | undefined }
  )
  & {
    /** The project its caller chose, as it was written. */
    project?: string;
  };

const SERVER = /^https?:\/\/[^/?#]+\/(?:servers|s)\/([A-Za-z0-9_-]{1,64})\/mcp(\?[^#]*)?$/;
const GATEWAY = /^https?:\/\/[^/?#]+\/(?:gateway|g)\/mcp(\?[^#]*)?$/;
const TOOLSET = /^https?:\/\/[^/?#]+\/toolsets\/([A-Za-z0-9_-]{1,64})\/mcp(\?[^#]*)?$/;
const DEFAULT = /^https?:\/\/[^/?#]+\/mcp(\?[^#]*)?$/;

/** Clients come back to few doors; beyond this many all are read anew. */
const KEPT = 1_000;
const known = new Map<string, DoorPath>();

/** Reads a request's URL; undefined where it is no MCP door. This is the hot path. */
export function parseDoor(url: string): DoorPath | undefined {
  const kept = known.get(url);
  if (kept) return kept;
  const door = readProject(readDoor(url), url);
  if (!door) return undefined;
  if (known.size >= KEPT) known.clear();
  known.set(url, door);
  return door;
}

function readDoor(url: string): DoorPath | undefined {
  const server = SERVER.exec(url);
  if (server) return { kind: "server", server: server[1]!, naming: namingOf(server[2]) };
  const main = DEFAULT.exec(url);
  if (main) return { kind: "default", ...viewOf(main[1]) };
  const toolset = TOOLSET.exec(url);
  if (toolset) return { kind: "toolset", toolset: toolset[1]! };
  return GATEWAY.test(url) ? { kind: "gateway" } : undefined;
}

function readProject(door: DoorPath | undefined, url: string): DoorPath | undefined {
  if (!door || !url.includes("project=")) return door;
  const project = new URLSearchParams(url.slice(url.indexOf("?"))).get("project") ?? "";
  return project === "" ? door : { ...door, project };
}

function namingOf(query: string | undefined): Naming {
  const wanted = query === undefined ? undefined : /[?&]names=([a-z]+)(?:&|$)/.exec(query)?.[1];
  return wanted !== undefined && isNaming(wanted) ? wanted : "namespaced";
}

function viewOf(query: string | undefined): { expose: string; naming: Naming | undefined } {
  if (query === undefined) return { expose: "default", naming: undefined };
  const wanted = new URLSearchParams(query);
  const naming = wanted.get("names");
  return {
    expose: wanted.get("expose") ?? "default",
    naming: naming !== null && isNaming(naming) ? naming : undefined,
  };
}
