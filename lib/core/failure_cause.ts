/** Ends the reason of a server whose npx cache needs repair. */
export const BROKEN_CACHE = "The npx cache of this package is broken: repair the server";

/** In the reason of a server whose package is not the pinned one. */
export const PACKAGE_CHANGED = "is not what was pinned";

const VARIABLE = String.raw`(?:environment variables?|env(?:ironment)? vars?|api[ _-]?keys?|` +
  String.raw`access tokens?|credentials)`;
const ABSENT = String
  .raw`(?:required|missing|not (?:set|provided|found|configured)|must be|undefined)`;

/** The first match counts, so the most specific causes come first. */
const PATTERNS = [
  ["broken_cache", new RegExp(BROKEN_CACHE)],
  ["package_changed", new RegExp(PACKAGE_CHANGED)],
  ["command_not_found", /is not on PATH|there is no file "|command not found|: not found(?:$|;)/],
  [
    "package_not_found",
    /npm (?:error|ERR!) (?:404|notarget)|No solution found when resolving|not found in the package registry|No matching distribution|manifest unknown|pull access denied/,
  ],
  ["port_in_use", /EADDRINUSE|address already in use|port \d+ is (?:already )?(?:in use|taken)/i],
  [
    "missing_variable",
    new RegExp(
      `${VARIABLE}.{0,60}${ABSENT}|(?:${ABSENT}|set|provide|need).{0,60}${VARIABLE}`,
      "i",
    ),
  ],
  [
    "missing_variable",
    new RegExp(
      String.raw`KeyError: '[A-Z][A-Z0-9_]+'|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b.{0,30}${ABSENT}`,
    ),
  ],
  ["missing_module", /Cannot find (?:package|module)|ModuleNotFoundError|No module named/],
  ["install_timeout", /did not finish installing|made no progress installing/],
  ["start_timeout", /did not complete the MCP handshake within/],
  ["login", /HTTP 40[13]\b|unauthorized|invalid (?:api key|token)/i],
  ["unreachable", /cannot reach|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|connection refused/i],
  ["usage", /\busage: /i],
] as const;

/** Why a server failed to start, as its reason tells; each cause has its own remedy. */
export type FailureCause = (typeof PATTERNS)[number][0];

/** Reads the cause from a server's reason; undefined if it is not a known one. */
export function failureCause(reason: string): FailureCause | undefined {
  return PATTERNS.find(([, pattern]) => pattern.test(reason))?.[0];
}
