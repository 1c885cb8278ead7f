import { z } from "zod";
import { GatewayError } from "../core/errors.ts";
import { nearestNames } from "../core/nearest.ts";
import { errorText, isObject, requestText, resultText } from "../core/rpc.ts";
import { toolErrorResult } from "../core/tool_error.ts";
import { VERSION } from "../core/version.ts";
import { flatten } from "../routing/names.ts";
import {
  type ClientPort,
  type RequestScope,
  type Surface,
  type SurfaceSession,
  toolNameOf,
} from "./surface.ts";

/** How long a person may take to answer a question. */
const CONSENT_TIMEOUT_MS = 5 * 60_000;

/** What a built-in tool can do besides answering. */
export interface ToolContext {
  signal: AbortSignal;
  /** Asks the person behind the client to agree; undefined where the client cannot ask. */
  confirm?: ((message: string) => Promise<boolean>) | undefined;
}

/** A tool of the gateway's own. */
export interface BuiltinTool<Input extends z.ZodObject = z.ZodObject> {
  name: string;
  title: string;
  description: string;
  input: Input;
  annotations?: { readOnlyHint?: boolean; destructiveHint?: boolean; idempotentHint?: boolean };
  run(input: z.infer<Input>, context: ToolContext): Promise<BuiltinResult>;
}

export interface BuiltinResult {
  /** What a model reads. */
  text: string;
  data: Record<string, unknown>;
}

/** Forgets the input's type, which `run` has checked by then. */
export function builtin<Input extends z.ZodObject>(tool: BuiltinTool<Input>): BuiltinTool {
  return tool as unknown as BuiltinTool;
}

/** A door to tools of the gateway's own. */
export class BuiltinSurface implements Surface {
  readonly #name: string;
  readonly #instructions: string;
  readonly #tools: Map<string, BuiltinTool>;
  readonly #list: string;

  constructor(options: { name: string; instructions: string; tools: BuiltinTool[] }) {
    this.#name = options.name;
    this.#instructions = options.instructions;
    this.#tools = new Map(options.tools.map((tool) => [tool.name, tool]));
    this.#list = JSON.stringify({ tools: options.tools.map(describe) });
  }

  introduce(): Promise<Record<string, unknown>> {
    return Promise.resolve({
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: this.#name, title: "Quartermaster", version: VERSION },
      instructions: this.#instructions,
    });
  }

  open(port: ClientPort): SurfaceSession {
    return {
      request: (scope) => this.#request(scope, port),
      notify: () => {},
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }

  async #request(scope: RequestScope, port: ClientPort): Promise<string> {
    switch (scope.method) {
      case "ping":
        return resultText(scope.id, "{}");
      case "tools/list":
        return resultText(scope.id, this.#list);
      case "tools/call":
        return resultText(scope.id, JSON.stringify(await this.#call(scope, port)));
      default:
        return errorText(scope.id, -32601, `Method not found: ${scope.method}`);
    }
  }

  async #call(scope: RequestScope, port: ClientPort): Promise<Record<string, unknown>> {
    const tool = this.#find(toolNameOf(scope.params));
    const { arguments: args = {} } = scope.params;
    const input = tool.input.safeParse(args);
    if (!input.success) {
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: `${tool.name}: ${z.prettifyError(input.error)}`,
        recoverySteps: [`Correct the arguments of ${tool.name} and call it again`],
      });
    }
    const canAsk = canFillForms(port.client.capabilities.elicitation);
    try {
      const { text, data } = await tool.run(input.data, {
        signal: scope.signal,
        confirm: canAsk ? (message) => confirm(scope, port, message) : undefined,
      });
      return { content: [{ type: "text", text }], structuredContent: data };
    } catch (error) {
      // Even a name that is not found: the tool was found, and it is the model that can mend this.
      if (error instanceof GatewayError) return toolErrorResult(error);
      throw error;
    }
  }

  #find(name: string): BuiltinTool {
    const tool = this.#tools.get(name) ??
      [...this.#tools.values()].find((tool) => flatten(tool.name) === name);
    if (tool) return tool;
    const near = nearestNames(name, this.#tools.keys(), 3);
    throw new GatewayError("TOOL_NOT_FOUND", {
      message: `There is no tool "${name.slice(0, 200)}" here`,
      ...(near.length > 0
        ? { hint: `Did you mean ${near.join(", ")}?`, suggestedTools: near }
        : {}),
    });
  }
}

function describe({ name, title, description, input, annotations }: BuiltinTool) {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: "input" });
  return { name, title, description, inputSchema, annotations: { title, ...annotations } };
}

/** Clients from before there were two modes name none. */
function canFillForms(elicitation: unknown): boolean {
  return isObject(elicitation) && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** Asks by elicitation; anything but a clear yes is a no. */
function confirm(scope: RequestScope, port: ClientPort, message: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), CONSENT_TIMEOUT_MS);
  const params = JSON.stringify({
    message,
    requestedSchema: {
      type: "object",
      properties: { agree: { type: "boolean", title: "I agree", default: false } },
      required: ["agree"],
    },
  });
  const question = requestText(0, "elicitation/create", params);
  scope.send(port.ask(question, 0, (text) => {
    const { result } = JSON.parse(text);
    resolve(
      isObject(result) && result.action === "accept" && isObject(result.content) &&
        result.content.agree === true,
    );
  }));
  scope.signal.addEventListener("abort", () => resolve(false));
  return promise.finally(() => clearTimeout(timer));
}
