import type { AuditAsker, OnAudit } from "../../core/audit.ts";
import { GatewayError } from "../../core/errors.ts";
import { isObject, memberText } from "../../core/rpc.ts";
import { shortened } from "../../core/shortened.ts";
import type { GatedCall } from "../call_gate.ts";
import type { ClientPort } from "../surface.ts";

/** How long a person may take; a call that waited in vain is never made. */
export const APPROVAL_MS = 120_000;
/** Nobody reads more than this; what a client asks beyond it is refused. */
const MOST_WAITING = 200;
const MOST_OF_ONE = 20;
const SHOWN_ARGUMENTS = 65_536;
const CLIENT_LENGTH = 80;

/** A call that waits for a person. */
export interface WaitingCall {
  id: string;
  server: string;
  tool: string;
  /** As JSON, without secrets. */
  arguments: string;
  /** Characters of them that are not shown. */
  hidden: number;
  principal: string;
  /** What the client calls itself. */
  client?: string;
  /** In ms since the epoch. */
  askedAt: number;
  expiresAt: number;
}

export type Verdict = "approved" | "denied" | "expired";
/** `always` is for the same tool in the same session, as long as both stay as they are. */
export type ApprovalDecision = "approve" | "deny" | "always";

export interface ApprovalsOptions {
  /** Takes secrets out of a JSON text. */
  mask(json: string): string;
  /** The list is another one; with the call that came to it, if one did. */
  onChange?(added?: WaitingCall): void;
  onAudit?: OnAudit | undefined;
  limitMs?: number;
}

interface Waiting {
  shown: WaitingCall;
  call: GatedCall;
  settle(verdict: Verdict): void;
}

/** Calls that wait for a person at the console, in memory: they end with their clients. */
export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #waiting = new Map<string, Waiting>();
  /** Goes with the session. */
  readonly #trusted = new WeakMap<ClientPort, Set<string>>();

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  /** The oldest first. */
  list(): WaitingCall[] {
    return Array.from(this.#waiting.values(), ({ shown }) => shown);
  }

  /** Whether somebody has said that the session may call this tool as it is. */
  isTrusted({ tool, port }: GatedCall): boolean {
    return this.#trusted.get(port)?.has(markOf(tool)) ?? false;
  }

  /** Resolves with what a person says, or with "expired"; rejects when the client goes. */
  async wait(call: GatedCall): Promise<Verdict> {
    const { signal } = call.scope;
    signal.throwIfAborted();
    this.#checkRoom(call);
    const { limitMs = APPROVAL_MS } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<Verdict>();
    const shown = this.#shownOf(call, limitMs);
    const timer = setTimeout(() => resolve("expired"), limitMs);
    const gone = () => reject(signal.reason);
    signal.addEventListener("abort", gone);
    this.#waiting.set(shown.id, { shown, call, settle: resolve });
    this.#options.onChange?.(shown);
    try {
      const verdict = await promise;
      // A yes to a client that went in the same moment is for nobody.
      signal.throwIfAborted();
      return verdict;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", gone);
      this.#waiting.delete(shown.id);
      this.#options.onChange?.();
    }
  }

  /** Throws NOT_FOUND where the call does not wait any more. */
  decide(id: string, decision: ApprovalDecision, by: AuditAsker = {}): WaitingCall {
    const waiting = this.#waiting.get(id);
    if (!waiting) {
      throw new GatewayError("NOT_FOUND", {
        message: "This call does not wait any more: it was decided, ran out of time, or was ended",
        recoverySteps: ["Look at the list again", "Have the client call again if it is wanted"],
      });
    }
    const { shown, call } = waiting;
    if (decision === "always") this.#trust(call);
    const alike = decision === "always"
      ? [...this.#waiting.values()].filter((other) => this.isTrusted(other.call))
      : [waiting];
    for (const other of alike) {
      this.#waiting.delete(other.shown.id);
      other.settle(decision === "deny" ? "denied" : "approved");
    }
    this.#options.onAudit?.({
      ...by,
      action: decision === "deny" ? "call.deny" : "call.approve",
      subject: `${shown.server}.${shown.tool}`,
      after: { for: shown.principal, ...(decision === "always" ? { session: "always" } : {}) },
    });
    return shown;
  }

  #trust({ tool, port }: GatedCall): void {
    let known = this.#trusted.get(port);
    if (!known) this.#trusted.set(port, known = new Set());
    known.add(markOf(tool));
  }

  #checkRoom({ port }: GatedCall): void {
    const own = [...this.#waiting.values()].filter(({ call }) => call.port === port).length;
    if (own < MOST_OF_ONE && this.#waiting.size < MOST_WAITING) return;
    throw new GatewayError("LIMIT_EXCEEDED", {
      message: own >= MOST_OF_ONE
        ? `Not called: ${own} calls of this client wait for approval already`
        : `Not called: ${this.#waiting.size} calls wait for approval already`,
      recoverySteps: ["Wait until those are decided", "Then call again"],
      retryAfterSeconds: 10,
    });
  }

  #shownOf({ tool, scope, port }: GatedCall, limitMs: number): WaitingCall {
    const masked = this.#options.mask(argumentsOf(scope.text));
    const client = clientOf(port);
    const askedAt = Date.now();
    return {
      id: crypto.randomUUID(),
      server: tool.server,
      tool: tool.name,
      arguments: masked.slice(0, SHOWN_ARGUMENTS),
      hidden: Math.max(0, masked.length - SHOWN_ARGUMENTS),
      principal: port.principal,
      ...(client === undefined ? {} : { client }),
      askedAt,
      expiresAt: askedAt + limitMs,
    };
  }
}

/** The text that came: a parse would round large numbers and drop what is said twice. */
export function argumentsOf(request: string): string {
  const params = memberText(request, "params") ?? "{}";
  return memberText(params, "arguments") ?? "{}";
}

/** A tool that its server has changed meanwhile is another one. */
function markOf({ server, name, fingerprint }: GatedCall["tool"]): string {
  return JSON.stringify([server, name, fingerprint]);
}

function clientOf({ client: { clientInfo } }: ClientPort): string | undefined {
  const { name, version } = isObject(clientInfo) ? clientInfo : {};
  const words = [name, version].filter((word) => typeof word === "string").join(" ").trim();
  return words === "" ? undefined : shortened(words, CLIENT_LENGTH);
}
