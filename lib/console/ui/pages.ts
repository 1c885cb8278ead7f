/** `key` alone opens a page, and so does `g`, then `go`. */
export const PAGES = [
  { path: "/", label: "Dashboard", icon: "dashboard", key: "i", go: "d" },
  { path: "/servers", label: "Servers", icon: "servers", key: "s", go: "s" },
  { path: "/tools", label: "Tools", icon: "tools", key: "t", go: "t" },
  { path: "/toolsets", label: "Toolsets", icon: "toolsets", key: "e", go: "e" },
  { path: "/clients", label: "Clients", icon: "monitor", key: "c", go: "c" },
  {
    path: "/optimization",
    label: "Optimization",
    also: "Optimize",
    icon: "optimization",
    key: "o",
    go: "o",
  },
  { path: "/activity", label: "Activity", icon: "activity", key: "l", go: "l" },
  { path: "/security", label: "Security", icon: "lock", key: "a", go: "a" },
  { path: "/settings", label: "Settings", icon: "settings", key: ",", go: "," },
] as const;

export type ConsolePage = typeof PAGES[number];

export function isCurrentPage(page: ConsolePage, pathname: string): boolean {
  if (page.path === "/") return pathname === "/";
  return pathname === page.path || pathname.startsWith(`${page.path}/`);
}

export const SECURITY_PAGES = [
  { path: "/security", label: "Overview", icon: "lock" },
  { path: "/security/tokens", label: "Tokens", icon: "lock" },
  { path: "/security/projects", label: "Projects", icon: "toolsets" },
  { path: "/security/review", label: "Review", icon: "alert" },
  { path: "/security/consents", label: "Consents", icon: "servers" },
  { path: "/security/approvals", label: "Approvals", icon: "paused" },
  { path: "/security/secrets", label: "Secrets", icon: "store" },
  { path: "/security/audit", label: "Audit log", icon: "file" },
] as const;

export function serverPath(name: string): string {
  return `/servers/${encodeURIComponent(name)}`;
}

export function toolPath(server: string, tool: string): string {
  // A browser takes these two for "here" and "one up", encoded or not: only a search finds them.
  if (tool === "." || tool === "..") return `/tools?${new URLSearchParams({ server, q: tool })}`;
  return `/tools/${encodeURIComponent(server)}/${encodeURIComponent(tool)}`;
}

export function reviewPath(server?: string, tool?: string): string {
  const named = Object.entries({ server, tool }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]]
  );
  return `/security/review${named.length === 0 ? "" : `?${new URLSearchParams(named)}`}`;
}

export function toolsetPath(name: string): string {
  return `/toolsets/${encodeURIComponent(name)}`;
}

export function optimizationPath(server: string, tool?: string): string {
  const path = `/optimization/${encodeURIComponent(server)}`;
  return tool === undefined || tool === "." || tool === ".."
    ? path
    : `${path}/${encodeURIComponent(tool)}`;
}

/** No server can have such a name, so that none is hidden by the page. */
export const RESTORE_BACKUP = "/settings/restore";
export const OPTIMIZE_ALL = "/optimization/~all";
export const NEW_SERVER = "/servers/~new";
export const UNDO_REMOVAL = "/servers/~undo";
export const DEMO_SERVER_PATH = "/servers/~demo";

export function serverStep(
  name: string,
  step: "tools" | "edit" | "login" | "restart" | "pause" | "resume" | "remove",
): string {
  return `${serverPath(name)}/~${step}`;
}

export function clientPath(id: string): string {
  return `/clients/${encodeURIComponent(id)}`;
}

export function callPath(id: string, query: Record<string, string> = {}): string {
  const search = new URLSearchParams(query).toString();
  return `/activity/${encodeURIComponent(id)}${search === "" ? "" : `?${search}`}`;
}

/** No toolset can have such a name, so that none is hidden by the page. */
export const NEW_TOOLSET = "/toolsets/~new";
export const IMPORT_TOOLSETS = "/toolsets/~import";
export const EXPORT_TOOLSETS = "/toolsets/~export";
export const UNEQUIP_TOOLSET = "/toolsets/~unequip";

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

/** A path of this console to go back to; the dashboard where it is none, or of another site. */
export function localPath(path: string | null): string {
  if (path === null || !/^\/(?![/\\])/.test(path)) return "/";
  const url = URL.parse(path, "http://console.invalid");
  // Dots may have been resolved to another host's beginning.
  if (url?.host !== "console.invalid" || url.pathname.startsWith("//")) return "/";
  return url.pathname + url.search + url.hash;
}
