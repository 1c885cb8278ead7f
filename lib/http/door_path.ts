import { isNaming, type Naming } from "../routing/names.ts";

/** Which MCP door a request knocks at. */
export type DoorPath =
  | { kind: "server"; server: string; naming: Naming }
  | { kind: "gateway" };

const SERVER = /^https?:\/\/[^/?#]+\/(?:servers|s)\/([A-Za-z0-9_-]{1,64})\/mcp(\?[^#]*)?$/;
const GATEWAY = /^https?:\/\/[^/?#]+\/(?:gateway|g)\/mcp(\?[^#]*)?$/;

/** Reads a request's URL; undefined where it is no MCP door. By pattern: this is the hot path. */
export function parseDoor(url: string): DoorPath | undefined {
  const server = SERVER.exec(url);
  if (server) return { kind: "server", server: server[1]!, naming: namingOf(server[2]) };
  return GATEWAY.test(url) ? { kind: "gateway" } : undefined;
}

function namingOf(query: string | undefined): Naming {
  const wanted = query === undefined ? undefined : /[?&]names=([a-z]+)(?:&|$)/.exec(query)?.[1];
  return wanted !== undefined && isNaming(wanted) ? wanted : "namespaced";
}
