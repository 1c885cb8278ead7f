import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { ownerOf } from "../core/access.ts";
import type { ContentFinding } from "../core/content_finding.ts";
import { shortened } from "../core/text.ts";
import { isObject, parseJson } from "../core/rpc.ts";
import { POOR_RELEVANCE } from "../core/tool.ts";
import type { ActivityLog } from "./activity_log.ts";
import type { Redactor } from "./redact.ts";
import type { ActivityRecord, ActivitySearch } from "../storage/activity_repository.ts";

/** Which tool was called, and how long its server took. */
export interface CallRecord {
  server: string;
  tool: string;
  /** When the call was sent to the server, by the process's clock; missing if it was not. */
  sentAt?: number;
  serverMs?: number;
  /** What the content guard found in the call and in what the server said during it. */
  findings?: ContentFinding[];
  /** The trace it is part of, for its log line. */
  trace?: { trace_id: string; span_id: string } | undefined;
  /** Whether it was called through tool_execute or optim.call_tool. */
  isForwarded?: boolean;
  /** For a search: what was asked, and all that was found. */
  search?: Omit<ActivitySearch, "picks" | "count">;
}

export interface AnsweredCall {
  call: CallRecord;
  request: string;
  principal: string;
  session: {
    id: string;
    endpoint: string;
    /** What a live A/B assigns by; calls from the console have none. */
    unit?: string;
    profile: { clientInfo?: Record<string, unknown> | undefined };
  };
  answer: { text: string; isError: boolean; started: number; ms: number };
  trial?: ActivityRecord["trial"];
}

interface CallRecorderOptions {
  log: ActivityLog;
  details: CallDetails;
  redactor: Redactor;
}

const CLIENT_LENGTH = 80;
/** How many findings of the content guard a record has. */
const KEPT_FINDINGS = 20;

/** Notes each call while its client already has the answer: what can wait until somebody looks, waits. */
export class CallRecorder {
  readonly #options: CallRecorderOptions;
  /** A session's client stays the same. */
  readonly #clients = new WeakMap<object, string | undefined>();
  readonly #marks = new WeakMap<object, string>();
  readonly #searches = new RecentSearches();

  constructor(options: CallRecorderOptions) {
    this.#options = options;
  }

  record({ call, request, principal, session, answer, trial }: AnsweredCall): ActivityRecord {
    const { log, details, redactor } = this.#options;
    const client = this.#clientOf(session.profile);
    const failure = answer.isError
      ? failureOf(answer.text, (text) => redactor.json(text))
      : undefined;
    const { server, tool, sentAt, serverMs, search, findings } = call;
    const mark = this.#markOf(session);
    // A tool that is listed needs no search.
    const searchId = call.isForwarded ? this.#searches.leadingTo(mark, call) : undefined;
    const entry = log.record({
      endpoint: session.endpoint,
      session: mark,
      principal,
      server,
      tool,
      ms: tenths(answer.ms),
      ok: !answer.isError,
      ...(client === undefined ? {} : { client }),
      requestBytes: Buffer.byteLength(request),
      responseBytes: Buffer.byteLength(answer.text),
      ...(failure === undefined ? {} : { error: failure }),
      ...(sentAt === undefined || serverMs === undefined ? {} : {
        beforeMs: tenths(Math.max(0, sentAt - answer.started)),
        serverMs: tenths(Math.min(serverMs, answer.ms)),
      }),
      ...(search ? { search: this.#shortened(search) } : {}),
      ...(searchId === undefined ? {} : { searchId }),
      ...(trial ? { trial } : {}),
      ...(findings === undefined ? {} : { findings: findings.slice(0, KEPT_FINDINGS) }),
    });
    if (search) this.#searches.add(mark, entry, search);
    details.add(entry, { request, response: answer.text });
    return entry;
  }

  #markOf(session: AnsweredCall["session"]): string {
    let mark = this.#marks.get(session);
    if (mark === undefined) this.#marks.set(session, mark = sessionMark(session));
    return mark;
  }

  #shortened({ query, found, ...rest }: NonNullable<CallRecord["search"]>): ActivitySearch {
    return {
      ...rest,
      query: firstWords(query, (text) => this.#options.redactor.text(text)) ?? "",
      found: found.slice(0, KEPT_FOUND),
      count: found.length,
    };
  }

  #clientOf(profile: AnsweredCall["session"]["profile"]): string | undefined {
    if (this.#clients.has(profile)) return this.#clients.get(profile);
    const parts = [profile.clientInfo?.name, profile.clientInfo?.version];
    const label = parts.filter((part) => typeof part === "string" && part !== "").join(" ");
    const name = label === "" ? undefined : shortened(label, CLIENT_LENGTH);
    this.#clients.set(profile, name);
    return name;
  }
}

/** Tells sessions apart without naming them: a session's id is enough to continue it. */
export function sessionMark({ id }: { id: string }): string {
  return createHash("sha256").update(id).digest("hex").slice(0, 8);
}

/** How many found tools a record has. */
const KEPT_FOUND = 10;
/** A call so long after a search has other reasons. */
export const PICK_MS = 30 * 60_000;
const SESSION_SEARCHES = 5;
const MAX_SESSIONS = 1_000;

/** The last searches of each session, to tell which of them led to a call. */
export class RecentSearches {
  /** The session that searched last stands last. */
  readonly #sessions = new Map<string, { id: string; at: number; ranks: Map<string, number> }[]>();

  get size(): number {
    return this.#sessions.size;
  }

  /** Notes a search that found something that fits. */
  add(
    session: string,
    { id, at }: ActivityRecord,
    { found, isHit }: Pick<ActivitySearch, "found" | "isHit">,
  ): void {
    if (!isHit) return;
    const fitting = found.filter(({ relevance }) => relevance >= POOR_RELEVANCE);
    const ranks = new Map(fitting.map(({ server, tool }, rank) => [`${server}.${tool}`, rank]));
    const searches = [{ id, at, ranks }, ...this.#sessions.get(session) ?? []];
    this.#sessions.delete(session);
    this.#sessions.set(session, searches.slice(0, SESSION_SEARCHES));
    if (this.#sessions.size > MAX_SESSIONS) {
      this.#sessions.delete(this.#sessions.keys().next().value!);
    }
  }

  /** The id of the session's search that ranked this tool best; the newest of several. */
  leadingTo(session: string, { server, tool }: CallRecord, now = Date.now()): string | undefined {
    const ranked = (this.#sessions.get(session) ?? []).flatMap(({ id, at, ranks }) => {
      const rank = ranks.get(`${server}.${tool}`);
      return rank === undefined || now - at >= PICK_MS ? [] : [{ id, rank }];
    });
    // The newest stands first, and sorting keeps it before its equals.
    return ranked.sort((a, b) => a.rank - b.rank)[0]?.id;
  }
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}

interface CallTexts {
  request: string;
  response: string;
}

export interface CallDetail extends CallTexts {
  call: ActivityRecord;
  isRequestCut: boolean;
  isResponseCut: boolean;
}

interface CallDetailsOptions {
  /** How many calls. Default: 1,000. */
  most?: number;
  /** Characters of one text. Default: 16,384. */
  textLength?: number;
  /** Characters of all texts. Default: 8,000,000. */
  totalLength?: number;
}

/**
 * The texts of the last calls, in memory only: they can contain anything, so they are never written
 * anywhere. They are kept unchanged; secrets are removed when they are shown.
 */
export class CallDetails {
  readonly #most: number;
  readonly #textLength: number;
  readonly #totalLength: number;
  /** The oldest first. */
  readonly #details = new Map<string, CallDetail>();
  #length = 0;

  constructor({ most = 1_000, textLength = 16_384, totalLength = 8_000_000 }: CallDetailsOptions) {
    this.#most = most;
    this.#textLength = textLength;
    this.#totalLength = totalLength;
  }

  get size(): number {
    return this.#details.size;
  }

  get most(): number {
    return this.#most;
  }

  add(call: ActivityRecord, { request, response }: CallTexts): void {
    const limit = this.#textLength;
    const detail = {
      call,
      request: ownCopy(request, limit),
      response: ownCopy(response, limit),
      isRequestCut: request.length > limit,
      isResponseCut: response.length > limit,
    };
    this.#details.set(call.id, detail);
    this.#length += lengthOf(detail);
    while (this.#details.size > this.#most || this.#length > this.#totalLength) this.#dropOldest();
  }

  find(id: string): CallDetail | undefined {
    return this.#details.get(id);
  }

  /** The arguments of the newest calls of a tool that its owner made and that went well. */
  *succeeded(owner: string, server: string, tool: string): Generator<Record<string, unknown>> {
    for (const { call, request, isRequestCut } of [...this.#details.values()].reverse()) {
      const isMeant = call.ok && !isRequestCut && call.server === server && call.tool === tool;
      if (!isMeant || ownerOf(call.principal) !== owner) continue;
      const args = argumentsIn(request);
      if (args) yield args;
    }
  }

  clear(): void {
    this.#details.clear();
    this.#length = 0;
  }

  #dropOldest(): void {
    const [id, detail] = this.#details.entries().next().value!;
    this.#details.delete(id);
    this.#length -= lengthOf(detail);
  }
}

/** The arguments that the server got: those within, if the call was made through another tool. */
function argumentsIn(request: string): Record<string, unknown> | undefined {
  const message = parseJson(request);
  const params = isObject(message) && isObject(message.params) ? message.params : {};
  const { name, arguments: args } = params;
  if (!isObject(args)) return undefined;
  const through = { tool_execute: args.arguments, "optim.call_tool": args.parameters };
  const inner = typeof name === "string" && Object.hasOwn(through, name)
    ? through[name as keyof typeof through]
    : args;
  return isObject(inner) ? inner : undefined;
}

function lengthOf({ request, response }: CallTexts): number {
  return request.length + response.length;
}

/** The engine lets a part of a text hold on to the whole, which may be a pipe's full buffer. */
export function ownCopy(text: string, limit: number): string {
  return ` ${text.slice(0, limit)}`.slice(1);
}

const LONGEST = 160;
/** So much of what a server said is looked at: it may be megabytes. */
const READ_LENGTH = 65_536;
/** A secret could begin before that and end after it: so much is not shown. */
const UNSURE_LENGTH = 4_096;

type Redact = (text: string) => string;

/**
 * Why a call failed, from its answer: the code of an error of ours, else the first words. Secrets
 * are taken out before anything is cut: of half a secret nobody could tell that it is one.
 */
export function failureOf(answer: string, redact: Redact): string | undefined {
  const value = parseJson(answer);
  if (!isObject(value)) return undefined;
  const { result, error } = value;
  if (isObject(error)) return codeOf(error.data, redact) ?? firstWords(error.message, redact);
  if (!isObject(result)) return undefined;
  const content = Array.isArray(result.content) ? result.content : [];
  return codeOf(result.structuredContent, redact) ??
    firstWords(content.find((part) => isObject(part) && part.type === "text")?.text, redact);
}

function codeOf(data: unknown, redact: Redact): string | undefined {
  const code = isObject(data) ? data.errorType : undefined;
  return typeof code === "string" && /^[A-Z_]{3,60}$/.test(code) ? redact(code) : undefined;
}

function firstWords(text: unknown, redact: Redact): string | undefined {
  if (typeof text !== "string") return undefined;
  const read = redact(text.slice(0, READ_LENGTH));
  const sure = text.length > READ_LENGTH ? read.slice(0, -UNSURE_LENGTH) : read;
  return shortened(sure.replace(/\s+/g, " ").trim(), LONGEST) || undefined;
}
