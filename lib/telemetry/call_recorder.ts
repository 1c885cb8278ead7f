import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { shortened } from "../core/shortened.ts";
import type { ActivityLog } from "./activity_log.ts";
import type { CallDetails } from "./call_details.ts";
import { failureOf } from "./call_failure.ts";
import type { Redactor } from "./redact.ts";

/** A call of a tool with its answer, as a door has them. */
export interface AnsweredCall {
  scope: {
    text: string;
    /** Who called, where that is not who the session was made for. */
    principal?: string;
    atServer?: { start: number; ms: number };
  };
  target: { server: string; name: string };
  session: {
    door: string;
    id: string;
    principal: string;
    client: { clientInfo?: Record<string, unknown> | undefined };
  };
  answer: { text: string; isError: boolean; started: number; ms: number };
}

export interface CallRecorderOptions {
  log: ActivityLog;
  details: CallDetails;
  redactor: Redactor;
}

const CLIENT_LENGTH = 80;

/** Notes each call while its client already has the answer: what can wait until somebody looks, waits. */
export class CallRecorder {
  readonly #options: CallRecorderOptions;
  /** A session's client stays the same. */
  readonly #clients = new WeakMap<object, string | undefined>();
  readonly #marks = new WeakMap<object, string>();

  constructor(options: CallRecorderOptions) {
    this.#options = options;
  }

  record({ scope, target, session, answer }: AnsweredCall): void {
    const { log, details, redactor } = this.#options;
    const client = this.#clientOf(session.client);
    const failure = answer.isError
      ? failureOf(answer.text, (text) => redactor.json(text))
      : undefined;
    const { atServer } = scope;
    const call = log.record({
      door: session.door,
      session: this.#markOf(session),
      principal: scope.principal ?? session.principal,
      server: target.server,
      tool: target.name,
      ms: tenths(answer.ms),
      ok: !answer.isError,
      ...(client === undefined ? {} : { client }),
      requestBytes: Buffer.byteLength(scope.text),
      responseBytes: Buffer.byteLength(answer.text),
      ...(failure === undefined ? {} : { error: failure }),
      ...(atServer === undefined ? {} : {
        beforeMs: tenths(Math.max(0, atServer.start - answer.started)),
        serverMs: tenths(Math.min(atServer.ms, answer.ms)),
      }),
    });
    details.add(call, { request: scope.text, response: answer.text });
  }

  /** Tells sessions apart without naming them: whoever has a session's id can go on with it. */
  #markOf(session: AnsweredCall["session"]): string {
    let mark = this.#marks.get(session);
    if (mark === undefined) {
      mark = createHash("sha256").update(session.id).digest("hex").slice(0, 8);
      this.#marks.set(session, mark);
    }
    return mark;
  }

  #clientOf(client: AnsweredCall["session"]["client"]): string | undefined {
    if (this.#clients.has(client)) return this.#clients.get(client);
    const parts = [client.clientInfo?.name, client.clientInfo?.version];
    const words = parts.filter((part) => typeof part === "string" && part !== "").join(" ");
    const name = words === "" ? undefined : shortened(words, CLIENT_LENGTH);
    this.#clients.set(client, name);
    return name;
  }
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}
