import { argumentProblems } from "../catalog/tool_arguments.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import type { NameTables } from "../catalog/name_table.ts";
import { resolveTool } from "../catalog/resolve.ts";
import { asAbortSignal } from "../core/async.ts";
import type { Client, McpRequest } from "../core/client.ts";
import { GatewayError } from "../core/errors.ts";
import { errorText, isObject, memberText, requestText } from "../core/rpc.ts";
import { isAway } from "../core/server.ts";
import { shortened } from "../core/text.ts";
import type { ManagedServer } from "../servers/server.ts";
import type { ServerPool } from "../servers/pool.ts";
import { type AnsweredCall, ownCopy } from "../telemetry/call_recorder.ts";
import type { CallControl } from "../trust/call_control/control.ts";
import type { ContentGuard } from "../trust/content_guard/guard.ts";
import { type CallPolicy, callTool, checkUnchanged } from "./call.ts";

/** Nobody looks at a page longer than this; progress does not prolong it. */
const LIMIT_MS = 120_000;
const MOST_MESSAGES = 20;
const MESSAGE_LENGTH = 50_000;
/** The console as a client, in the activity log. */
const CONSOLE: Omit<Client, "principal"> & AnsweredCall["session"] = {
  id: "console",
  endpoint: "console",
  profile: { protocolVersion: "", capabilities: {}, clientInfo: { name: "Console" } },
  push: () => {},
  ask: (text) => text,
};

export type TrialPolicy = Pick<CallControl, "enterTrial" | "mustConfirm" | "refused" | "ended">;

interface TrialCallsOptions {
  catalog: Catalog;
  names: NameTables;
  pool: ServerPool;
  policy: TrialPolicy;
  guard?: ContentGuard | undefined;
  onCall(call: AnsweredCall): void;
}

export interface TrialCall {
  server: string;
  tool: string;
  args: Record<string, unknown>;
  principal: string;
  /** The person confirmed the call of a tool that may change something. */
  isConfirmed: boolean;
  signal: AbortSignal;
}

export interface TrialAnswer {
  request: string;
  response: string;
  messages: string[];
  ms: number;
}

/** Calls of a person who tries a tool in the console: real ones, recorded like any other. */
export class TrialCalls {
  readonly #options: TrialCallsOptions;

  constructor(options: TrialCallsOptions) {
    this.#options = options;
  }

  async call(trial: TrialCall): Promise<TrialAnswer> {
    const { server, tool: name, args, principal, signal } = trial;
    const { pool, catalog, names, guard } = this.#options;
    const managed = pool.resolve(server);
    // A server that has not listed its tools may still have this one.
    const isListed = catalog.of(server).tools.some((tool) => tool.name === name);
    if (isAway(managed.status) && !isListed) {
      await managed.connection(AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]));
    }
    const table = names.of(catalog.snapshot);
    const tool = resolveTool({ table, naming: "original", server }, name);
    const problems = argumentProblems(tool, args);
    if (problems !== undefined) {
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: `Not called: ${problems}`,
        recoveryAction: "Correct these arguments and call again",
      });
    }
    const params = JSON.stringify({ name: tool.name, arguments: args });
    const messages: string[] = [];
    const request: McpRequest = {
      id: 0,
      method: "tools/call",
      params: { name: tool.name, arguments: args },
      text: requestText(0, "tools/call", params),
      signal,
      send(text) {
        if (messages.length >= MOST_MESSAGES) return;
        messages.push(ownCopy(shortened(text, MESSAGE_LENGTH), MESSAGE_LENGTH));
      },
    };
    const started = performance.now();
    let sent = request.text;
    const answer = await callTool(
      { policy: this.#policyFor(trial) },
      { tool, request, client: { ...CONSOLE, principal } },
      {
        params: () => params,
        checkUnchanged: () => checkUnchanged(tool, { table: names.of(catalog.snapshot) }),
        async relay(params) {
          const use = { server: managed, client: { ...CONSOLE, principal }, request };
          guard?.checkArguments(use, "tools/call", params);
          const { id, text } = await relayTrial(managed, request, params);
          sent = requestText(id, "tools/call", params);
          return guard?.answer(use, "tools/call", text) ?? text;
        },
      },
    );
    const ms = performance.now() - started;
    const error = "error" in answer ? explained(answer.error, server) : undefined;
    const text = "error" in answer
      ? errorText(0, error!.rpcCode, error!.message, error!.toBody())
      : answer.text;
    if (answer.call?.sentAt !== undefined) {
      const isError = error !== undefined || isFailure(text);
      this.#options.onCall({
        call: answer.call,
        request: sent,
        principal,
        session: CONSOLE,
        answer: { text, isError, started, ms },
      });
    }
    if (error) throw error;
    return { request: sent, response: text, messages, ms };
  }

  /** The console asks the person in the form, before the call. */
  #policyFor({ isConfirmed }: TrialCall): CallPolicy {
    const { policy } = this.#options;
    return {
      async enter(call) {
        const mustAgree = await policy.enterTrial(call);
        const risk = riskOf(call.tool) ?? (mustAgree ? "changes" : undefined);
        if (risk === undefined || isConfirmed) return;
        const error = unconfirmed(call.tool.name, risk);
        // Otherwise it is the form's own question, and no rule that refused the call.
        if (mustAgree) {
          const { tool: { server, name }, client: { principal } } = call;
          policy.refused({ subject: `${server}.${name}`, principal }, error);
        }
        throw error;
      },
      ended: (request) => policy.ended(request),
    };
  }
}

async function relayTrial(
  server: ManagedServer,
  { method, signal, send }: McpRequest,
  params: string,
): Promise<{ id: number; text: string }> {
  return await server.call({
    method,
    params,
    timeoutMs: Math.min(server.timeoutMs, LIMIT_MS),
    streams: true,
    onMessage: (text) => send(text),
    signal: AbortSignal.any([asAbortSignal(signal), AbortSignal.timeout(LIMIT_MS)]),
  });
}

/** What a call may do: destroy, by the tool's own annotations, or change things, if they do not say otherwise. */
type ToolRisk = "destroys" | "changes";

/** Undefined if a tool says that it only reads or only adds; by MCP, no annotation rules nothing out. */
export function riskOf(
  { definition: { annotations } }: Pick<CatalogTool, "definition">,
): ToolRisk | undefined {
  const { readOnlyHint, destructiveHint } = isObject(annotations) ? annotations : {};
  if (readOnlyHint === true || destructiveHint === false) return undefined;
  return destructiveHint === true ? "destroys" : "changes";
}

function unconfirmed(name: string, risk: ToolRisk): GatewayError {
  return new GatewayError("INVALID_ARGUMENTS", {
    message: risk === "destroys"
      ? `"${name}" may delete or overwrite data, and the call is not confirmed`
      : `"${name}" may change data, and the call is not confirmed`,
    recoveryAction: "Confirm the call",
    recoverySteps: ['Send "confirmed": true with the arguments'],
  });
}

function isFailure(response: string): boolean {
  const result = memberText(response, "result");
  return result === undefined || memberText(result, "isError") === "true";
}

function explained(error: unknown, server: string): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return new GatewayError("TIMEOUT", {
      message: `Server "${server}" did not answer within ${LIMIT_MS / 1000} s`,
    });
  }
  if (error instanceof DOMException && error.name === "AbortError") {
    return new GatewayError("TIMEOUT", {
      message: "The call was canceled before the server answered",
      recoveryAction: "Call again",
    });
  }
  return new GatewayError("INTERNAL", { cause: error });
}
