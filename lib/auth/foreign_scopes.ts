import { AccessScope, type Right, RIGHTS } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";

/** The scopes that an identity provider can grant, most harmless first. */
export const SCOPES: readonly string[] = RIGHTS.map(scopeName);

/** What a client does with tools; more than that is asked for by name. */
export const USUAL_SCOPES: readonly string[] = [scopeName("read"), scopeName("call")];

/** Claims that narrow what a token is for, by the part of a scope they stand for. */
const NARROWING = {
  servers: "mcp_servers",
  tools: "mcp_tools",
  toolsets: "mcp_toolsets",
} as const;

/** A token is genuine, and its scopes are not enough: its owner can ask for one with more. */
export class ScopeMissing extends GatewayError {
  /** What to ask for. */
  readonly scopes: readonly string[];

  constructor(message: string, scopes: readonly string[]) {
    super("INSUFFICIENT_SCOPE", {
      message,
      recoverySteps: [`Ask your identity provider for a token with ${scopes.join(" ")}`],
    });
    this.scopes = scopes;
  }
}

/** A right is missing from a token that has others: those are asked for again with it. */
export function rightMissing(held: Iterable<Right>, ...missing: Right[]): ScopeMissing {
  const wanted = new Set([...held, ...missing]);
  return new ScopeMissing(
    `The token has no scope ${missing.map((right) => `"${scopeName(right)}"`).join(" and no ")}`,
    RIGHTS.filter((one) => wanted.has(one)).map(scopeName),
  );
}

/** Whether a caller's token is an identity provider's, from whom its owner can get one with more. */
export function isForeign(principal: string): boolean {
  return principal.startsWith("oauth:");
}

/** What the claims of a token let its owner do; undefined where they cannot be understood. */
export function scopeOf(claims: Readonly<Record<string, unknown>>): AccessScope | undefined {
  const granted = new Set([...wordsOf(claims.scope), ...wordsOf(claims.scp)]);
  const rights = RIGHTS.filter((right) => granted.has(right) || granted.has(scopeName(right)));
  if (rights.length === 0) {
    throw new ScopeMissing("The token has no scope that counts here", USUAL_SCOPES);
  }
  const narrowed = Object.entries(NARROWING).flatMap(([part, claim]) =>
    claims[claim] === undefined ? [] : [[part, patternsOf(claims[claim])] as const]
  );
  // A claim that was meant to narrow and is not understood must not widen.
  return AccessScope.safeParse({ rights, ...Object.fromEntries(narrowed) }).data;
}

function scopeName(right: Right): string {
  return `mcp:${right}`;
}

/** Providers write scopes as one text or as a list. */
function wordsOf(value: unknown): string[] {
  const texts = Array.isArray(value) ? value : [value];
  return texts.flatMap((text) => typeof text === "string" ? text.split(" ") : []);
}

/** An empty list is for nothing, which a scope says with a pattern. */
function patternsOf(value: unknown): unknown {
  return Array.isArray(value) && value.length === 0 ? ["!*"] : value;
}
