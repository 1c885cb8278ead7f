import { asset, assetSrcSet } from "./runtime.ts";

/** What an element's attributes have to become, on the server and in the browser alike. */
export function adjustAttributes(
  tag: string,
  props: Record<string, unknown>,
): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  const { src, srcset, "f-client-nav": nav, "data-fresh-disable-lock": isFree } = props;
  // As a boolean, false would leave no attribute and so inherit.
  if (typeof nav === "boolean") changes["f-client-nav"] = String(nav);
  if ((tag === "img" || tag === "source") && !isFree) {
    if (typeof src === "string") changes.src = asset(src);
    if (typeof srcset === "string") changes.srcset = assetSrcSet(srcset);
  }
  return changes;
}

/** The attributes of a link that leads to the page it is on, or to one above it. */
export function linkAttributes(href: string, page: URL): Record<string, string> {
  const link = new URL(href, page);
  const trim = (path: string) => path.replace(/(.)\/$/, "$1");
  const [target, here] = [trim(link.pathname), trim(page.pathname)];
  const isHere = link.origin === page.origin && target === here;
  if (isHere && (link.search === "" || link.search === page.search)) {
    return { "data-current": "true", "aria-current": "page" };
  }
  const isAbove = link.origin === page.origin && (target === "/" || here.startsWith(`${target}/`));
  return isHere || isAbove ? { "data-ancestor": "true", "aria-current": "true" } : {};
}
