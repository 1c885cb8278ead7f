import { isNaming, type Naming } from "../catalog/names.ts";

/** The MCP endpoint that a URL names. */
export type EndpointPath =
  & (
    | { kind: "server"; server: string; naming: Naming }
    | { kind: "gateway" }
    | { kind: "toolset"; toolset: string }
    /** The default endpoint; `expose` as it was written, all resources and prompts if wanted. */
    | { kind: "default"; expose: string; naming: Naming | undefined; isWhole?: boolean }
  )
  & {
    /** The project its caller chose, as it was written. */
    project?: string;
    /** Shows the servers' own descriptions, whatever is promoted. */
    isCanonical?: true;
  };

const SERVER = /^https?:\/\/[^/?#]+\/(?:servers|s)\/([A-Za-z0-9_-]{1,64})\/mcp(\?[^#]*)?$/;
const GATEWAY = /^https?:\/\/[^/?#]+\/(?:gateway|g)\/mcp(\?[^#]*)?$/;
const TOOLSET = /^https?:\/\/[^/?#]+\/toolsets\/([A-Za-z0-9_-]{1,64})\/mcp(\?[^#]*)?$/;
const DEFAULT = /^https?:\/\/[^/?#]+\/mcp(\?[^#]*)?$/;

/** Clients use few URLs; beyond this many all are parsed again. */
const MOST_KNOWN = 1_000;
const known = new Map<string, EndpointPath>();

/** Reads a request's URL; undefined if it is not an MCP endpoint. On the path of every call. */
export function parseEndpoint(url: string): EndpointPath | undefined {
  const parsed = known.get(url);
  if (parsed) return parsed;
  const path = readDescriptions(readProject(readEndpoint(url), url), url);
  if (!path) return undefined;
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(url, path);
  return path;
}

function readEndpoint(url: string): EndpointPath | undefined {
  const server = SERVER.exec(url);
  if (server) return { kind: "server", server: server[1]!, naming: namingOf(server[2]) };
  const main = DEFAULT.exec(url);
  if (main) return { kind: "default", ...viewOf(main[1]) };
  const toolset = TOOLSET.exec(url);
  if (toolset) return { kind: "toolset", toolset: toolset[1]! };
  return GATEWAY.test(url) ? { kind: "gateway" } : undefined;
}

function readProject(path: EndpointPath | undefined, url: string): EndpointPath | undefined {
  if (!path || !url.includes("project=")) return path;
  const project = new URLSearchParams(url.slice(url.indexOf("?"))).get("project") ?? "";
  return project === "" ? path : { ...path, project };
}

function readDescriptions(path: EndpointPath | undefined, url: string): EndpointPath | undefined {
  const isCanonical = path && /[?&]descriptions=canonical(?:&|$)/.test(url);
  return isCanonical ? { ...path, isCanonical } : path;
}

function namingOf(query: string | undefined): Naming {
  const wanted = query === undefined ? undefined : /[?&]names=([a-z]+)(?:&|$)/.exec(query)?.[1];
  return wanted !== undefined && isNaming(wanted) ? wanted : "namespaced";
}

function viewOf(query: string | undefined) {
  if (query === undefined) return { expose: "default", naming: undefined };
  const wanted = new URLSearchParams(query);
  const naming = wanted.get("names");
  return {
    expose: wanted.get("expose") ?? "default",
    naming: naming !== null && isNaming(naming) ? naming : undefined,
    ...(wanted.get("features") === "all" ? { isWhole: true } : {}),
  };
}

/** The views of the default endpoint, chosen with `?expose=`. */
export const VIEW_NAMES = ["default", "discovery", "index", "optimizer", "toolset", "all"] as const;
export type ViewName = (typeof VIEW_NAMES)[number];

export function isViewName(text: string): text is ViewName {
  return VIEW_NAMES.some((view) => view === text);
}

/** Keys of the views that show the equipped toolset. */
export const SHOWS_EQUIPPED = /^mcp\?(?:default|toolset)\b/;
