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

/** What somebody wanted to use and was not let to. */
export interface RefusedUse {
  /** As the audit log names it: `git.commit`, `(gateway).add_server`. */
  subject: string;
  principal: string;
  /** Missing where it was asked for in the console or by the API. */
  port?: ClientPort;
  /** Whether it is no call of a tool: clients make such by themselves, all day. */
  isRequest?: boolean;
}

/** A request that makes use of a server and is no call of a tool. */
export interface GatedUse {
  server: string;
  method: string;
  principal: string;
  /** Stands for the request until it was answered. */
  scope: object;
}

/** What stands between a caller and a server's tool. */
export interface CallGate {
  /** Throws where the call may not be made; a promise where somebody has to agree first. */
  enter(call: GatedCall): Promise<void> | undefined;
  /** Counts a call of one of the gateway's own tools; throws LIMIT_EXCEEDED. */
  enterBuiltin?(principal: string): void;
  /** Counts a request like a call until it has `ended`; throws LIMIT_EXCEEDED. */
  enterUse?(use: GatedUse): void;
  /** Any number of times, also for what was never counted. */
  ended?(scope: object): void;
  /** Has it noted that somebody was not let through, where the gate itself was not asked. */
  refused?(use: RefusedUse, error: unknown): void;
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
    gate?.refused?.(refusedCall(call), error);
    throw error;
  }
}

export function refusedCall({ tool, port }: Pick<GatedCall, "tool" | "port">): RefusedUse {
  return { subject: `${tool.server}.${tool.name}`, principal: port.principal, port };
}

/** Throws ACCESS_DENIED where the caller may not make use of servers, and has that noted. */
export function checkMayUse(
  rights: Pick<CallerRights, "demand"> | undefined,
  gate: CallGate | undefined,
  { method, server, port }: { method: string; server?: string; port: ClientPort },
): void {
  const { principal } = port;
  const isNamed = USES.has(method);
  try {
    rights?.demand(principal, "call", isNamed ? method : "This request");
  } catch (error) {
    const use = isNamed ? method : "request";
    const subject = server === undefined ? use : `${server}.${use}`;
    gate?.refused?.({ subject, principal, port, isRequest: true }, error);
    throw error;
  }
}

/** Makes use of a server for a caller, which counts like a call until it was answered. */
export async function counted(
  gate: CallGate | undefined,
  use: GatedUse,
  ask: () => Promise<string>,
): Promise<string> {
  if (!gate?.enterUse || isLooking(use.method)) return await ask();
  gate.enterUse(use);
  try {
    return await ask();
  } finally {
    gate.ended?.(use.scope);
  }
}

/** Those that are noted by name: a client may send any text as a method, and never the same twice. */
const USES: ReadonlySet<string> = new Set([
  "completion/complete",
  "prompts/get",
  "resources/read",
  "resources/subscribe",
  "resources/unsubscribe",
  "tasks/cancel",
  "tasks/get",
  "tasks/result",
]);

/** The methods that only look; all others make use of a server. */
const LOOKING = /\/list$|^ping$|^logging\/setLevel$/;

export function isLooking(method: string): boolean {
  return LOOKING.test(method);
}
