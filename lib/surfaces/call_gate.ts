import type { CatalogTool } from "../catalog/catalog_tool.ts";
import type { Right } from "../core/access.ts";
import type { ClientPort, RequestScope } from "./surface.ts";

/** What exists for a caller, and what it may do. */
export interface CallerRights {
  admits(principal: string, tool: { server: string; name: string }): boolean;
  admitsServer(principal: string, server: string): boolean;
  admitsToolset(principal: string, toolset: string): boolean;
  /** Throws ACCESS_DENIED. */
  demand(principal: string, right: Right, attempt: string): void;
  /** Is another one whenever what exists for the caller may be something else. */
  grants(principal: string): { isWhole: boolean; may(right: Right): boolean };
}

/** A call on its way to a server. */
export interface GatedCall {
  tool: CatalogTool;
  scope: RequestScope;
  port: ClientPort;
}

/** What stands between a caller and a server's tool. */
export interface CallGate {
  /** Throws where the call may not be made; a promise where somebody has to agree first. */
  enter(call: GatedCall): Promise<void> | undefined;
  /** Counts a call of one of the gateway's own tools; throws LIMIT_EXCEEDED. */
  enterBuiltin?(principal: string): void;
  /** Has it noted that a call was not let through, where the gate itself was not asked. */
  refused?(call: GatedCall, error: unknown): void;
  /** The answer as the caller gets it; missing where all answers pass as they are. */
  leave?(call: GatedCall, answer: string): string | Promise<string>;
  /** The answer to a request for the rest of a result; undefined where it is none. */
  read?(scope: RequestScope, port: ClientPort): Promise<string> | undefined;
  /** Whether a server's results may have to be read on with resources/read. */
  hasPages?(server: string): boolean;
  /** Counts a request that is no call; throws LIMIT_EXCEEDED. */
  countRequest?(principal: string, method: string): void;
}

/** Throws ACCESS_DENIED where the caller has no right to call, and has that noted. */
export function checkMayCall(
  rights: Pick<CallerRights, "demand"> | undefined,
  gate: CallGate | undefined,
  call: GatedCall,
): void {
  try {
    rights?.demand(call.port.principal, "call", "Calling a tool");
  } catch (error) {
    gate?.refused?.(call, error);
    throw error;
  }
}

/** The methods that only look; all others make use of a server. */
const LOOKING = /\/list$|^ping$|^logging\/setLevel$/;

export function isLooking(method: string): boolean {
  return LOOKING.test(method);
}
