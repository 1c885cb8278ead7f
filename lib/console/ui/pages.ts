/** The console's pages, in the order of the rail. */
export const PAGES = [
  { path: "/", label: "Dashboard", icon: "dashboard", key: "i" },
  { path: "/servers", label: "Servers", icon: "servers", key: "s" },
  { path: "/tools", label: "Tools", icon: "tools", key: "t" },
  { path: "/toolsets", label: "Toolsets", icon: "toolsets", key: "e" },
  { path: "/optimization", label: "Optimization", icon: "optimization", key: "o" },
  { path: "/activity", label: "Activity", icon: "activity", key: "l" },
  { path: "/security", label: "Security", icon: "lock", key: "a" },
  { path: "/settings", label: "Settings", icon: "settings", key: "," },
] as const;

export type ConsolePage = typeof PAGES[number];

/** Whether a page is the one shown, or the list that the shown detail belongs to. */
export function isCurrentPage(page: ConsolePage, pathname: string): boolean {
  if (page.path === "/") return pathname === "/";
  return pathname === page.path || pathname.startsWith(`${page.path}/`);
}
