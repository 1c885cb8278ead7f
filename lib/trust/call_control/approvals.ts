import * as z from "zod";
import { getOrMake } from "../../core/defined.ts";
import type { OnAudit } from "../../core/access.ts";
import { GatewayError } from "../../core/errors.ts";
import { memberText, parseJson } from "../../core/rpc.ts";
import { shortened } from "../../core/text.ts";
import { actingFor, currentOrigin } from "../../telemetry/audit_log.ts";
import { type Mailbox, PeerGone } from "../../storage/mailbox.ts";
import { ApprovalDecision, APPROVALS_TOPIC, type PendingCall, WaitingCall } from "./control.ts";
import { type Client, clientLabel, sessionKeyOf } from "../../core/client.ts";

/** How long a person may take; a call that waited in vain is never made. */
const APPROVAL_MS = 120_000;
/** Nobody reads more than this; what a client asks beyond it is refused. */
const MOST_WAITING = 200;
const MOST_OF_ONE = 20;
const SHOWN_ARGUMENTS = 65_536;
/** How long trust in a tool lasts, how many clients have some, and how much is passed on. */
const TRUST_MS = 24 * 3_600_000;
const MOST_TRUSTED = 1_000;
/** How long another gateway may take to answer. */
const ASK_MS = 2_000;

const ApprovalMessage = z.discriminatedUnion("about", [
  z.strictObject({ about: z.literal("waits"), call: WaitingCall, at: z.string() }),
  z.strictObject({ about: z.literal("over"), id: z.string() }),
  z.strictObject({
    about: z.literal("decided"),
    id: z.string(),
    decision: ApprovalDecision,
    by: z.strictObject({ principal: z.string(), from: z.string() }).optional(),
  }),
  z.strictObject({ about: z.literal("trusted"), client: z.string(), tool: z.string() }),
  z.strictObject({ about: z.literal("ended"), client: z.string() }),
  z.strictObject({ about: z.literal("who waits") }),
]);
type ApprovalMessage = z.infer<typeof ApprovalMessage>;

const Known = z.strictObject({
  waiting: z.array(WaitingCall),
  trusted: z.array(z.tuple([z.string(), z.string(), z.number()])),
  at: z.string(),
});

type ApprovalOutcome = "approved" | "denied" | "expired";

export interface ApprovalsOptions {
  /** Takes secrets out of a JSON text. */
  mask(json: string): string;
  /** The list is another one; with the call that came to it, if one did. */
  onChange?(added?: WaitingCall): void;
  onAudit?: OnAudit | undefined;
  onWarning?(message: string, details?: object): void;
  /** Reaches the other gateways on the store. */
  mailbox?: Pick<Mailbox, "id" | "ask" | "askAll" | "peers"> | undefined;
  limitMs?: number;
}

interface Waiting {
  shown: WaitingCall;
  call: PendingCall;
  settle(verdict: ApprovalOutcome): void;
}

/**
 * Calls that wait for a person, in the memory of the gateway that received them: they end with their
 * clients. The other gateways on the store are told, so that a person can decide at any of them.
 */
export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #waiting = new Map<string, Waiting>();
  /** Those that wait at other gateways. */
  readonly #elsewhere = new Map<string, { shown: WaitingCall; at: string }>();
  /** By client: the tools that a person has approved for its session, with when. */
  readonly #trusted = new Map<string, Map<string, number>>();

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  /** The calls that wait here. */
  get own(): WaitingCall[] {
    return Array.from(this.#waiting.values(), ({ shown }) => shown);
  }

  /** The calls that wait at any gateway, oldest first. */
  async list(): Promise<WaitingCall[]> {
    for (const [id, { shown }] of this.#elsewhere) {
      if (shown.expiresAt <= Date.now()) this.#elsewhere.delete(id);
    }
    if (this.#elsewhere.size > 0) {
      // While the store is away it is not known who has ended, and what is known is shown.
      const peers = await this.#options.mailbox?.peers().catch(() => undefined);
      for (const [id, { at }] of this.#elsewhere) {
        if (peers?.includes(at) === false) this.#elsewhere.delete(id);
      }
    }
    const elsewhere = Array.from(this.#elsewhere.values(), ({ shown }) => shown);
    return [...this.own, ...elsewhere].sort((one, other) => one.askedAt - other.askedAt);
  }

  isTrusted({ tool, client }: PendingCall): boolean {
    const since = this.#trusted.get(sessionKeyOf(client) ?? "")?.get(markOf(tool)) ?? -Infinity;
    return Date.now() - since < TRUST_MS;
  }

  /** Forgets what was approved for a session that has ended; the next one may have the same key. */
  forget(session: Client): void {
    const client = sessionKeyOf(session);
    if (client !== undefined && this.#trusted.delete(client)) {
      this.#tell({ about: "ended", client });
    }
  }

  /** Learns what other gateways know. */
  async join(): Promise<void> {
    const body = JSON.stringify({ about: "who waits" } satisfies ApprovalMessage);
    const answers = await this.#options.mailbox?.askAll(APPROVALS_TOPIC, body, ASK_MS) ?? [];
    for (const answer of answers) {
      const { waiting, trusted, at } = Known.parse(parseJson(answer));
      for (const call of waiting) this.#elsewhere.set(call.id, { shown: call, at });
      for (const [client, tool, since] of trusted) this.#trust(client, tool, since);
    }
  }

  /** A message of another gateway; returns the answer. */
  take(body: string): string {
    const message = ApprovalMessage.parse(parseJson(body));
    switch (message.about) {
      case "waits":
        this.#elsewhere.set(message.call.id, { shown: message.call, at: message.at });
        this.#options.onChange?.();
        return "";
      case "over":
        this.#forgetElsewhere(message.id);
        return "";
      case "decided": {
        const { id, decision, by } = message;
        const settle = () => this.#settle(id, decision);
        if (by) actingFor({ principal: by.principal, from: () => by.from }, settle);
        else settle();
        return "";
      }
      case "trusted":
        this.#trust(message.client, message.tool, Date.now());
        return "";
      case "ended":
        this.#trusted.delete(message.client);
        return "";
      case "who waits": {
        this.#forgetExpired();
        const trusted = [...this.#trusted].flatMap(([client, tools]) =>
          Array.from(tools, ([tool, since]): [string, string, number] => [client, tool, since])
        ).slice(-MOST_TRUSTED);
        const at = this.#options.mailbox?.id ?? "";
        return JSON.stringify({ waiting: this.own, trusted, at } satisfies z.infer<typeof Known>);
      }
    }
  }

  /** Resolves with what a person says, or with "expired"; rejects when the client goes. */
  async wait(call: PendingCall): Promise<ApprovalOutcome> {
    const { signal } = call.request;
    signal.throwIfAborted();
    this.#checkLimits(call);
    const { limitMs = APPROVAL_MS, mailbox } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<ApprovalOutcome>();
    const shown = this.#shownOf(call, limitMs);
    const timer = setTimeout(() => resolve("expired"), limitMs);
    const gone = () => reject(signal.reason);
    signal.addEventListener("abort", gone);
    this.#waiting.set(shown.id, { shown, call, settle: resolve });
    this.#options.onChange?.(shown);
    if (mailbox) this.#tell({ about: "waits", call: shown, at: mailbox.id });
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
      this.#tell({ about: "over", id: shown.id });
    }
  }

  /** Decides about a call at whichever gateway it waits; throws NOT_FOUND if it no longer does. */
  async decide(id: string, decision: ApprovalDecision): Promise<WaitingCall> {
    return this.#waiting.has(id)
      ? this.#settle(id, decision)
      : await this.#decideElsewhere(id, decision);
  }

  async #decideElsewhere(id: string, decision: ApprovalDecision): Promise<WaitingCall> {
    // Its gateway may not have told this one yet.
    if (!this.#elsewhere.has(id)) await this.join();
    const found = this.#elsewhere.get(id);
    const { mailbox } = this.#options;
    if (!found || !mailbox) throw notWaiting();
    const origin = currentOrigin();
    const by = origin && { principal: origin.principal, from: origin.from() };
    const message: ApprovalMessage = { about: "decided", id, decision, by };
    try {
      await mailbox.ask(found.at, APPROVALS_TOPIC, JSON.stringify(message), { limitMs: ASK_MS });
    } catch (error) {
      const code = error instanceof GatewayError ? error.code : undefined;
      if (code === "TIMEOUT") throw notConfirmed();
      // A gateway that has stopped took its calls with it.
      if (!(error instanceof PeerGone) && code !== "NOT_FOUND") throw error;
      this.#forgetElsewhere(id);
      throw notWaiting();
    }
    this.#forgetElsewhere(id);
    return found.shown;
  }

  #forgetElsewhere(id: string): void {
    if (this.#elsewhere.delete(id)) this.#options.onChange?.();
  }

  #settle(id: string, decision: ApprovalDecision): WaitingCall {
    const waiting = this.#waiting.get(id);
    if (!waiting) throw notWaiting();
    const { shown, call } = waiting;
    waiting.settle(decision === "deny" ? "denied" : "approved");
    this.#waiting.delete(id);
    this.#options.onAudit?.({
      action: decision === "deny" ? "call.deny" : "call.approve",
      subject: `${shown.server}.${shown.tool}`,
      after: { for: shown.principal, ...(decision === "always" ? { session: "always" } : {}) },
    });
    if (decision === "always") {
      const client = sessionKeyOf(call.client);
      if (client === undefined) return shown;
      const tool = markOf(call.tool);
      this.#trust(client, tool, Date.now());
      this.#tell({ about: "trusted", client, tool });
    }
    return shown;
  }

  /** Also for calls that wait already. */
  #trust(client: string, tool: string, since: number): void {
    const tools = getOrMake(this.#trusted, client, () => new Map());
    tools.set(tool, Math.max(since, tools.get(tool) ?? 0));
    this.#forgetExpired();
    if (this.#trusted.size > MOST_TRUSTED) {
      this.#trusted.delete(this.#trusted.keys().next().value!);
    }
    for (const [id, waiting] of this.#waiting) {
      if (!this.isTrusted(waiting.call)) continue;
      this.#waiting.delete(id);
      waiting.settle("approved");
    }
  }

  #forgetExpired(): void {
    for (const [client, tools] of this.#trusted) {
      for (const [tool, since] of tools) if (Date.now() - since >= TRUST_MS) tools.delete(tool);
      if (tools.size === 0) this.#trusted.delete(client);
    }
  }

  /** Tells the other gateways, if there are any. */
  #tell(message: ApprovalMessage): void {
    const { mailbox, onWarning } = this.#options;
    mailbox?.askAll(APPROVALS_TOPIC, JSON.stringify(message), ASK_MS)
      .catch((error) => onWarning?.("Cannot tell other gateways about approvals", { error }));
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

function notWaiting(): GatewayError {
  return new GatewayError("NOT_FOUND", {
    message: "This call is no longer waiting: it was decided, timed out, or was canceled",
    recoverySteps: ["Reload the list", "If the call is still needed, have the client call again"],
  });
}

function notConfirmed(): GatewayError {
  return new GatewayError("TIMEOUT", {
    message: "The gateway where this call is waiting did not answer in time: it is not known " +
      "whether the decision took effect",
    recoverySteps: ["Reload the list: if the call is still there, decide again"],
  });
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
