import { credentialOf, EVERYONE } from "../core/access.ts";
import { elementSpans, memberSpans, nestedText, parseJson } from "../core/rpc.ts";

const MOST_TASKS = 10_000;
/** After the last request about a task. */
const KEPT_MS = 24 * 3_600_000;

/** A request about tasks, as far as it says whose they are. */
interface TaskRequest {
  method: string;
  params: Record<string, unknown>;
}

/**
 * Who started which of a server's tasks. To the server all callers are one, the gateway, so only the
 * gateway can keep a caller from reading, answering and canceling the tasks of others.
 */
export class TaskOwners {
  readonly #now: () => number;
  /** When a caller last used a task, the longest ago first. */
  readonly #uses = new Map<string, number>();

  constructor(now = () => Date.now()) {
    this.#now = now;
  }

  /** Whether the request is about a task that this caller did not start. */
  isForeign(principal: string, { method, params: { taskId } }: TaskRequest): boolean {
    if (!method.startsWith("tasks/") || method === "tasks/list") return false;
    // Callers without a token may do everything anyway.
    if (credentialOf(principal) === EVERYONE) return false;
    if (typeof taskId !== "string" || !this.#has(principal, taskId)) return true;
    this.#note(principal, taskId);
    return false;
  }

  /** The answer as its caller may see it; notes the task that it starts, if it does. */
  shown(principal: string, { method }: TaskRequest, answer: string): string {
    if (!answer.includes('"taskId"') || credentialOf(principal) === EVERYONE) return answer;
    if (method === "tasks/list") return this.#ownOnly(principal, answer);
    const isTask = nestedText(answer, "result", "resultType") === '"task"';
    const id = isTask
      ? nestedText(answer, "result", "taskId")
      : nestedText(answer, "result", "task", "taskId");
    const taskId = parseJson(id ?? "null");
    if (typeof taskId === "string") this.#note(principal, taskId);
    return answer;
  }

  #ownOnly(principal: string, answer: string): string {
    const result = memberSpans(answer).get("result");
    const tasks = result && answer[result.start] === "{"
      ? memberSpans(answer, result.start).get("tasks")
      : undefined;
    if (!tasks || answer[tasks.start] !== "[") return answer;
    const own = elementSpans(answer, tasks.start)
      .map(({ start, end }) => answer.slice(start, end))
      .filter((task) => {
        const id = parseJson(nestedText(task, "taskId") ?? "null");
        return typeof id === "string" && this.#has(principal, id);
      });
    return `${answer.slice(0, tasks.start)}[${own.join()}]${answer.slice(tasks.end)}`;
  }

  #has(principal: string, taskId: string): boolean {
    const usedAt = this.#uses.get(keyOf(principal, taskId));
    return usedAt !== undefined && this.#now() - usedAt < KEPT_MS;
  }

  #note(principal: string, taskId: string): void {
    const key = keyOf(principal, taskId);
    this.#uses.delete(key);
    this.#uses.set(key, this.#now());
    for (const [oldest, usedAt] of this.#uses) {
      if (this.#uses.size <= MOST_TASKS && this.#now() - usedAt < KEPT_MS) break;
      this.#uses.delete(oldest);
    }
  }
}

function keyOf(principal: string, taskId: string): string {
  return JSON.stringify([principal, taskId]);
}
