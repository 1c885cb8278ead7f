import * as z from "zod";
import { EVERYONE } from "../core/access.ts";
import { abortable, type CancelSignal, within } from "../core/async.ts";
import { GatewayError } from "../core/errors.ts";
import type { ServerStatus } from "../core/server.ts";
import { buildGateway, type Gateway } from "../gateway.ts";
import { isStillStarting } from "../mcp/starting_servers.ts";
import { type Operation, runOperation } from "../operations/operation.ts";
import type { Connection } from "../servers/connection.ts";
import type { ManagedServer } from "../servers/server.ts";
import type { CommandInput } from "./command.ts";
import { onStopSignal } from "./serve.ts";
import {
  commandUser,
  type OperationTarget,
  refuseMemory,
  type ToolCall,
  type ToolResult,
} from "./operation_target.ts";

/** The gateway's own modules in this process, while no gateway is running. */
export class CommandGateway implements OperationTarget {
  readonly isRunning = false;
  readonly #gateway: Gateway;
  readonly #from: string;
  readonly #ignoreSignals: () => void;
  #isCalling = false;
  #ended: Promise<void> | undefined;

  private constructor(gateway: Gateway, from: string) {
    this.#gateway = gateway;
    this.#from = from;
    this.#ignoreSignals = onStopSignal((signal) => this.#endBy(signal));
  }

  static async open(input: CommandInput): Promise<CommandGateway> {
    refuseMemory(input);
    const { user, from } = commandUser(input);
    const gateway = await buildGateway({
      read: input,
      env: input.env,
      cwd: Deno.cwd(),
      port: undefined,
      describeJob: () => ({}),
      commandUser: user,
    });
    return new CommandGateway(gateway, from);
  }

  /** Runs an operation with all rights: a person who can read the store is its owner. */
  async run(operation: Operation, input: Record<string, unknown>) {
    return await runOperation(operation, this.#gateway, input, {
      principal: EVERYONE,
      via: "cli",
      isLocal: true,
      from: () => this.#from,
      signal: new AbortController().signal,
      progress: () => {},
    });
  }

  async callTool(call: ToolCall): Promise<ToolResult> {
    this.#isCalling = true;
    try {
      return await callConnected(this.#gateway.pool.resolve(call.server), call);
    } finally {
      this.#isCalling = false;
    }
  }

  /** Ends the programs that it started: Ctrl-C on a terminal does not reach their process groups. */
  #endBy(signal: Deno.Signal): void {
    // A call is cancelled by its command, which then ends.
    if (signal === "SIGINT" && this.#isCalling) return;
    const code = { SIGHUP: 129, SIGTERM: 143 }[signal as string] ?? 130;
    void this[Symbol.asyncDispose]().finally(() => Deno.exit(code));
  }

  /** Connects to a server within a limit, and disconnects again; returns its state in between. */
  async tryOut(name: string, limitMs: number): Promise<ServerStatus> {
    const server = this.#gateway.pool.resolve(name);
    const outcome = await within(server.connection().then(() => "done", () => "done"), limitMs);
    const { status } = server;
    // Back to waiting for use: many servers are tried, and few programs may run at a time.
    server.update(server.server);
    // The reason also says when it is tried again, which it is not.
    if (outcome !== undefined) return { ...status, reason: status.lastError ?? status.reason };
    if (status.state === "installing") return status;
    return { ...status, state: "starting", reason: `Did not connect within ${limitMs / 1000} s` };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#ended ??= this.#end();
  }

  async #end(): Promise<void> {
    await this.#gateway[Symbol.asyncDispose]();
    this.#ignoreSignals();
  }
}

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
