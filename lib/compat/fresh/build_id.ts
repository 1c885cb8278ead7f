/** The query parameter that carries the build's id on cacheable assets. */
export const CACHE_BUST_PARAM = "__frsh_c";

// One per process (or browser page), as asset() is called with no context at hand.
let buildId = "0";

export function getBuildId(): string {
  return buildId;
}

export function setBuildId(id: string): void {
  buildId = id;
}
