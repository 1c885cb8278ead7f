/** What both sides of the gateway need of MCP 2026-07-28: keys of `_meta`, headers, log levels. */
import { isObject } from "./rpc.ts";

export const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
export const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
export const CLIENT_KEY = "io.modelcontextprotocol/clientInfo";
export const LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel";
export const SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo";
export const SUBSCRIPTION_ID_KEY = "io.modelcontextprotocol/subscriptionId";
/** The extension with which calls are answered later. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** Says that a task has changed. */
export const TASK_CHANGED = "notifications/tasks";
/** The gateway's own method: a request that lasts, and is sent `TASK_CHANGED` with each change. */
export const FOLLOW_TASK = "tasks/follow";

/** Whether a client or a server with these capabilities has the tasks extension. */
export function hasTasks({ extensions }: Record<string, unknown>): boolean {
  return isObject(extensions) && extensions[TASKS_EXTENSION] !== undefined;
}

/** The levels of log messages, the least important first. */
export const LOG_LEVELS = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
];

/** The member of a method's params that the header Mcp-Name repeats. */
export const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

/** As it is if HTTP can carry it, else in Base64, as the specification wants it. */
export function encodeHeader(text: string): string {
  const isPlain = /^[\t\x20-\x7e]+$/.test(text) && text === text.trim() &&
    !(text.startsWith("=?base64?") && text.endsWith("?="));
  return isPlain ? text : `=?base64?${new TextEncoder().encode(text).toBase64()}?=`;
}
