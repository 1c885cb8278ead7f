/** Between a client that knows no tasks of 2026-07-28 and a server that answers its call with one. */
import { setTimeout as sleep } from "node:timers/promises";
import { asAbortSignal } from "../core/async.ts";
import { type ClientProfile, progressTokenOf } from "../core/client.ts";
import { GatewayError } from "../core/errors.ts";
import {
  errorText,
  idText,
  isObject,
  memberText,
  nestedText,
  notificationText,
  parseJson,
  resultText,
} from "../core/rpc.ts";
import { totalLimitMs } from "../core/server.ts";
import { TASKS_EXTENSION } from "../core/stateless.ts";
import { durationText } from "../core/text.ts";
import type { Call } from "../servers/connection.ts";
import {
  askAll,
  completeRounds,
  type InputRounds,
  MISSING_CAPABILITY,
  readInputRequests,
  type ServerAnswer,
} from "./input_rounds.ts";

/** Between two looks at a task, whatever its server suggests. */
const [MIN_PACE_MS, PACE_MS, MAX_PACE_MS] = [100, 1_000, 10_000];
const INTERNAL_ERROR = -32603;

export interface TaskRounds extends InputRounds {
  /** How long the server may take, as for any call; each sign of progress restarts `timeoutMs`. */
  limits: Pick<Call, "timeoutMs" | "maxTimeoutMs">;
  /** A notification as the client may see it; undefined if it must not reach the client. */
  screenNotification(method: string, text: string): string | undefined;
}

/**
 * The answer to a call: asks the client what the server needs to know, and waits for the task if there
 * is one. A server that answers a call only with a task is told that the gateway can follow it.
 */
export async function completeAnswer(
  first: ServerAnswer,
  rounds: TaskRounds,
): Promise<ServerAnswer> {
  const answer = await completeRounds(first, rounds);
  if (!requiresTasks(answer.text)) return await finished(answer, rounds);
  const able = withTasks(rounds);
  const again = await able.repeat(able.params ?? "{}");
  return await finished(await completeRounds(again, able), able);
}

function withTasks(rounds: TaskRounds): TaskRounds {
  const { profile } = rounds.client;
  const extensions = { ...profile.capabilities.extensions ?? {}, [TASKS_EXTENSION]: {} };
  const client: ClientProfile = {
    ...profile,
    capabilities: { ...profile.capabilities, extensions },
  };
  return { ...rounds, repeat: (params, more) => rounds.repeat(params, { client, ...more }) };
}

/** Whether the server refused the call, unprocessed, because it answers it only with a task. */
function requiresTasks(text: string): boolean {
  if (!text.includes(TASKS_EXTENSION)) return false;
  const error = parseJson(memberText(text, "error") ?? "null");
  return isObject(error) && error.code === MISSING_CAPABILITY &&
    JSON.stringify(error.data ?? null).includes(TASKS_EXTENSION);
}

/** What the task in an answer comes to; an answer without one is returned as it is. */
async function finished(answer: ServerAnswer, rounds: TaskRounds): Promise<ServerAnswer> {
  // Nearly all answers end here.
  if (!answer.text.includes('"taskId"')) return answer;
  if (nestedText(answer.text, "result", "resultType") !== '"task"') return answer;
  const taskId = nestedText(answer.text, "result", "taskId");
  if (taskId === undefined) return answer;
  try {
    return await wait(answer, taskId, withTasks(rounds));
  } catch (error) {
    // Nobody else knows of the task.
    const { signal } = new AbortController();
    const params = `{"taskId":${taskId}}`;
    void rounds.repeat(params, { method: "tasks/cancel", signal }).catch(() => {});
    throw error;
  }
}

async function wait(
  { id, text }: ServerAnswer,
  taskId: string,
  rounds: TaskRounds,
): Promise<ServerAnswer> {
  const { request, serverName, limits } = rounds;
  const signal = asAbortSignal(request.signal);
  const about = (method: string, more = "") =>
    rounds.repeat(`{"taskId":${taskId}${more}}`, { method });
  const asked = new Set<string>();
  const report = statusReporter(rounds);
  let state = memberText(text, "result") ?? "{}";
  const endsAt = Date.now() + totalLimitMs(limits);
  let [updated, aliveAt] = ["", Date.now()];
  for (;;) {
    await sleep(paceOf(state), undefined, { signal });
    const got = await about("tasks/get");
    const next = memberText(got.text, "result");
    if (next === undefined) return got;
    state = next;
    switch (parseJson(memberText(state, "status") ?? "null")) {
      case "completed":
        return { id, text: resultText(id, memberText(state, "result") ?? "{}") };
      case "failed": {
        const error = memberText(state, "error") ?? `{"code":${INTERNAL_ERROR},"message":"Failed"}`;
        return { id, text: `{"jsonrpc":"2.0","id":${id},"error":${error}}` };
      }
      case "cancelled":
        return { id, text: errorText(id, INTERNAL_ERROR, `Server "${serverName}" canceled it`) };
      case "input_required": {
        const open = readInputRequests(state).filter(({ key }) => !asked.has(key));
        if (open.length === 0) break;
        const answers = await askAll(open, rounds);
        if ("error" in answers) {
          void about("tasks/cancel").catch(() => {});
          return { id, text: `{"jsonrpc":"2.0","id":${id},"error":${answers.error}}` };
        }
        const responses = answers.responses.map(({ key, text }) => {
          asked.add(key);
          return `${JSON.stringify(key)}:${text}`;
        });
        await about("tasks/update", `,"inputResponses":{${responses.join()}}`);
        aliveAt = Date.now();
      }
    }
    const change = memberText(state, "lastUpdatedAt") ?? "";
    if (change !== updated) [updated, aliveAt] = [change, Date.now()];
    report(parseJson(memberText(state, "statusMessage") ?? "null"));
    const isOver = Date.now() >= endsAt;
    if (!isOver && Date.now() - aliveAt < limits.timeoutMs) continue;
    const limit = isOver
      ? `${durationText(totalLimitMs(limits))} in all`
      : durationText(limits.timeoutMs);
    throw new GatewayError("TIMEOUT", {
      message: `Server "${serverName}" did not finish its task within ${limit}`,
    });
  }
}

function paceOf(state: string): number {
  const wanted = parseJson(memberText(state, "pollIntervalMs") ?? "null");
  return Math.min(
    MAX_PACE_MS,
    Math.max(MIN_PACE_MS, typeof wanted === "number" ? wanted : PACE_MS),
  );
}

/** Sends what a task says about its state as progress of the call, if the client wants that. */
function statusReporter(
  { request, screenNotification }: TaskRounds,
): (message: unknown) => void {
  const token = progressTokenOf(request);
  let [progress, last] = [0, undefined as unknown];
  return (message) => {
    if (token === undefined || typeof message !== "string" || message === last) return;
    last = message;
    const params = JSON.stringify({ progress: ++progress, message }).slice(1);
    const text = `{"progressToken":${idText(token)},${params}`;
    const method = "notifications/progress";
    const shown = screenNotification(method, notificationText(method, text));
    if (shown !== undefined) request.send(shown);
  };
}
