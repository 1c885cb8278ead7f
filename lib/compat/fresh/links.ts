/** How a link relates to the page it is on; both sides of the wire use it. */
export function linkState(href: string, page: URL): "current" | "ancestor" | undefined {
  const link = new URL(href, page);
  if (link.origin !== page.origin) return undefined;
  const target = trimSlash(link.pathname);
  const here = trimSlash(page.pathname);
  if (target === here) {
    return link.search === "" || link.search === page.search ? "current" : "ancestor";
  }
  return target === "/" || here.startsWith(`${target}/`) ? "ancestor" : undefined;
}

/** The attributes that say so. */
export function linkAttributes(state: "current" | "ancestor"): Record<string, string> {
  return state === "current"
    ? { "data-current": "true", "aria-current": "page" }
    : { "data-ancestor": "true", "aria-current": "true" };
}

function trimSlash(pathname: string): string {
  return pathname.length > 1 && pathname.endsWith("/") ? pathname.slice(0, -1) : pathname;
}
