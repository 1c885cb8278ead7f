import type { McpRequest } from "../core/client.ts";
import { GatewayError } from "../core/errors.ts";
import {
  eachMember,
  elementSpans,
  errorText,
  isObject,
  memberSpans,
  memberText,
  readMessage,
  replaceSpan,
  resultText,
  type Span,
} from "../core/rpc.ts";
import { FOLLOW_TASK } from "../core/stateless.ts";
import type { ManagedServer } from "../servers/server.ts";
import { requestParams } from "./call.ts";
import { type CallServer, listValid } from "./server_lists.ts";

/** A task's id at endpoints that combine several servers: its server's name, then its own id. */
const ROUTED = /^([A-Za-z0-9_-]{1,64}):(.+)$/s;
/** How a server of 2025-11-25 says that a task has changed. */
const TASK_STATUS = "notifications/tasks/status";
const RELATED = "io.modelcontextprotocol/related-task";
/** Methods of tasks in 2025-11-25, and `update` of the extension of 2026-07-28. */
const ON_TASK = new Set([
  "tasks/get",
  "tasks/result",
  "tasks/cancel",
  "tasks/update",
  FOLLOW_TASK,
]);

interface TaskAggregateOptions {
  callable(): readonly ManagedServer[];
  /** Those to which the client has a connection of its own; there are no tasks on shared ones. */
  connected(): readonly ManagedServer[];
  list: CallServer;
  /** Asks a server; the answer comes as the client is to see it. */
  call: CallServer;
}

/** The tasks of several servers as those of one. */
export class TaskAggregate {
  readonly #options: TaskAggregateOptions;

  constructor(options: TaskAggregateOptions) {
    this.#options = options;
  }

  /** The whole answer; undefined if the method is not about tasks. */
  async request(request: McpRequest): Promise<string | undefined> {
    if (ON_TASK.has(request.method)) return await this.#onTask(request);
    if (request.method !== "tasks/list") return undefined;
    const { connected, list } = this.#options;
    const tasks = await listValid(connected(), "tasks", request, list);
    const texts = tasks.map(({ server, text }) =>
      withIds(text, taskIdIn(text, 0), (id) => routedTask(server.name, id))
    );
    return resultText(request.id, `{"tasks":[${texts.join(",")}]}`);
  }

  async #onTask(request: McpRequest): Promise<string> {
    const { taskId } = request.params;
    const [, name, id] = typeof taskId === "string" ? ROUTED.exec(taskId) ?? [] : [];
    const server = this.#options.callable().find((server) => server.name === name);
    const params = requestParams(request.text);
    const span = params?.members.get("taskId");
    if (!server || id === undefined || !params || !span) {
      return errorText(request.id, -32602, `There is no task ${JSON.stringify(taskId) ?? ""} here`);
    }
    const inner = { ...request, params: { ...request.params, taskId: id } };
    const text = replaceSpan(params.text, span, JSON.stringify(id));
    return await this.#options.call(server, inner, text);
  }
}

export function routedTask(server: string, id: string): string {
  return `${server}:${id}`;
}

/** A message of a server's in which tasks have the ids that clients know. `method`: the answered one. */
export function withRoutedTasks(server: string, text: string, method?: string): string {
  // Nearly all messages end here.
  if (!text.includes('"taskId"')) return text;
  return withIds(text, taskIdsIn(text, method), (id) => routedTask(server, id));
}

/** A client's answer in which tasks have the ids that their server knows. */
export function withOwnTasks(server: string, text: string): string {
  if (!text.includes('"taskId"')) return text;
  const result = memberSpans(text).get("result");
  if (!result) return text;
  return withIds(text, relatedIn(text, result), (id) => {
    const [, name, own] = ROUTED.exec(id) ?? [];
    return name === server && own !== undefined ? own : id;
  });
}

/** The places of ids, in order. Anything else that is called `taskId` is data. */
function taskIdsIn(text: string, method = ""): Span[] {
  const members = memberSpans(text);
  const told: unknown = JSON.parse(memberText(text, "method") ?? "null");
  const params = members.get("params");
  if (typeof told === "string" && params) {
    // What a server asks about tasks is about its client's own.
    const isStatus = told.startsWith("notifications/tasks");
    return [...(isStatus ? taskIdIn(text, params.start) : []), ...relatedIn(text, params)]
      .sort((a, b) => a.start - b.start);
  }
  const result = members.get("result");
  if (!result || text[result.start] !== "{") return [];
  const found: Span[] = [];
  const resultMembers = memberSpans(text, result.start);
  const type = resultMembers.get("resultType");
  const isTask = type !== undefined && text.slice(type.start, type.end) === '"task"';
  if (isTask || method.startsWith("tasks/")) found.push(...taskIdIn(text, result.start));
  const task = resultMembers.get("task");
  if (task && text[task.start] === "{") found.push(...taskIdIn(text, task.start));
  const tasks = resultMembers.get("tasks");
  if (method === "tasks/list" && tasks && text[tasks.start] === "[") {
    for (const { start } of elementSpans(text, tasks.start)) found.push(...taskIdIn(text, start));
  }
  found.push(...relatedIn(text, result));
  return found.sort((a, b) => a.start - b.start);
}

/** The ids of tasks that a message says it is related to. */
function relatedIn(text: string, body: Span): Span[] {
  if (text[body.start] !== "{") return [];
  const meta = memberSpans(text, body.start).get("_meta");
  const related = meta && text[meta.start] === "{"
    ? memberSpans(text, meta.start).get(RELATED)
    : undefined;
  return related ? taskIdIn(text, related.start) : [];
}

function taskIdIn(text: string, start: number): Span[] {
  if (text[start] !== "{") return [];
  let found: Span | undefined;
  eachMember(text, start, (name, span) => {
    if (name === "taskId" && text[span.start] === '"') found = span;
  });
  return found ? [found] : [];
}

function withIds(text: string, spans: readonly Span[], next: (id: string) => string): string {
  let out = "";
  let end = 0;
  for (const span of spans) {
    const id: string = JSON.parse(text.slice(span.start, span.end));
    out += text.slice(end, span.start) + JSON.stringify(next(id));
    end = span.end;
  }
  return out + text.slice(end);
}

/**
 * Calls a tool that its server runs only as a task, for a client that asked for its result: starts the
 * task and waits for what it comes to. `call` asks the server.
 */
export async function callAsTask(
  request: McpRequest,
  params: string,
  call: (request: McpRequest, params: string) => Promise<string>,
): Promise<string> {
  const task = { ...request, params: { ...request.params, task: {} } };
  const created = await call(task, `${params.slice(0, params.lastIndexOf("}"))},"task":{}}`);
  const result: unknown = JSON.parse(memberText(created, "result") ?? "null");
  const taskId = isObject(result) && isObject(result.task) ? result.task.taskId : undefined;
  if (typeof taskId !== "string") return created;
  const about = { taskId };
  const send = (text: string) => {
    const message = text.includes(TASK_STATUS) ? readMessage(text) : undefined;
    if (message?.kind !== "notification" || message.method !== TASK_STATUS) {
      return request.send(text);
    }
    // The client knows the call and not the task, whose id may name its server by now.
    const { taskId: told, statusMessage } = message.params;
    const isIt = told === taskId || ROUTED.exec(String(told))?.[2] === taskId;
    if (isIt && typeof statusMessage === "string") request.deferral?.note(statusMessage);
  };
  const ask = (method: string, request: McpRequest) =>
    call({ ...request, method, params: about }, JSON.stringify(about));
  try {
    return await ask("tasks/result", { ...request, send });
  } catch (error) {
    const isOver = request.signal.aborted ||
      (error instanceof GatewayError && error.code === "TIMEOUT");
    // Nobody else knows of the task.
    if (isOver) {
      const { signal } = new AbortController();
      void ask("tasks/cancel", { ...request, signal, send() {} }).catch(() => {});
    }
    throw error;
  }
}

/** Whether a tool runs only as a task. */
export function requiresTask(definition: Record<string, unknown>): boolean {
  const { execution } = definition;
  return isObject(execution) && execution.taskSupport === "required";
}
