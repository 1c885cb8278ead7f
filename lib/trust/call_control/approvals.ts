import { getOrMake } from "../../core/defined.ts";
import type { OnAudit } from "../../core/access.ts";
import { GatewayError } from "../../core/errors.ts";
import { memberText } from "../../core/rpc.ts";
import { shortened } from "../../core/text.ts";
import type { ApprovalDecision, PendingCall, WaitingCall } from "./control.ts";
import { type Client, clientLabel } from "../../core/client.ts";

/** How long a person may take; a call that waited in vain is never made. */
const APPROVAL_MS = 120_000;
/** Nobody reads more than this; what a client asks beyond it is refused. */
const MOST_WAITING = 200;
const MOST_OF_ONE = 20;
const SHOWN_ARGUMENTS = 65_536;

type ApprovalOutcome = "approved" | "denied" | "expired";

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
  call: PendingCall;
  settle(verdict: ApprovalOutcome): void;
}

/** Calls that wait for a person at the console, in memory: they end with their clients. */
export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #waiting = new Map<string, Waiting>();
  /** Goes with the session. */
  readonly #trusted = new WeakMap<Client, Set<string>>();

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  list(): WaitingCall[] {
    return Array.from(this.#waiting.values(), ({ shown }) => shown);
  }

  isTrusted({ tool, client }: PendingCall): boolean {
    return this.#trusted.get(client)?.has(markOf(tool)) ?? false;
  }

  /** Resolves with what a person says, or with "expired"; rejects when the client goes. */
  async wait(call: PendingCall): Promise<ApprovalOutcome> {
    const { signal } = call.request;
    signal.throwIfAborted();
    this.#checkLimits(call);
    const { limitMs = APPROVAL_MS } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<ApprovalOutcome>();
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

  decide(id: string, decision: ApprovalDecision): WaitingCall {
    const waiting = this.#waiting.get(id);
    if (!waiting) {
      throw new GatewayError("NOT_FOUND", {
        message: "This call is no longer waiting: it was decided, timed out, or was canceled",
        recoverySteps: [
          "Reload the list",
          "If the call is still needed, have the client call again",
        ],
      });
    }
    const { shown, call } = waiting;
    if (decision === "always") {
      getOrMake(this.#trusted, call.client, () => new Set()).add(markOf(call.tool));
    }
    const alike = decision === "always"
      ? [...this.#waiting.values()].filter((other) => this.isTrusted(other.call))
      : [waiting];
    for (const other of alike) {
      this.#waiting.delete(other.shown.id);
      other.settle(decision === "deny" ? "denied" : "approved");
    }
    this.#options.onAudit?.({
      action: decision === "deny" ? "call.deny" : "call.approve",
      subject: `${shown.server}.${shown.tool}`,
      after: { for: shown.principal, ...(decision === "always" ? { session: "always" } : {}) },
    });
    return shown;
  }

  #checkLimits({ client }: PendingCall): void {
    const own = [...this.#waiting.values()].filter(({ call }) => call.client === client).length;
    if (own < MOST_OF_ONE && this.#waiting.size < MOST_WAITING) return;
    throw new GatewayError("LIMIT_EXCEEDED", {
      message: own >= MOST_OF_ONE
        ? `Not called: ${own} calls of this client are already waiting for approval`
        : `Not called: ${this.#waiting.size} calls are already waiting for approval`,
      recoverySteps: ["Wait until those calls are decided", "Then call again"],
      retryAfterSeconds: 10,
    });
  }

  #shownOf({ tool, request, client }: PendingCall, limitMs: number): WaitingCall {
    const masked = this.#options.mask(argumentsOf(request.text));
    const name = clientLabel(client);
    const askedAt = Date.now();
    return {
      id: crypto.randomUUID(),
      server: tool.server,
      tool: tool.name,
      arguments: masked.slice(0, SHOWN_ARGUMENTS),
      hidden: Math.max(0, masked.length - SHOWN_ARGUMENTS),
      principal: client.principal,
      ...(name === "" ? {} : { client: name }),
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
function markOf({ server, name, fingerprint }: PendingCall["tool"]): string {
  return JSON.stringify([server, name, fingerprint]);
}

/** A question in a client's window is no place for more. */
const ASKED_ARGUMENTS = 2_000;

export interface AskFirstOptions {
  approvals: Approvals;
  /** Takes secrets out of a JSON text. */
  mask(json: string): string;
  /** Where a person finds what waits. */
  page: string;
  /** Puts the question to the person behind the client; undefined if the client cannot ask. */
  elicit(
    call: PendingCall,
    question: string,
    limitMs: number,
  ): Promise<ApprovalOutcome | undefined>;
  limitMs?: number;
}

/** Asks a person to approve a call; throws if it is denied or not approved in time. */
export async function askFirst(
  { approvals, page, mask, elicit, limitMs = APPROVAL_MS }: AskFirstOptions,
  call: PendingCall,
): Promise<void> {
  if (approvals.isTrusted(call)) return;
  const name = `${call.tool.server}.${call.tool.name}`;
  const question = `Run ${name}? It may change or delete data. Arguments: ` +
    shownArguments(mask(argumentsOf(call.request.text)));
  const elicited = await elicit(call, visible(question), limitMs);
  call.request.signal.throwIfAborted();
  const verdict = elicited ?? await approvals.wait(call);
  if (verdict === "approved") return;
  if (verdict === "denied") {
    throw new GatewayError("ACCESS_DENIED", {
      message: `Not called: the user denied this call of ${name}`,
      recoveryAction: "Continue without this call",
      recoverySteps: ["Continue without this call", "Ask the user what to do instead"],
    });
  }
  throw new GatewayError("TIMEOUT", {
    message: `Not called: nobody approved this call of ${name} in time`,
    recoveryAction: "Ask the user to approve it, then call again",
    recoverySteps: elicited !== undefined
      ? [
        "Tell the user that an approval request will appear",
        "Call again, and have the user answer it",
      ]
      : [`Tell the user to open ${page}`, "Call again, and have the user approve the call there"],
  });
}

/** What is left out is said, or the part that matters could hide behind a long one. */
function shownArguments(text: string): string {
  const left = text.length - ASKED_ARGUMENTS;
  if (left <= 0) return text;
  return `${shortened(text, ASKED_ARGUMENTS)} (${left} more characters not shown)`;
}

/** Nothing in a question may be invisible, or turn its words around. */
function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
