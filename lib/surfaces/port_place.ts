import { isObject } from "../core/rpc.ts";
import { shortened } from "../core/shortened.ts";
import type { ClientPort } from "./surface.ts";

const CLIENT_LENGTH = 80;

/**
 * Where a client's call comes from, for a person who decides about it or looks back: its door, what
 * it calls itself, and the address it connected from. The name is in quotes: it is the client's own
 * word, and must not pass for an address.
 */
export function placeOf({ door, client: { clientInfo }, from }: ClientPort): string {
  const { name, version } = isObject(clientInfo) ? clientInfo : {};
  const words = [name, version].filter((word) => typeof word === "string").join(" ").trim();
  return [
    door === undefined ? "MCP" : `MCP at /${door.replace(/\?$/, "")}`,
    ...(words === "" ? [] : [`client ${JSON.stringify(shortened(words, CLIENT_LENGTH))}`]),
    ...(from === undefined ? [] : [`from ${from}`]),
  ].join(", ");
}
