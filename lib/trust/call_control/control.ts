import * as z from "zod";
import type { CatalogTool } from "../../catalog/catalog_tool.ts";
import type { Client, McpRequest } from "../../core/client.ts";
import { type Bound, CallLimits } from "../../auth/call_limits.ts";
import type { LimitShares } from "../../auth/limit_shares.ts";
import { type CallLimit, ownerOf } from "../../core/access.ts";
import { GatewayError } from "../../core/errors.ts";
import type { CallMode, ServerSpec } from "../../core/server.ts";
import { isStricter, natureOf, rulesOf, type ServerRules } from "./modes.ts";

export interface PendingCall {
  tool: CatalogTool;
  request: McpRequest;
  client: Client;
}

/** A call that waits for a person. */
export const WaitingCall = z.object({
  id: z.string(),
  server: z.string(),
  tool: z.string(),
  arguments: z.string().describe("As JSON, without secrets"),
  hidden: z.int().describe("Number of characters of the arguments that are not shown"),
  principal: z.string(),
  client: z.string().optional(),
  askedAt: z.number(),
  expiresAt: z.number(),
});
export type WaitingCall = z.infer<typeof WaitingCall>;

/** `always` is for the same tool in the same session, as long as both stay as they are. */
export const ApprovalDecision = z.enum(["approve", "deny", "always"]);
export type ApprovalDecision = z.infer<typeof ApprovalDecision>;

/** The topic of messages about approvals between gateways on one store. */
export const APPROVALS_TOPIC = "approvals";

/** The topic of messages about pages of results between gateways on one store. */
export const PAGES_TOPIC = "result pages";
export const PageWish = z.strictObject({ uri: z.string(), session: z.string() });
export type PageWish = z.infer<typeof PageWish>;

/** A request other than a tool call that makes use of a server. */
export interface ServerUse {
  server: string;
  method: string;
  principal: string;
  /** Identifies the request until it is answered. */
  request: object;
}

export interface RefusedUse {
  /** Default: `call.refuse`. */
  action?: string;
  /** As the audit log names it: `git.commit`, `(gateway).add_server`. */
  subject: string;
  principal: string;
  /** Missing for requests of the console and the API. */
  client?: Client;
  /** Whether it is a request other than a tool call: clients make those on their own, all day. */
  isRequest?: boolean;
}

export function refusedCall({ tool, client }: PendingCall): RefusedUse {
  return { subject: `${tool.server}.${tool.name}`, principal: client.principal, client };
}

/** A call from a client that opens sessions or lists all day is no attack; thousands a minute are. */
const INITIALIZES_PER_MINUTE = 3_000;
const REQUESTS_PER_MINUTE = 60_000;
/** What only ends something is never held back: it would go on for ever. */
const ENDING: ReadonlySet<string> = new Set(["resources/unsubscribe", "tasks/cancel"]);

export interface CallControlOptions {
  findServer(name: string): { server: { spec: ServerSpec } } | undefined;
  limitOf(principal: string): CallLimit | undefined;
  toolsetMode(call: PendingCall): CallMode | undefined;
  askFirst(call: PendingCall): Promise<void>;
  shorten(call: PendingCall, answer: string, maxTokens: number): Promise<string>;
  readPage(request: McpRequest, client: Client): Promise<string>;
  /** Something is not done because of a mode or its caller's rights. */
  onRefused?(use: RefusedUse, error: Error): void;
  limits?: CallLimits;
  /** The same limits, for all gateways on the store together. */
  shares?: Pick<LimitShares, "begin" | "end"> | undefined;
}

interface Holding {
  rules: ServerRules | undefined;
  limit: CallLimit | undefined;
  toolset: CallMode | undefined;
}

/** What may be called, how often, and how much of an answer goes back. Costs next to nothing unused. */
export class CallControl {
  readonly #options: CallControlOptions;
  readonly #limits: CallLimits;
  /** Whether any call was counted yet: if nothing is limited, no call has to be looked up. */
  #hasCounted = false;
  /** An entry's rules are read once. */
  readonly #rules = new WeakMap<ServerSpec, { rules: ServerRules | undefined }>();

  constructor(options: CallControlOptions) {
    this.#options = options;
    this.#limits = options.limits ?? new CallLimits();
  }

  enter(call: PendingCall): Promise<void> | undefined {
    const holding = this.#holding(call);
    if (!holding) return undefined;
    const mustAsk = this.#mustAsk(call.tool, holding, refusedCall(call));
    const { rules, limit } = holding;
    const { tool: { server }, client: { principal } } = call;
    const counted = this.#count(call.request, [ofServer(server, rules), ofToken(principal, limit)]);
    if (!mustAsk) return counted;
    return counted ? counted.then(() => this.#ask(call)) : this.#ask(call);
  }

  /**
   * For a person who tries a tool in the console: the modes of the server and of the person's token
   * apply, and the token's limits. Returns whether somebody has to approve the call.
   */
  async enterTrial({ tool, request, client: { principal } }: PendingCall): Promise<boolean> {
    const holding = this.#holdingTrial(tool.server, principal);
    const use = { subject: `${tool.server}.${tool.name}`, principal };
    const mustAsk = this.#mustAsk(tool, holding, use);
    await this.#count(request, [ofToken(principal, holding.limit)]);
    return mustAsk;
  }

  /** Whether a person who tries a tool has to confirm that because of a mode. */
  mustConfirm({ tool, principal }: { tool: CatalogTool; principal: string }): boolean {
    try {
      return this.#mustAsk(tool, this.#holdingTrial(tool.server, principal));
    } catch {
      // The trial itself says why not: there is nothing to confirm.
      return false;
    }
  }

  /** No modes and no approval: those are for calls of tools. */
  enterUse({ server, method, principal, request }: ServerUse): Promise<void> | undefined {
    if (ENDING.has(method)) return undefined;
    const rules = this.#rulesOf(server);
    const limit = this.#options.limitOf(principal);
    if (rules === undefined && limit === undefined) return undefined;
    return this.#count(request, [ofServer(server, rules), ofToken(principal, limit)]);
  }

  /** One of the gateway's own tools counts as a call of its token's too. */
  enterBuiltin(principal: string): Promise<void> | undefined {
    const limit = this.#options.limitOf(principal);
    if (limit?.perMinute === undefined) return undefined;
    const bound = { ...ofToken(principal, limit), concurrent: undefined };
    return this.#count(bound, [bound]);
  }

  leave(call: PendingCall, answer: string): string | Promise<string> {
    const most = this.#rulesOf(call.tool.server)?.maxResultTokens;
    // Not even with a token for each character.
    if (most === undefined || answer.length <= most) return answer;
    return this.#options.shorten(call, answer, most);
  }

  /**
   * The answer to a request for the rest of a result; undefined where it is none. Counts toward no call
   * limit: its call was counted and no server is asked. Refused, a client would only call again.
   */
  read(request: McpRequest, client: Client): Promise<string> | undefined {
    const { method, params: { uri } } = request;
    const isPage = method === "resources/read" && typeof uri === "string" &&
      uri.startsWith(RESULTS);
    return isPage ? this.#options.readPage(request, client) : undefined;
  }

  /** Whether a server's results may have to be read on with resources/read. */
  hasPages(server: string): boolean {
    return this.#rulesOf(server)?.maxResultTokens !== undefined;
  }

  ended(request: object): void {
    if (!this.#hasCounted) return;
    this.#limits.end(request);
    this.#options.shares?.end(request);
  }

  countRequest(principal: string, method: string): void {
    const isInitialize = method === "initialize";
    const bound: Bound = {
      key: `${isInitialize ? "initialize" : "requests"} ${ownerOf(principal)}`,
      whose: isInitialize ? "Opening sessions" : "Requests other than calls: each client",
      perMinute: isInitialize ? INITIALIZES_PER_MINUTE : REQUESTS_PER_MINUTE,
    };
    this.#limits.begin(bound, [bound]);
  }

  /** Has it noted that somebody was not let through; a client that ended its call itself is no such. */
  refused(use: RefusedUse, error: unknown): void {
    if (error instanceof GatewayError) this.#options.onRefused?.(use, error);
  }

  /** Until the request has ended; throws or rejects with LIMIT_EXCEEDED. */
  #count(request: object, bounds: Bound[]): Promise<void> | undefined {
    this.#hasCounted = true;
    this.#limits.begin(request, bounds);
    return this.#options.shares?.begin(request, bounds)?.catch((error) => {
      this.#limits.undo(request, bounds);
      throw error;
    });
  }

  /** Whether somebody has to agree to a call; throws ACCESS_DENIED where nobody could. */
  #mustAsk(tool: CatalogTool, { rules, limit, toolset }: Holding, use?: RefusedUse): boolean {
    const modes: [CallMode, string][] = [
      [rules?.mode ?? "all", `the entry of server "${tool.server}"`],
      [toolset ?? "all", "the toolset"],
      [limit?.mode ?? "all", "this token"],
    ];
    const [mode, by] = modes.reduce((most, other) => isStricter(other[0], most[0]) ? other : most);
    if (mode === "all") return false;
    const nature = natureOf(tool, rules);
    if (nature === "reads") return false;
    if (mode === "confirm") return nature === "destroys";
    const name = `${tool.server}.${tool.name}`;
    const error = new GatewayError("ACCESS_DENIED", {
      message: `Not called: ${name} may change data, and ${by} allows only read-only tools`,
      recoveryAction: "Use a read-only tool",
      recoverySteps: [
        "Use a read-only tool",
        `Or ask the owner of the gateway to allow ${name}`,
      ],
    });
    if (use) this.refused(use, error);
    throw error;
  }

  async #ask(call: PendingCall): Promise<void> {
    try {
      await this.#options.askFirst(call);
    } catch (error) {
      this.refused(refusedCall(call), error);
      throw error;
    }
    // What was set meanwhile counts for what is about to run.
    const holding = this.#holding(call);
    if (holding) this.#mustAsk(call.tool, holding, refusedCall(call));
  }

  #holding(call: PendingCall): Holding | undefined {
    const rules = this.#rulesOf(call.tool.server);
    const limit = this.#options.limitOf(call.client.principal);
    const toolset = this.#options.toolsetMode(call);
    if (rules === undefined && limit === undefined && toolset === undefined) return undefined;
    return { rules, limit, toolset };
  }

  /** A trial goes through no toolset. */
  #holdingTrial(server: string, principal: string): Holding {
    const limit = this.#options.limitOf(principal);
    return { rules: this.#rulesOf(server), limit, toolset: undefined };
  }

  #rulesOf(server: string): ServerRules | undefined {
    const spec = this.#options.findServer(server)?.server.spec;
    if (spec === undefined) return undefined;
    let known = this.#rules.get(spec);
    if (!known) this.#rules.set(spec, known = { rules: rulesOf(spec) });
    return known.rules;
  }
}

function ofServer(server: string, rules: ServerRules | undefined): Bound {
  return {
    key: `server ${server}`,
    whose: `Server "${server}"`,
    perMinute: rules?.callsPerMinute,
    concurrent: rules?.maxConcurrent,
  };
}

/** A person's tokens with one limit count together: a token with other scopes gets no more. */
function ofToken(principal: string, { perMinute, concurrent }: CallLimit = {}): Bound {
  return {
    key: `calls ${ownerOf(principal)} ${perMinute}/${concurrent}`,
    whose: "This token",
    perMinute,
    concurrent,
  };
}

const RESULTS = "quartermaster://results/";

/** Names the gateway that keeps the result; the first page is what went back at once. */
export function resultUri(gateway: string, id: string, page: number): string {
  return `${RESULTS}${gateway}/${id}?page=${page}`;
}

/** Undefined where the URI is none that was given out. */
export function parseResultUri(
  uri: string,
): { gateway: string; id: string; page: number } | undefined {
  const [, gateway, id, page] = /^([0-9a-f-]{36})\/([0-9a-f-]{36})\?page=(\d{1,6})$/
    .exec(uri.slice(RESULTS.length)) ?? [];
  return gateway && id ? { gateway, id, page: Number(page) } : undefined;
}
