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

/** Where a toolset's page is. */
export function toolsetPath(name: string): string {
  return `/toolsets/${encodeURIComponent(name)}`;
}

/** No toolset can have such a name, so that none is hidden by the page. */
export const NEW_TOOLSET = "/toolsets/~new";
export const IMPORT_TOOLSETS = "/toolsets/~import";
export const EXPORT_TOOLSETS = "/toolsets/~export";
export const UNEQUIP_TOOLSET = "/toolsets/~unequip";

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
