import * as z from "zod";
import { AccessScope, CallLimit, ProjectName, type Right, RIGHTS } from "../core/access.ts";
import { defined } from "../core/defined.ts";
import { GatewayError } from "../core/errors.ts";

/** The scopes that an identity provider can grant, most harmless first. */
export const SCOPES: readonly string[] = RIGHTS.map(scopeName);

/** What a client does with tools; more than that is asked for by name. */
export const USUAL_SCOPES: readonly string[] = [scopeName("read"), scopeName("call")];

/** Claims beside the scopes. One that was meant to narrow and is not understood must not widen. */
const Claims = z.object({
  mcp_servers: z.preprocess(patternsOf, AccessScope.shape.servers),
  mcp_tools: z.preprocess(patternsOf, AccessScope.shape.tools),
  mcp_toolsets: z.preprocess(patternsOf, AccessScope.shape.toolsets),
  mcp_project: ProjectName.optional(),
  mcp_calls_per_minute: CallLimit.shape.perMinute,
  mcp_concurrent_calls: CallLimit.shape.concurrent,
  mcp_mode: CallLimit.shape.mode,
});
const OURS = /^mcp_/i;

export interface TokenRights {
  scope: AccessScope;
  project?: string;
  limit?: CallLimit;
}

/** A token is genuine, and its scopes are not enough: its owner can ask for one with more. */
export class ScopeMissing extends GatewayError {
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
export function insufficientScope(held: Iterable<Right>, ...missing: Right[]): ScopeMissing {
  const wanted = new Set([...held, ...missing]);
  return new ScopeMissing(
    `The token has no scope ${missing.map((right) => `"${scopeName(right)}"`).join(" and no ")}`,
    RIGHTS.filter((one) => wanted.has(one)).map(scopeName),
  );
}

/** Whether a caller's token is an identity provider's, from whom its owner can get one with more. */
export function isOAuthPrincipal(principal: string): boolean {
  return principal.startsWith("oauth:");
}

/** What the claims of a token let its owner do, or what is wrong with one of them. */
export function rightsOf(
  claims: Readonly<Record<string, unknown>>,
): TokenRights | { wrong: string } {
  const granted = new Set([...wordsOf(claims.scope), ...wordsOf(claims.scp)]);
  const rights = RIGHTS.filter((right) => granted.has(right) || granted.has(scopeName(right)));
  if (rights.length === 0) {
    throw new ScopeMissing("The token has none of this gateway's scopes", USUAL_SCOPES);
  }
  const misspelled = Object.keys(claims).find((name) =>
    OURS.test(name) && !Object.hasOwn(Claims.shape, name)
  );
  if (misspelled !== undefined) {
    const known = Object.keys(Claims.shape).join(", ");
    return {
      wrong: `its claim ${misspelled.slice(0, 100)} is unknown; the known ones are ${known}`,
    };
  }
  const { data, error } = Claims.safeParse(claims);
  if (!data) return { wrong: `its claim ${String(error.issues[0]?.path[0])} has an invalid value` };
  const { mcp_servers: servers, mcp_tools: tools, mcp_toolsets: toolsets } = data;
  const limit = defined({
    perMinute: data.mcp_calls_per_minute,
    concurrent: data.mcp_concurrent_calls,
    mode: data.mcp_mode,
  });
  return {
    scope: { rights, servers, toolsets, tools },
    ...defined({ project: data.mcp_project }),
    ...(Object.keys(limit).length === 0 ? {} : { limit }),
  };
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
