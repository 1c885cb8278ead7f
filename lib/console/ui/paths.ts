/** Where a server's page is. */
export function serverPath(name: string): string {
  return `/servers/${encodeURIComponent(name)}`;
}

/** Where a tool's page is. */
export function toolPath(server: string, tool: string): string {
  // A browser takes these two for "here" and "one up", encoded or not: only a search finds them.
  if (tool === "." || tool === "..") return `/tools?${new URLSearchParams({ server, q: tool })}`;
  return `/tools/${encodeURIComponent(server)}/${encodeURIComponent(tool)}`;
}

/** Where it is decided what clients get of a server or of one of its tools. */
export function reviewPath(server?: string, tool?: string): string {
  const named = Object.entries({ server, tool }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]]
  );
  return `/security/review${named.length === 0 ? "" : `?${new URLSearchParams(named)}`}`;
}

/** Where a toolset's page is. */
export function toolsetPath(name: string): string {
  return `/toolsets/${encodeURIComponent(name)}`;
}

/** Where the optimization of a server or of one of its tools is. */
export function optimizationPath(server: string, tool?: string): string {
  const path = `/optimization/${encodeURIComponent(server)}`;
  return tool === undefined || tool === "." || tool === ".."
    ? path
    : `${path}/${encodeURIComponent(tool)}`;
}

/** No server can have such a name, so that none is hidden by the page. */
export const RESTORE_BACKUP = "/settings/restore";
export const NEW_SERVER = "/servers/~new";
export const UNDO_REMOVAL = "/servers/~undo";
export const DEMO_SERVER = "/servers/~demo";

/** A step that is taken with a server: a page or a form of its own. */
export function serverStep(
  name: string,
  step: "tools" | "edit" | "restart" | "remove",
): string {
  return `${serverPath(name)}/~${step}`;
}

/** Where a call's page is, beside the list that the query gives. */
export function callPath(id: string, query: Record<string, string> = {}): string {
  const search = new URLSearchParams(query).toString();
  return `/activity/${encodeURIComponent(id)}${search === "" ? "" : `?${search}`}`;
}

/** No toolset can have such a name, so that none is hidden by the page. */
export const NEW_TOOLSET = "/toolsets/~new";
export const IMPORT_TOOLSETS = "/toolsets/~import";
export const EXPORT_TOOLSETS = "/toolsets/~export";
export const UNEQUIP_TOOLSET = "/toolsets/~unequip";

/** Where a copy of a toolset is made. */
export function cloneToolset(name: string): string {
  return `${NEW_TOOLSET}?${new URLSearchParams({ from: name })}`;
}

/**
 * The parts of a path as they were before encoding, or undefined where one is not well formed.
 * Names may hold a slash or a percent sign, so that a route's own params are not enough.
 */
export function pathParts(pathname: string): string[] | undefined {
  try {
    return pathname.split("/").filter((part) => part !== "").map(decodeURIComponent);
  } catch {
    return undefined;
  }
}
