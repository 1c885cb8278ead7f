import { asset, assetSrcSet } from "./runtime.ts";

const FLAGS = ["f-client-nav", "f-view-transition"];

/** What an element's attributes have to become, on the server and in the browser alike. */
export function adjustAttributes(
  tag: string,
  props: Record<string, unknown>,
): Record<string, unknown> | undefined {
  const changes: Record<string, unknown> = {};
  for (const flag of FLAGS) {
    // As a boolean, false would leave no attribute and so inherit.
    if (typeof props[flag] === "boolean") changes[flag] = String(props[flag]);
  }
  if ((tag === "img" || tag === "source") && !props["data-fresh-disable-lock"]) {
    if (typeof props.src === "string") changes.src = asset(props.src);
    if (typeof props.srcset === "string") changes.srcset = assetSrcSet(props.srcset);
  }
  return Object.keys(changes).length > 0 ? changes : undefined;
}
