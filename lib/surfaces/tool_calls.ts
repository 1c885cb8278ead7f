import { checkArguments } from "../catalog/argument_check.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import { GatewayError } from "../core/errors.ts";
import { nearestNames } from "../core/nearest.ts";
import { errorText, isObject, memberText, requestText } from "../core/rpc.ts";
import { shortened } from "../core/shortened.ts";
import type { ManagedServer } from "../downstream/managed_server.ts";
import type { ServerPool } from "../downstream/server_pool.ts";
import { ownCopy } from "../telemetry/call_details.ts";
import type { AnsweredCall } from "../telemetry/call_recorder.ts";
import type { RefusedUse } from "./call_gate.ts";

/** Nobody looks at a page longer than this; progress does not prolong it. */
const LIMIT_MS = 120_000;
const MOST_MESSAGES = 20;
const MESSAGE_LENGTH = 50_000;
/** Where a tool is tried, as the record shows it. */
const CONSOLE: Omit<AnsweredCall["session"], "principal"> = {
  door: "console",
  id: "console",
  client: { clientInfo: { name: "Console" } },
};

/** A call that a person is about to make. */
export interface TriedCall {
  tool: CatalogTool;
  principal: string;
  /** Stands for the call until it has ended. */
  scope: object;
}

/** Holds whoever tries a tool to what its server and the token allow that they came with. */
export interface TriedGate {
  /** Throws where the call may not be made; tells whether somebody has to have agreed to it. */
  enterTried(call: TriedCall): boolean;
  /** Whether somebody will have to have agreed to it; nothing is counted. */
  mustConfirm(call: Omit<TriedCall, "scope">): boolean;
  /** Has it noted that a call was not let through. */
  refused(use: RefusedUse, error: unknown): void;
  ended(scope: object): void;
}

export interface ToolCallsOptions {
  catalog: Catalog;
  pool: ServerPool;
  gate: TriedGate;
  onCall(call: AnsweredCall): void;
}

export interface ToolCall {
  server: string;
  tool: string;
  args: Record<string, unknown>;
  /** Who calls. */
  principal: string;
  /** Said by whoever calls a tool that may destroy something. */
  isConfirmed: boolean;
  signal: AbortSignal;
}

/** What went over the wire, and how long it took. */
export interface ToolAnswer {
  request: string;
  response: string;
  /** What the server said before its answer. */
  messages: string[];
  ms: number;
}

/** Calls of a person who tries a tool in the console: real ones, on the record like any other. */
export class ToolCalls {
  readonly #options: ToolCallsOptions;

  constructor(options: ToolCallsOptions) {
    this.#options = options;
  }

  async call(call: ToolCall): Promise<ToolAnswer> {
    const { server, tool: name, args, principal, isConfirmed } = call;
    const { pool, gate } = this.#options;
    const managed = pool.resolve(server);
    const tool = this.#resolve(server, name);
    checkFits(tool, args);
    const scope = {};
    try {
      const mustAgree = gate.enterTried({ tool, principal, scope });
      const risk = riskOf(tool) ?? (mustAgree ? "changes" : undefined);
      if (risk !== undefined && !isConfirmed) {
        const error = unconfirmed(name, risk);
        // Else it is the form's own question, and no rule of anybody's.
        if (mustAgree) gate.refused({ subject: `${server}.${name}`, principal }, error);
        throw error;
      }
      return await this.#make(managed, call);
    } finally {
      gate.ended(scope);
    }
  }

  async #make(
    managed: ManagedServer,
    { server, tool: name, args, principal, signal }: ToolCall,
  ): Promise<ToolAnswer> {
    const params = JSON.stringify({ name, arguments: args });
    const messages: string[] = [];
    const started = performance.now();
    let request = requestText(0, "tools/call", params);
    let response: string | undefined;
    let failure = "";
    try {
      const answer = await managed.call({
        method: "tools/call",
        params,
        timeoutMs: Math.min(managed.timeoutMs, LIMIT_MS),
        streams: true,
        onMessage: (text) => {
          if (messages.length >= MOST_MESSAGES) return;
          messages.push(ownCopy(shortened(text, MESSAGE_LENGTH), MESSAGE_LENGTH));
        },
        signal: AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]),
      });
      request = requestText(answer.id, "tools/call", params);
      response = answer.text;
      return { request, response, messages, ms: performance.now() - started };
    } catch (error) {
      const told = inWords(error, server);
      failure = errorText(0, told.rpcCode, told.message, told.toBody());
      throw told;
    } finally {
      const ms = performance.now() - started;
      this.#options.onCall({
        scope: { text: request, atServer: { start: started, ms } },
        target: { server, name },
        session: { ...CONSOLE, principal },
        answer: {
          text: response ?? failure,
          isError: response === undefined || isFailure(response),
          started,
          ms,
        },
      });
    }
  }

  #resolve(server: string, name: string): CatalogTool {
    const { tools } = this.#options.catalog.of(server);
    const tool = tools.find((tool) => tool.name === name);
    if (!tool) {
      const near = nearestNames(name, tools.map((tool) => tool.name));
      throw new GatewayError("TOOL_NOT_FOUND", {
        message: `Server "${server}" has no tool "${name.slice(0, 100)}"`,
        ...(near.length > 0 ? { hint: `Did you mean ${near.join(", ")}?` } : {}),
      });
    }
    if (!tool.enabled) {
      throw new GatewayError("TOOL_DISABLED", {
        message: `"${name}" is switched off: nobody can call it`,
        recoveryAction: "Select it under Configure tools of its server",
      });
    }
    return tool;
  }
}

/** What a call may do: destroy, as the tool says itself, or change things, as it does not deny. */
export type ToolRisk = "destroys" | "changes";

/** Undefined where a tool says that it reads alone, or only adds; by MCP, silence denies nothing. */
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
      ? `"${name}" says that it may delete or overwrite, and nobody has confirmed the call`
      : `"${name}" may change things, and nobody has confirmed the call`,
    recoveryAction: "Confirm the call",
    recoverySteps: ['Send "confirmed": true with the arguments'],
  });
}

function checkFits(tool: CatalogTool, args: Record<string, unknown>): void {
  const problems = checkArguments(tool, args);
  if (problems.length === 0) return;
  const words = problems.map(({ path, message }) => path === "" ? message : `${path}: ${message}`)
    .map((sentence) => sentence.replace(/\.$/, ""));
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `Not called: ${words.join("; ")}`,
    recoveryAction: "Correct these arguments and call again",
  });
}

function isFailure(response: string): boolean {
  const result = memberText(response, "result");
  return result === undefined || memberText(result, "isError") === "true";
}

function inWords(error: unknown, server: string): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return new GatewayError("TIMEOUT", {
      message: `Server "${server}" did not answer within ${LIMIT_MS / 1000} s`,
    });
  }
  if (error instanceof DOMException && error.name === "AbortError") {
    return new GatewayError("TIMEOUT", {
      message: "The call was cancelled before the server answered",
      recoveryAction: "Call again",
    });
  }
  return new GatewayError("INTERNAL", { cause: error });
}
