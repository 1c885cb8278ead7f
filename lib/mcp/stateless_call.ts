import { createHash } from "node:crypto";
import { Cancellation, type CancelSignal, type Timeout } from "../core/async.ts";
import { type Deferral, type McpRequest, progressTokenOf } from "../core/client.ts";
import { GatewayError } from "../core/errors.ts";
import {
  errorText,
  idText,
  isObject,
  memberSpans,
  memberText,
  type MessageId,
  readMessage,
  replaceSpan,
  resultText,
  withId,
} from "../core/rpc.ts";
import type { CallRecord } from "../telemetry/call_recorder.ts";
import { type EndpointHost, type McpEndpoint, tracedRequest } from "./endpoint_host.ts";
import { completedAnswer, completedList, type RpcRequest } from "./envelope.ts";
import { hasTasks, LOG_LEVELS } from "../core/stateless.ts";
import type { CallTask } from "./call_task.ts";
import { failureText, rpcErrorText } from "./protocol.ts";
import { MAX_WAITING, type Question, type StatelessSession } from "./stateless_session.ts";
import type { ViewSession } from "./view.ts";

/** One request of the client for a call, and where its outcome goes. */
export interface Round {
  id: MessageId;
  progressToken: MessageId | undefined;
  /** Aborts if the client leaves before the round ends. */
  gone?: CancelSignal;
  send(text: string): void;
  /** Over HTTP, a refusal goes out as an error response if nothing was sent before it. */
  end(text: string, status: number, refusal?: GatewayError): void;
}

/** What a call came to. */
interface Outcome {
  text: string;
  /** The result, if it is a list that the gateway made. */
  list?: string | undefined;
  /** How long that is good, if a server has said so. */
  ttlMs?: number | undefined;
  refusal?: GatewayError | undefined;
}

export interface StatelessCallOptions {
  host: Pick<EndpointHost, "held" | "log" | "calls" | "onAnswered" | "stepUp">;
  endpoint: McpEndpoint;
  session: StatelessSession;
  message: RpcRequest;
  /** Of the message, without its envelope. */
  text: string;
  logLevel: string | undefined;
  correlationId?: (() => string | undefined) | undefined;
  header?: McpRequest["header"];
}

/** Methods whose answer can be that the client has to answer something first. */
const ASKING = new Set(["prompts/get", "resources/read", "tools/call"]);
/** What a call says while nobody listens, until the client comes back. */
const MAX_MISSED = 1_000;
const MAX_MISSED_CHARACTERS = 1024 * 1024;

const LIST_TTL_MS = 60_000;

/**
 * One call of a stateless client, over as many rounds as it takes. If the server, or the gateway, asks
 * the client something, the round ends with the questions, and the call waits: the client's next
 * request brings the answers. If it takes long and the client supports tasks, it continues as one.
 */
export class StatelessCall implements Deferral {
  readonly session: StatelessSession;
  readonly signal = new Cancellation();
  readonly #options: StatelessCallOptions;
  readonly #key: string;
  readonly #started = performance.now();
  /** Asked and not answered, by the id that the session gave them. */
  readonly #questions = new Map<string, Question & { isSent: boolean }>();
  #missed: { text: string; isProgress: boolean }[] = [];
  #round: Round | undefined;
  #outcome: Outcome | undefined;
  #asking: ReturnType<typeof setTimeout> | undefined;
  #canDefer: boolean;
  #slow: Timeout | undefined;
  #task: CallTask | undefined;

  constructor(options: StatelessCallOptions, round: Round) {
    this.#options = options;
    this.session = options.session;
    const { method, params } = options.message;
    // A call with a request state of its server's is that server's to answer.
    this.#canDefer = method === "tools/call" && params.requestState === undefined &&
      params.inputResponses === undefined && hasTasks(options.session.profile.capabilities);
    this.#round = this.#follow(round);
    this.#key = options.session.nextRequest();
    options.session.inFlight.set(this.#key, this.signal);
  }

  /** Tells two calls apart: a state continues none but its own. */
  get fingerprint(): string {
    return fingerprintOf(this.#options.message);
  }

  run(): void {
    const { session, endpoint, message, text, logLevel } = this.#options;
    const { id, method, params } = message;
    const request: McpRequest = {
      id,
      method,
      params,
      text,
      signal: this.signal,
      header: this.#options.header,
      deferral: this.#canDefer ? this : undefined,
      send: (out) => this.#take(out),
    };
    if (ASKING.has(method)) { for (const question of session.takePostponed()) this.#ask(question); }
    const answered = logLevel === undefined
      ? tracedRequest(endpoint.key, request, session.view)
      : session.raiseLevel(logLevel).then(() => tracedRequest(endpoint.key, request, session.view));
    void answered.then(
      (answer) =>
        "error" in answer
          ? this.#fail(answer.error, answer.call)
          : this.#finish(answer, answer.call),
      (error: unknown) => this.#fail(error),
    ).catch((error: unknown) => {
      // The process must not end because one call could not be answered or counted.
      this.#options.host.log.error({ err: error, method }, "Cannot finish a request");
    });
  }

  /** The client is back, with answers by the ids of the questions. */
  resume(round: Round, answers: ReadonlyMap<string, string>): void {
    this.session.held.delete(this);
    this.#round = this.#follow(round);
    for (const { text, isProgress } of this.#missed.splice(0)) this.#send(text, isProgress);
    this.#takeAnswers(answers);
    // What it did not answer, it is asked again.
    for (const question of this.#questions.values()) question.isSent = false;
    if (this.#outcome) this.#deliver();
    else if (this.#questions.size > 0) this.#askNow();
  }

  get isDeferred(): boolean {
    return this.#task !== undefined;
  }

  get isAnswered(): boolean {
    return this.#outcome !== undefined;
  }

  get answerLength(): number {
    return this.#outcome?.text.length ?? 0;
  }

  forbid(): void {
    this.#canDefer = false;
  }

  note(message: string): void {
    this.#task?.note(message);
  }

  /** The result of a request about the task that this call has become. */
  answerTask(method: string, answers: ReadonlyMap<string, string>): string {
    if (method === "tasks/get") {
      const { reason } = this.signal;
      return this.#task!.details({
        questions: Array.from(this.#questions, ([id, question]) => inputText(id, question)),
        answer: this.#outcome &&
          this.#answerTo(this.#options.message.id, this.#outcome).text,
        canceled: reason instanceof Error ? reason.message : undefined,
      });
    }
    if (method === "tasks/update") this.#takeAnswers(answers);
    else if (!this.#outcome) this.cancel("Canceled by the client");
    this.#task!.changed();
    return '{"resultType":"complete"}';
  }

  #takeAnswers(answers: ReadonlyMap<string, string>): void {
    for (const id of [...this.#questions.keys()]) {
      const answer = answers.get(id);
      if (answer === undefined) continue;
      this.#questions.delete(id);
      this.session.answer(id, resultText(id, answer));
    }
  }

  /** Ends the round with a task, if the call has not been answered and nothing is being asked. */
  #defer(): void {
    const round = this.#round;
    const isOpen = this.#canDefer && !this.#asking && !this.signal.aborted &&
      this.session.held.size < MAX_WAITING;
    const task = round && isOpen ? this.#options.host.held.keepTask(this) : undefined;
    if (!round || !task) return;
    this.#task = task;
    this.#round = undefined;
    this.session.held.add(this);
    round.end(resultText(round.id, task.created), 200);
  }

  cancel(reason: string): void {
    if (this.#outcome) return;
    this.signal.abort(new DOMException(reason, "AbortError"));
  }

  #follow(round: Round): Round {
    round.gone?.addEventListener("abort", () => this.cancel("The client disconnected"));
    if (this.#canDefer) this.#slow = this.#options.host.held.slow?.add(() => this.#defer());
    return round;
  }

  /** Takes what the view sends before the answer. */
  #take(text: string): void {
    const message = readMessage(text);
    if (!message || message.kind === "response" || this.signal.aborted) return;
    if (message.kind === "request") {
      if (ASKING.has(this.#options.message.method)) this.#ask({ message, text });
      else this.session.postpone({ message, text });
      return;
    }
    switch (message.method) {
      case "notifications/cancelled":
        // The session gave the question its id, which is a text.
        if (typeof message.params.requestId === "string") {
          this.#questions.delete(message.params.requestId);
          this.#task?.changed();
        }
        return;
      case "notifications/message":
        if (this.#wantsLog(message.params.level)) this.#send(text);
        return;
      case "notifications/progress":
        this.#send(text, true);
        return;
      default:
        // Everything else is for subscriptions/listen.
        this.session.announce(message, text);
    }
  }

  #wantsLog(level: unknown): boolean {
    const { logLevel } = this.#options;
    return logLevel !== undefined &&
      typeof level === "string" && LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(logLevel);
  }

  #send(text: string, isProgress = false): void {
    const round = this.#round;
    if (this.#task) return isProgress ? this.#task.noteProgress(text) : undefined;
    if (!round) return this.#miss(text, isProgress);
    const first = progressTokenOf({
      params: this.#options.message.params,
      text: this.#options.text,
    });
    const out = round.progressToken === first ? text : withToken(text, round.progressToken);
    if (out !== undefined) round.send(out);
  }

  /** Keeps a message for the next round; of progress, only the newest. */
  #miss(text: string, isProgress: boolean): void {
    if (isProgress) this.#missed = this.#missed.filter((missed) => !missed.isProgress);
    const characters = this.#missed.reduce((sum, missed) => sum + missed.text.length, text.length);
    if (this.#missed.length >= MAX_MISSED || characters > MAX_MISSED_CHARACTERS) return;
    this.#missed.push({ text, isProgress });
  }

  #ask(question: Question): void {
    const { id, method, params } = question.message;
    const { capabilities } = this.session.profile;
    const why = !canAnswer(capabilities, method, params)
      ? `The client does not support ${method}`
      : !this.#task && this.session.held.size >= MAX_WAITING
      ? "Too many calls are waiting for input from this client"
      : undefined;
    if (why !== undefined) {
      this.session.answer(id, errorText(id, -32601, why));
      return;
    }
    this.#questions.set(String(id), { ...question, isSent: false });
    // The client is asked when it asks about the task.
    if (this.#task) return this.#task.changed();
    // What is asked at the same time goes into one round.
    this.#asking ??= setTimeout(() => this.#askNow());
  }

  #askNow(): void {
    clearTimeout(this.#asking);
    this.#asking = undefined;
    const asked = [...this.#questions].filter(([, { isSent }]) => !isSent);
    const round = this.#round;
    if (!round || asked.length === 0 || this.#outcome) return;
    this.#round = undefined;
    this.#stopWaiting();
    this.session.held.add(this);
    const inputs = asked.map(([id, question]) => {
      question.isSent = true;
      return inputText(id, question);
    });
    const state = JSON.stringify(this.#options.host.held.hold(this));
    const result = `{"resultType":"input_required","inputRequests":{${inputs.join(",")}},` +
      `"requestState":${state}}`;
    round.end(resultText(round.id, result), 200);
  }

  #stopWaiting(): void {
    if (this.#slow) this.#options.host.held.slow?.delete(this.#slow);
  }

  #fail(error: unknown, call?: CallRecord): void {
    const { host, session, message: { id, method } } = this.#options;
    const isCancelled = this.signal.aborted;
    const refusal = isCancelled ? undefined : host.stepUp?.(session.principal, error);
    const shown = session.view.explain?.(error) ?? error;
    const text = failureText(id, method, shown, { isCancelled, log: host.log });
    this.#finish({ text, refusal }, call);
  }

  #finish({ text, list, ttlMs, refusal }: Outcome, call: CallRecord | undefined): void {
    const { host, endpoint, session, message, correlationId } = this.#options;
    if (this.#asking !== undefined) clearTimeout(this.#asking);
    this.#stopWaiting();
    session.inFlight.delete(this.#key);
    session.held.delete(this);
    session.touch();
    this.#outcome = { text, list, ttlMs, refusal };
    this.#task?.changed();
    if (this.#round) this.#deliver();
    else if (this.signal.aborted || this.#task) this.#passOnQuestions();
    const ms = performance.now() - this.#started;
    const answer = { text, started: this.#started, ms };
    const { principal } = session;
    host.onAnswered({
      method: message.method,
      request: this.#options.text,
      principal,
      session,
      call,
      answer,
    });
    const correlation = () => correlationId?.();
    host.calls?.write({ endpoint, message, session, call, answer, correlationId: correlation });
  }

  #deliver(): void {
    const round = this.#round;
    if (!round || !this.#outcome) return;
    this.#round = undefined;
    const { status, text } = this.#answerTo(round.id, this.#outcome);
    round.end(text, status, this.#outcome.refusal);
    this.#passOnQuestions();
  }

  /** The call is over: what it has not asked, the session's next call may ask. */
  #passOnQuestions(): void {
    for (const question of this.#questions.values()) this.session.postpone(question);
    this.#questions.clear();
  }

  /** The answer as a round's request gets it. A server's text is not known to be JSON until here. */
  #answerTo(id: MessageId, { text, list, ...said }: Outcome): { text: string; status: number } {
    const { host, endpoint, message } = this.#options;
    const ttlMs = endpoint.isEquippable ? 0 : Math.min(LIST_TTL_MS, said.ttlMs ?? LIST_TTL_MS);
    if (list !== undefined) {
      return { text: resultText(id, completedList(list, ttlMs)), status: 200 };
    }
    try {
      const own = id === message.id ? text : withId(text, message.id, id);
      const complete = completedAnswer(own, message.method, ttlMs);
      if (complete !== undefined) return { text: complete, status: 200 };
      return errorAnswer(id, own, message);
    } catch (error) {
      host.log.warn({ err: error, method: message.method }, "A server's answer is not valid JSON");
      const invalid = new GatewayError("INTERNAL", {
        message: `The server's answer to ${message.method} is not valid JSON`,
        recoveryAction: "Report it to the server's author",
        recoverySteps: ["Check whether the request took effect before retrying"],
      });
      return { text: refusedText(id, message.method, invalid), status: 200 };
    }
  }
}

/** A question as a member of `inputRequests`. */
function inputText(id: string, { message, text }: Question): string {
  const params = memberText(text, "params");
  const method = JSON.stringify(message.method);
  const request = `{"method":${method}${params === undefined ? "" : `,"params":${params}`}}`;
  return `${JSON.stringify(id)}:${request}`;
}

/** An answer that is an error, or complete as it came; throws a SyntaxError. */
function errorAnswer(
  id: MessageId,
  text: string,
  { method, params }: RpcRequest,
): { text: string; status: number } {
  if (memberText(text, "error") === undefined) return { text, status: 200 };
  const { error } = JSON.parse(text);
  const code = isObject(error) ? error.code : undefined;
  if (code === -32601) return { text, status: 404 };
  if (code === -32020 || code === -32021) return { text, status: 400 };
  if (code === -32002 && method === "resources/read") {
    const why = typeof error.message === "string" ? error.message : "Resource not found";
    const data = { ...isObject(error.data) ? error.data : {}, uri: params.uri };
    return { text: errorText(id, -32602, why, data), status: 200 };
  }
  return { text, status: 200 };
}

/** The answer to a request that failed, as clients of this revision require it. */
export function refusedText(
  id: MessageId,
  method: string,
  error: unknown,
  view?: ViewSession,
): string {
  const text = rpcErrorText(id, method, view?.explain?.(error) ?? error);
  return completedAnswer(text, method, 0) ?? text;
}

/** A hash, because it may be stored: arguments are a person's data. */
export function fingerprintOf({ method, params }: Pick<RpcRequest, "method" | "params">): string {
  const text = JSON.stringify([method, params.name, params.uri, params.arguments]);
  return createHash("sha256").update(text).digest("base64");
}

function canAnswer(
  { elicitation, sampling, roots }: StatelessSession["profile"]["capabilities"],
  method: string,
  params: Record<string, unknown>,
): boolean {
  switch (method) {
    case "sampling/createMessage":
      return isObject(sampling);
    case "roots/list":
      return isObject(roots);
    case "elicitation/create":
      if (!isObject(elicitation)) return false;
      return params.mode === "url"
        ? elicitation.url !== undefined
        : elicitation.form !== undefined || elicitation.url === undefined;
    default:
      return false;
  }
}

/** Progress under the token of another round; undefined if that asked for none. */
function withToken(text: string, token: MessageId | undefined): string | undefined {
  const params = memberSpans(text).get("params");
  const span = params && memberSpans(text, params.start).get("progressToken");
  if (!span) return text;
  return token === undefined ? undefined : replaceSpan(text, span, idText(token));
}
