import * as z from "zod";
import { ScopeMissing } from "../auth/oauth_scopes.ts";
import { Cancellation, type Timeout, TimeoutQueue } from "../core/async.ts";
import { GatewayError } from "../core/errors.ts";
import { errorText, exactId, idText, type MessageId, resultText } from "../core/rpc.ts";
import { type Mailbox, type MessageHandler, PeerGone } from "../storage/mailbox.ts";
import { isProgress } from "./event_body.ts";
import { CallTask } from "./call_task.ts";
import type { Round, StatelessCall } from "./stateless_call.ts";
import type { TaskSource } from "./task_follower.ts";

const PATIENCE_MS = 1_000;
/** How long a call waits for the client to come back with its answers. */
const HOLD_MS = 10 * 60_000;
/** How long a task is kept after the last request about it, or while its client waits for changes. */
const TASK_MS = 60 * 60_000;
const MAX_TASKS = 1_000;
/** Maximum total length of the answers that are kept for clients to fetch, before a new task. */
const MAX_ANSWERS = 64 * 1024 * 1024;

/** The caller and the request of a retry; both must match those of the held call. */
const Retry = z.strictObject({
  state: z.string(),
  endpoint: z.string(),
  principal: z.string(),
  fingerprint: z.string(),
});
export type Retry = z.infer<typeof Retry>;

/** A retry that reached another gateway. Ids are JSON text, so that large numbers keep all digits. */
const PassedRetry = Retry.extend({
  id: z.string(),
  progressToken: z.string().optional(),
  answers: z.array(z.tuple([z.string(), z.string()])),
});
const PassedOutcome = z.strictObject({
  text: z.string(),
  status: z.number(),
  /** An OAuth step-up. */
  missing: z.strictObject({ message: z.string(), scopes: z.array(z.string()) }).optional(),
});

/** A request about a task that a call has become; the caller must match the call's own. */
const TaskRequest = Retry.pick({ endpoint: true, principal: true }).extend({
  taskId: z.string(),
  method: z.enum(["tasks/get", "tasks/update", "tasks/cancel"]),
  answers: z.array(z.tuple([z.string(), z.string()])),
});
type TaskRequest = z.infer<typeof TaskRequest>;

/** The topics of messages about held calls between gateways on one store. */
const TOPIC = "held call";
const TASK_TOPIC = "call task";
const FOLLOW_TOPIC = "changes of a call task";

interface ReturningClient {
  round: Round;
  /** Keyed by the ids of the questions. */
  answers: ReadonlyMap<string, string>;
  /** The response that reports an error to the client. */
  refused(error: unknown): string;
}

interface HeldCallsOptions {
  /** The same after a restart. */
  gatewayId?: string | undefined;
  /** Reaches the other gateways on the store. */
  mailbox?: Mailbox | undefined;
  holdMs?: number | undefined;
  /** The time after which a slow call becomes a task if its client supports that; 0 for never. */
  taskAfterMs?: number | undefined;
  taskMs?: number | undefined;
}

/**
 * Calls that wait for their client's answers. A client gets a request state for each, which cannot be
 * guessed and works once: it continues the call, and never makes it again.
 */
export class HeldCalls implements Disposable {
  /** Marks the states that gateways on this store issue: a server may be a gateway with its own. */
  readonly #prefix: string;
  readonly #mailbox: Mailbox | undefined;
  readonly #instance: string;
  readonly #calls = new Map<string, { call: StatelessCall; limit: Timeout }>();
  readonly #limits: TimeoutQueue;
  readonly #tasks = new Map<string, { call: StatelessCall; task: CallTask; limit: Timeout }>();
  readonly #taskMs: number;
  readonly #taskLimits: TimeoutQueue;
  /** Calls that become tasks unless they are answered in time; missing if no call does. */
  readonly slow: TimeoutQueue | undefined;
  /**
   * How long an answer may take before it comes on a stream, which has no status of its own: the
   * revision wants 400 and 404 for some errors, and has no streams that can be resumed.
   */
  readonly patience = new TimeoutQueue(PATIENCE_MS);

  constructor(
    {
      gatewayId = crypto.randomUUID(),
      mailbox,
      holdMs = HOLD_MS,
      taskAfterMs = 0,
      taskMs = TASK_MS,
    }: HeldCallsOptions = {},
  ) {
    this.slow = taskAfterMs > 0 ? new TimeoutQueue(taskAfterMs) : undefined;
    this.#taskMs = taskMs;
    this.#taskLimits = new TimeoutQueue(taskMs);
    this.#prefix = `quartermaster.${gatewayId}.`;
    this.#limits = new TimeoutQueue(holdMs);
    this.#mailbox = mailbox;
    this.#instance = mailbox?.id ?? crypto.randomUUID();
    mailbox?.handle(TOPIC, (body, exchange) => this.#resumePassed(body, exchange));
    mailbox?.handle(TASK_TOPIC, async (body) => {
      return await this.#answerTask(TaskRequest.parse(JSON.parse(body)));
    });
    mailbox?.handle(FOLLOW_TOPIC, async (body, { send, signal }) => {
      const { task } = this.#ownTask(TaskRequest.parse(JSON.parse(body)));
      await task.follow(() => send("", "change"), signal);
      return "";
    });
  }

  /** Whether a request state or a task's id was issued by this gateway; servers know all others. */
  isOurs(state: unknown): state is string {
    return typeof state === "string" && state.startsWith(this.#prefix);
  }

  /** Keeps a call, and returns the state that continues it. */
  hold(call: StatelessCall): string {
    const state = this.#newId();
    const limit = this.#limits.add(() => {
      this.#calls.delete(state);
      call.cancel("The client did not send its answers in time");
    });
    this.#calls.set(state, { call, limit });
    return state;
  }

  /**
   * Continues a call with the client's answers, here or at the gateway that holds it, and returns a way
   * to cancel it. Throws INVALID_PARAMS if the call is unknown or not the caller's; if another gateway
   * reports that, the round ends with `refused()`.
   */
  resume(retry: Retry, back: ReturningClient): Pick<StatelessCall, "cancel"> {
    const instance = this.#otherInstance(retry.state);
    if (this.#mailbox && instance !== undefined) {
      return this.#pass(this.#mailbox, instance, retry, back);
    }
    const call = this.#take(retry);
    call.resume(back.round, back.answers);
    return call;
  }

  /** Keeps a slow call as a task; undefined if there are too many. */
  keepTask(call: StatelessCall): CallTask | undefined {
    if (this.#tasks.size >= MAX_TASKS) return undefined;
    const kept = this.#tasks.values().reduce((sum, { call }) => sum + call.answerLength, 0);
    if (kept > MAX_ANSWERS) return undefined;
    const task = new CallTask(this.#newId(), this.#taskMs);
    this.#tasks.set(task.id, { call, task, limit: this.#limitTask(task.id, call) });
    return task;
  }

  /**
   * Answers a request about a task, here or at the gateway that runs the call. Throws INVALID_PARAMS if
   * the task is unknown or not the caller's; if another gateway reports that, the round ends with
   * `refused()`.
   */
  askTask(request: TaskRequest, { round, refused }: Omit<ReturningClient, "answers">): void {
    const instance = this.#otherInstance(request.taskId);
    if (!this.#mailbox || instance === undefined) {
      return round.end(resultText(round.id, this.#answerTask(request)), 200);
    }
    const left = new Cancellation();
    round.gone?.addEventListener("abort", () => left.abort(new DOMException("", "AbortError")));
    void this.#mailbox.ask(instance, TASK_TOPIC, JSON.stringify(request), { signal: left }).then(
      (result) => round.end(resultText(round.id, result), 200),
    ).catch((error) => {
      const known = error instanceof PeerGone ? this.#unknownTask(request.taskId) : error;
      round.end(refused(known), 200);
    }).catch(() => {/* the client has disconnected */});
  }

  /** A task as one that a client can listen for, here or at the gateway that runs the call. */
  taskSource(caller: Pick<TaskRequest, "taskId" | "endpoint" | "principal">): TaskSource {
    const request: TaskRequest = { ...caller, method: "tasks/get", answers: [] };
    const instance = this.#otherInstance(request.taskId);
    const mailbox = this.#mailbox;
    if (!mailbox || instance === undefined) {
      return {
        state: () => Promise.try(() => this.#answerTask(request)),
        follow: (onChange, signal) =>
          Promise.try(() => this.#ownTask(request).task.follow(onChange, signal)),
      };
    }
    const body = JSON.stringify(request);
    return {
      state: () => mailbox.ask(instance, TASK_TOPIC, body),
      follow: (onPart, signal) => mailbox.ask(instance, FOLLOW_TOPIC, body, { signal, onPart }),
    };
  }

  [Symbol.dispose](): void {
    this.slow?.[Symbol.dispose]();
    this.#taskLimits[Symbol.dispose]();
    this.#tasks.clear();
    this.#limits[Symbol.dispose]();
    this.patience[Symbol.dispose]();
    this.#calls.clear();
  }

  #newId(): string {
    const secret = crypto.getRandomValues(new Uint8Array(24)).toBase64({ alphabet: "base64url" });
    return `${this.#prefix}${this.#instance}.${secret}`;
  }

  /** The process that issued an id of ours; undefined if it is this one. */
  #otherInstance(id: string): string | undefined {
    const instance = /^[0-9a-f-]{36}(?=\.)/.exec(id.slice(this.#prefix.length))?.[0];
    return instance === this.#instance ? undefined : instance;
  }

  #limitTask(id: string, call: StatelessCall): Timeout {
    return this.#taskLimits.add(() => {
      const kept = this.#tasks.get(id);
      if (kept?.task.isFollowed && !call.isAnswered) {
        return void (kept.limit = this.#limitTask(id, call));
      }
      this.#tasks.delete(id);
      call.cancel("Nobody asked about the task in time");
    });
  }

  #answerTask(request: TaskRequest): string {
    const kept = this.#ownTask(request);
    this.#taskLimits.delete(kept.limit);
    kept.limit = this.#limitTask(request.taskId, kept.call);
    return kept.call.answerTask(request.method, new Map(request.answers));
  }

  #ownTask({ taskId, endpoint, principal }: TaskRequest) {
    const kept = this.#tasks.get(taskId);
    const { session } = kept?.call ?? {};
    // The error is the same for another caller's task as for one that never existed.
    if (!kept || session?.endpoint !== endpoint || session.principal !== principal) {
      throw this.#unknownTask(taskId);
    }
    return kept;
  }

  #take({ state, endpoint, principal, fingerprint }: Retry): StatelessCall {
    const { call, limit } = this.#calls.get(state) ?? {};
    // The error is the same for another caller's call as for one that never existed.
    if (!limit || call?.session.endpoint !== endpoint || call.session.principal !== principal) {
      throw this.#unknown(state);
    }
    if (call.fingerprint !== fingerprint) {
      throw new GatewayError("INVALID_PARAMS", {
        message: "The request state belongs to a call with another method, name or arguments",
        recoverySteps: [
          "Send the request that was answered with this state, with the answers added",
        ],
      });
    }
    this.#calls.delete(state);
    this.#limits.delete(limit);
    return call;
  }

  /** Passes the retry to the gateway that holds the call, and relays its messages to the client. */
  #pass(
    mailbox: Mailbox,
    instance: string,
    retry: Retry,
    { round, answers, refused }: ReturningClient,
  ): Pick<StatelessCall, "cancel"> {
    const left = new Cancellation();
    const cancel = (reason: string) => left.abort(new DOMException(reason, "AbortError"));
    round.gone?.addEventListener("abort", () => cancel("The client disconnected"));
    const { id, progressToken } = round;
    const passed: z.infer<typeof PassedRetry> = {
      ...retry,
      id: idText(id),
      progressToken: progressToken === undefined ? undefined : idText(progressToken),
      answers: [...answers],
    };
    const send = (text: string) => round.send(text);
    void mailbox.ask(instance, TOPIC, JSON.stringify(passed), { signal: left, onPart: send }).then(
      (body) => {
        const { text, status, missing } = PassedOutcome.parse(JSON.parse(body));
        round.end(text, status, missing && new ScopeMissing(missing.message, missing.scopes));
      },
    ).catch((error) => {
      round.end(refused(error instanceof PeerGone ? this.#unknown(retry.state) : error), 200);
    }).catch((error) => {
      const { rpcCode, message } = GatewayError.from(error);
      round.end(errorText(id, rpcCode, message), 200);
    }).catch(() => {/* the client has disconnected */});
    return { cancel };
  }

  /** Continues a held call whose retry reached another gateway. */
  #resumePassed(body: string, { send, signal }: Parameters<MessageHandler>[1]): Promise<string> {
    const { id, progressToken, answers, ...retry } = PassedRetry.parse(JSON.parse(body));
    const call = this.#take(retry);
    const { promise, resolve } = Promise.withResolvers<string>();
    call.resume({
      id: idIn(id)!,
      progressToken: idIn(progressToken),
      gone: signal,
      send: (text) => send(text, isProgress(text) ? "progress" : undefined),
      end(text, status, refusal) {
        const missing = refusal instanceof ScopeMissing
          ? { message: refusal.message, scopes: [...refusal.scopes] }
          : undefined;
        const outcome: z.infer<typeof PassedOutcome> = { text, status, missing };
        resolve(JSON.stringify(outcome));
      },
    }, new Map(answers));
    return promise;
  }

  #isFromHere(id: string): boolean {
    return id.startsWith(`${this.#prefix}${this.#instance}.`);
  }

  #unknownTask(id: string): GatewayError {
    return new GatewayError("INVALID_PARAMS", {
      message: this.#isFromHere(id)
        ? "Unknown task: it has expired, or is not yours"
        : "Unknown task: the gateway that ran it has stopped",
      recoveryAction: "Check whether the call took effect before making it again",
      recoverySteps: ["Check whether the call took effect: it may have run", "Call the tool again"],
    });
  }

  #unknown(state: string): GatewayError {
    return new GatewayError("INVALID_PARAMS", {
      message: this.#isFromHere(state)
        ? "Unknown request state: it was already used, or has expired"
        : "Unknown request state: the gateway that held the call has stopped",
      recoveryAction: "Check whether the call took effect before retrying",
      recoverySteps: [
        "Check whether the call took effect: it may have run",
        "Make the call again without a request state",
      ],
    });
  }
}

function idIn(text: string | undefined): MessageId | undefined {
  return text === undefined ? undefined : exactId(JSON.parse(text), () => text);
}
