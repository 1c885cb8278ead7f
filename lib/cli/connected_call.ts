import { z } from "zod";
import { abortable, type CancelSignal } from "../core/async.ts";
import { GatewayError } from "../core/errors.ts";
import type { Connection } from "../servers/connection.ts";
import type { ManagedServer } from "../servers/server.ts";
import { isStillStarting } from "../mcp/starting_servers.ts";
import type { ToolCall, ToolResult } from "./servers_access.ts";

const CallResult: z.ZodType<ToolResult> = z.looseObject({
  content: z.array(z.looseObject({ type: z.string() })).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});

const Answer = z.looseObject({
  result: CallResult.optional(),
  error: z.looseObject({ message: z.string() }).optional(),
});

const Progress = z.looseObject({
  progress: z.number(),
  total: z.number().optional(),
  message: z.string().optional(),
});

const TOKEN = "call";

/** Calls a tool on a server of this process. */
export async function callConnected(server: ManagedServer, call: ToolCall): Promise<ToolResult> {
  const { tool, args, signal, onProgress } = call;
  const connection = await connect(server, signal);
  const { text } = await connection.call({
    method: "tools/call",
    params: JSON.stringify({ name: tool, arguments: args, _meta: { progressToken: TOKEN } }),
    progressToken: TOKEN,
    timeoutMs: server.timeoutMs,
    streams: true,
    signal,
    onMessage(_, message) {
      if (message.kind !== "notification" || message.method !== "notifications/progress") return;
      const progress = Progress.safeParse(message.params);
      if (progress.success) onProgress(progress.data);
    },
  });
  const { result, error } = Answer.parse(JSON.parse(text));
  if (result) return result;
  throw new GatewayError("SERVER_DISCONNECTED", {
    message: `Server "${server.name}" refused the call: ${error?.message ?? "it gave no reason"}`,
    recoverySteps: [`See \`quartermaster tools show ${server.name}.${tool}\``],
  });
}

/** As long as it takes: nobody else waits here, and the end of this process would undo an install. */
async function connect(server: ManagedServer, signal: CancelSignal): Promise<Connection> {
  for (;;) {
    try {
      return await abortable(server.connection(), signal);
    } catch (error) {
      if (!isStillStarting(error)) throw error;
    }
  }
}
