import * as z from "zod";
import { credentialOf, EVERYONE } from "../core/access.ts";
import { type Client, type McpRequest, withdrawal } from "../core/client.ts";
import {
  elementSpans,
  errorText,
  isObject,
  memberSpans,
  memberText,
  type MessageId,
  nestedText,
  parseJson,
  readMessage,
  withId,
} from "../core/rpc.ts";
import { type Mailbox, type MessageExchange, PeerGone } from "../storage/mailbox.ts";
import type { TaskOwnersRepository } from "../storage/servers_repository.ts";
import { isProgram } from "../core/server.ts";
import type { ManagedServer, PooledServer } from "./server.ts";

const INVALID_PARAMS = -32602;
const MOST_TASKS = 10_000;
/** How long a task is remembered after the last request about it. */
const KEPT_MS = 24 * 3_600_000;
/** Minimum time between two writes to the store about one task. */
const NOTE_EVERY_MS = 3_600_000;

/** The topic of requests about tasks between gateways on one store. */
export const TASK_TOPIC = "task";
export const PassedTask = z.strictObject({
  server: z.string(),
  principal: z.string(),
  taskId: z.string(),
  method: z.string(),
  params: z.string(),
});
type PassedTask = z.infer<typeof PassedTask>;

/** The topic of clients' answers to questions during such requests. */
export const TASK_ANSWER_TOPIC = "task answer";
export const PassedAnswer = z.strictObject({
  server: z.string(),
  principal: z.string(),
  question: z.string(),
  text: z.string(),
});
type PassedAnswer = z.infer<typeof PassedAnswer>;

const RELATED_TASK = "io.modelcontextprotocol/related-task";

/** Of the requests in flight, the one about the task that a message names. */
export function requestOnTask(
  requests: Iterable<McpRequest>,
  { _meta: meta, taskId }: Record<string, unknown>,
): McpRequest | undefined {
  const task = isObject(meta) ? meta[RELATED_TASK] : undefined;
  const id = isObject(task) ? task.taskId : taskId;
  return id === undefined ? undefined : [...requests].find(({ params }) => params.taskId === id);
}

/** Whether a request is about one task. */
export function isOnTask(method: string): boolean {
  return method.startsWith("tasks/") && method !== "tasks/list";
}

interface TaskUse {
  usedAt: number;
  notedAt: number;
  carrier: TaskCarrier | undefined;
}

/** Holds the connection on which a task was started. Answers have the id 0. */
export interface TaskCarrier {
  callOnTask(
    request: Pick<PassedTask, "method" | "params">,
    exchange: Pick<McpRequest, "signal" | "send" | "ask">,
  ): Promise<string>;
}

export interface TaskOwnersOptions {
  server: Pick<ManagedServer, "name" | "isStateless"> & { server: Pick<PooledServer, "spec"> };
  /** Stores the owners, so that other gateways know them and a restart does not lose them. */
  shared?: { records: TaskOwnersRepository; mailbox: Mailbox } | undefined;
  now?: (() => number) | undefined;
}

/**
 * Who started which of a server's tasks. To the server all callers are one, the gateway, so only the
 * gateway can keep a caller from reading, answering and canceling the tasks of others.
 */
export class TaskOwners {
  readonly #options: TaskOwnersOptions;
  readonly #now: () => number;
  /** The last use of each task by its caller, least recent first. */
  readonly #uses = new Map<string, TaskUse>();
  /** Questions to clients of other gateways. */
  readonly #questions = new Map<
    string,
    { principal: string; id: MessageId; onAnswer: (text: string) => void }
  >();

  constructor(options: TaskOwnersOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /**
   * Answers a request about a task that is not the caller's, or that another gateway on the store
   * started; undefined if this gateway should make the request itself.
   */
  async divert(
    client: Pick<Client, "principal" | "ask">,
    request: McpRequest,
    params = "{}",
  ): Promise<string | undefined> {
    const { id, method, params: { taskId }, signal } = request;
    const { principal } = client;
    const refuse = (why: string) =>
      errorText(id, INVALID_PARAMS, `Task ${JSON.stringify(taskId) ?? ""} ${why}`);
    if (typeof taskId !== "string") return refuse("not found");
    const { server, shared } = this.#options;
    const isLocal = isProgram(server.server.spec);
    const key = keyOf(principal, taskId);
    const use = this.#current(key);
    if (use) return void await this.#note(key, use);
    const instance = await this.#instanceOf(key);
    if (!shared || instance === undefined) {
      // If no token is required, callers may do everything anyway.
      return credentialOf(principal) === EVERYONE ? undefined : refuse("not found");
    }
    // Any gateway can ask a remote server that keeps no sessions.
    if (!isLocal && server.isStateless) return undefined;
    // Started here, but the server was removed since, or the task was forgotten: unused or too old.
    if (instance === shared.mailbox.id) {
      return isLocal ? refuse("has ended, or was not used for a day") : undefined;
    }
    const passed: PassedTask = { server: server.name, principal, taskId, method, params };
    const onAnswer = (question: string, text: string) => {
      const answer: PassedAnswer = { server: server.name, principal, question, text };
      // A question that is no longer open needs no answer.
      void shared.mailbox.ask(instance, TASK_ANSWER_TOPIC, JSON.stringify(answer)).catch(() => {});
    };
    const onPart = passOn(client, request, onAnswer);
    try {
      const body = JSON.stringify(passed);
      const answer = await shared.mailbox.ask(instance, TASK_TOPIC, body, { signal, onPart });
      return withId(answer, 0, id);
    } catch (error) {
      if (!(error instanceof PeerGone)) throw error;
      // A program ends with its gateway; a server elsewhere may still know the task.
      return isLocal ? refuse("has ended with the gateway that started it") : undefined;
    }
  }

  /** Makes a request for another gateway's client; throws PeerGone if the task is not known here. */
  async answer({ principal, taskId, method, params }: PassedTask, exchange: MessageExchange) {
    const use = this.#current(keyOf(principal, taskId));
    if (use && !use.carrier && isProgram(this.#options.server.server.spec)) {
      const why = `Task ${JSON.stringify(taskId)} has ended with the connection that started it`;
      return errorText(0, INVALID_PARAMS, why);
    }
    if (!use?.carrier) throw new PeerGone();
    const asked: string[] = [];
    const ask: Client["ask"] = (text, id, onAnswer) => {
      const question = crypto.randomUUID();
      asked.push(question);
      this.#questions.set(question, { principal, id, onAnswer });
      return withId(text, id, question);
    };
    try {
      return await use.carrier.callOnTask({ method, params }, { ...exchange, ask });
    } finally {
      for (const question of asked) this.#questions.delete(question);
    }
  }

  /** Passes a client's answer from another gateway to the server that asked. */
  takeAnswer({ principal, question, text }: PassedAnswer): void {
    const asked = this.#questions.get(question);
    if (asked?.principal !== principal) return;
    this.#questions.delete(question);
    asked.onAnswer(withId(text, question, asked.id));
  }

  /** Forgets a carrier whose connection has closed; its tasks end with it. */
  release(carrier: TaskCarrier): void {
    for (const use of this.#uses.values()) if (use.carrier === carrier) use.carrier = undefined;
  }

  /** The answer as its caller may see it; if the answer starts a task, the task is recorded. */
  shown(
    principal: string,
    { method }: Pick<McpRequest, "method">,
    answer: string,
    carrier?: TaskCarrier,
  ): string | Promise<string> {
    if (!answer.includes('"taskId"')) return answer;
    if (method === "tasks/list") return this.#ownOnly(principal, answer);
    const isTask = nestedText(answer, "result", "resultType") === '"task"';
    const id = isTask
      ? nestedText(answer, "result", "taskId")
      : nestedText(answer, "result", "task", "taskId");
    const taskId = parseJson(id ?? "null");
    if (typeof taskId !== "string") return answer;
    const use = { usedAt: 0, notedAt: -Infinity, carrier };
    return this.#note(keyOf(principal, taskId), use).then(() => answer);
  }

  async #ownOnly(principal: string, answer: string): Promise<string> {
    if (credentialOf(principal) === EVERYONE) return answer;
    const result = memberSpans(answer).get("result");
    const tasks = result && answer[result.start] === "{"
      ? memberSpans(answer, result.start).get("tasks")
      : undefined;
    if (!tasks || answer[tasks.start] !== "[") return answer;
    const texts = elementSpans(answer, tasks.start).map(({ start, end }) =>
      answer.slice(start, end)
    );
    const isOwn = await Promise.all(texts.map(async (task) => {
      const id = parseJson(nestedText(task, "taskId") ?? "null");
      if (typeof id !== "string") return false;
      const key = keyOf(principal, id);
      return this.#current(key) !== undefined || await this.#instanceOf(key) !== undefined;
    }));
    const own = texts.filter((_, index) => isOwn[index]);
    return `${answer.slice(0, tasks.start)}[${own.join()}]${answer.slice(tasks.end)}`;
  }

  #current(key: string): TaskUse | undefined {
    const use = this.#uses.get(key);
    return use && this.#now() - use.usedAt < KEPT_MS ? use : undefined;
  }

  /** The gateway that started the task, according to the store. */
  async #instanceOf(key: string): Promise<string | undefined> {
    const { server, shared } = this.#options;
    const record = (await shared?.records.find([server.name, key]))?.value;
    return record && record.expiresAt > this.#now() ? record.instance : undefined;
  }

  async #note(key: string, use: TaskUse): Promise<void> {
    use.usedAt = this.#now();
    this.#uses.delete(key);
    this.#uses.set(key, use);
    for (const [oldest, { usedAt }] of this.#uses) {
      if (this.#uses.size <= MOST_TASKS && this.#now() - usedAt < KEPT_MS) break;
      this.#uses.delete(oldest);
    }
    const { server, shared } = this.#options;
    if (!shared || use.usedAt - use.notedAt < NOTE_EVERY_MS) return;
    use.notedAt = use.usedAt;
    await shared.records.note({
      server: server.name,
      task: key,
      instance: shared.mailbox.id,
      expiresAt: use.usedAt + KEPT_MS + NOTE_EVERY_MS,
    });
  }
}

/** Relays what another gateway sends about a request, and asks its client what the server asks. */
function passOn(
  client: Pick<Client, "ask">,
  request: McpRequest,
  onAnswer: (question: string, text: string) => void,
): (text: string) => void {
  const questions = new Map<MessageId, string>();
  return (text) => {
    const message = readMessage(text);
    if (message?.kind === "request") {
      const { id } = message;
      const asked = client.ask(text, id, (answer) => onAnswer(String(id), answer));
      questions.set(id, memberText(asked, "id")!);
      return request.send(asked);
    }
    const isWithdrawal = message?.kind === "notification" &&
      message.method === "notifications/cancelled";
    const out = isWithdrawal ? withdrawal(text, message.params.requestId, questions) : text;
    if (out !== undefined) request.send(out);
  };
}

function keyOf(principal: string, taskId: string): string {
  return JSON.stringify([principal, taskId]);
}
