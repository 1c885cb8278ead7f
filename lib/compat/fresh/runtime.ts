import { type ComponentChildren, Fragment, h, type VNode } from "preact";
import { CACHE_BUST_PARAM, getBuildId } from "./build_id.ts";
import { BrowserHead } from "./client/head.ts";

export { HttpError } from "./http_error.ts";

export const IS_BROWSER: boolean = typeof document !== "undefined";

/** The same path with the build's mark, so that it can be cached for a year. */
export function asset(path: string): string {
  if (!path.startsWith("/") || path.startsWith("//")) return path;
  const url = new URL(path, "http://localhost");
  if (!url.searchParams.has(CACHE_BUST_PARAM)) url.searchParams.set(CACHE_BUST_PARAM, getBuildId());
  return url.pathname + url.search + url.hash;
}

/** `asset()` for each URL of a `srcset`. */
export function assetSrcSet(srcset: string): string {
  return srcset.split(",").map((part) => part.replace(/\S+/, (url) => asset(url))).join(",");
}

export interface PartialProps {
  /** Unique on the page. */
  name: string;
  mode?: "replace" | "prepend" | "append";
  children?: ComponentChildren;
}

/** A part of the page that responses can update in place. */
export function Partial(props: PartialProps): VNode {
  return h(Fragment, null, props.children);
}

/** Puts its children into the document's head. */
export function Head(props: { children?: ComponentChildren }): ComponentChildren {
  return IS_BROWSER ? h(BrowserHead, null, props.children) : props.children;
}
