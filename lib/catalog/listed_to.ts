import { createHash } from "node:crypto";
import { EVERYONE, ownerOf } from "../core/access.ts";
import type { ClientProfile } from "../core/client.ts";
import { isObject } from "../core/rpc.ts";
import type { ServerTools } from "./catalog.ts";
import { canonicalJson, type CatalogTool } from "./catalog_tool.ts";

/** Capabilities that say nothing while they are empty; all others count by being there. */
const CONTAINERS = new Set(["experimental", "extensions"]);

const offers = new WeakMap<object, string>();

/**
 * Identifies what a client offers to servers, the same for all clients that offer the same; empty if
 * that is nothing. A server may list other tools by it, and ask such a client something.
 */
export function offerOf({ capabilities }: Pick<ClientProfile, "capabilities">): string {
  const known = offers.get(capabilities);
  if (known !== undefined) return known;
  const offered = Object.entries(capabilities).filter(([name, value]) =>
    value !== undefined && !(CONTAINERS.has(name) && isObject(value) && isEmpty(value))
  );
  const text = canonicalJson(Object.fromEntries(offered));
  const offer = offered.length === 0
    ? ""
    : createHash("sha256").update(text).digest("hex").slice(0, 16);
  offers.set(capabilities, offer);
  return offer;
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}

/** Identifies one owner's clients with an offer: a tool of their own processes is only for them. */
export function ownOffer(offer: string, principal: string): string {
  return `${offer} ${ownerOf(principal)}`;
}

/** Whether it is one owner's: its processes, and so their tools, end with the gateway. */
export function isOwnOffer(offer: string): boolean {
  return offer.includes(" ");
}

/** Whether its server lists a tool to such a principal's clients that offer this. */
export function isListedTo(
  { listedTo }: Pick<CatalogTool, "listedTo">,
  offer: string,
  principal: string = EVERYONE,
): boolean {
  return listedTo === undefined || listedTo.includes(offer) ||
    listedTo.includes(ownOffer(offer, principal));
}

/** Clients may offer anything. */
const MAX_OFFERS = 100;
const lists = new WeakMap<object, Map<string, unknown>>();

/** Those that a principal's clients with this offer are listed; the same array as long as the tools are. */
export function toolsListedTo(
  tools: readonly CatalogTool[],
  offer: string,
  principal: string = EVERYONE,
): readonly CatalogTool[] {
  if (!hasOffers(tools)) return tools;
  return once(
    tools,
    keyFor(tools, offer, principal),
    () => tools.filter((tool) => isListedTo(tool, offer, principal)),
  );
}

const listedByOffer = new WeakMap<readonly CatalogTool[], boolean>();

/** Whether any of the tools is for some clients only; found once, because each call asks. */
function hasOffers(tools: readonly CatalogTool[]): boolean {
  let has = listedByOffer.get(tools);
  if (has === undefined) {
    has = tools.some(({ listedTo }) => listedTo);
    listedByOffer.set(tools, has);
  }
  return has;
}

/** A server's tools for such clients; the same object as long as they are the same. */
export function serverToolsListedTo(
  server: ServerTools,
  offer: string,
  principal: string,
): ServerTools {
  const tools = toolsListedTo(server.tools, offer, principal);
  return tools === server.tools
    ? server
    : once(server, keyFor(server.tools, offer, principal), () => ({ ...server, tools }));
}

/** Only owners with tools of their own need lists of their own. */
function keyFor(tools: readonly CatalogTool[], offer: string, principal: string): string {
  const own = ownOffer(offer, principal);
  return tools.some(({ listedTo }) => listedTo?.includes(own)) ? own : offer;
}

function once<T>(source: object, offer: string, make: () => T): T {
  let made = lists.get(source);
  if (!made) lists.set(source, made = new Map());
  const known = made.get(offer);
  if (known !== undefined) return known as T;
  const fresh = make();
  made.set(offer, fresh);
  if (made.size > MAX_OFFERS) made.delete(made.keys().next().value!);
  return fresh;
}
