import { asAbortSignal } from "../core/cancellation.ts";
import { z } from "zod";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import { GatewayError } from "../core/errors.ts";
import { isObject, requestText } from "../core/rpc.ts";
import { toolErrorResult } from "../core/tool_error.ts";
import { actingFor } from "../telemetry/audit_origin.ts";
import { canSample, sample } from "./client_sampling.ts";
import { placeOf } from "./port_place.ts";
import type { ClientPort, RequestScope } from "./surface.ts";

/** How long a person may take to answer a question. */
const CONSENT_TIMEOUT_MS = 5 * 60_000;

/** What a built-in tool can do besides answering. */
export interface ToolContext {
  signal: AbortSignal;
  /** Who the tool is called for. */
  principal: string;
  /** Asks the person behind the client to agree; undefined where the client cannot ask. */
  confirm?: ((message: string) => Promise<boolean>) | undefined;
  /**
   * Has the client's model write something, by a sampling/createMessage with these params; resolves
   * with its result, or throws CANNOT_GENERATE. Undefined where the client lends no model.
   */
  sample?: ((params: Record<string, unknown>) => Promise<Record<string, unknown>>) | undefined;
}

/** A tool of the gateway's own. */
export interface BuiltinTool<Input extends z.ZodObject = z.ZodObject> {
  name: string;
  title: string;
  /** A text, or how to make it for a caller, where it speaks of what that one can see. */
  description: string | ((principal: string) => string);
  input: Input;
  annotations?: { readOnlyHint?: boolean; destructiveHint?: boolean; idempotentHint?: boolean };
  /** Whether it stands for the call of another tool. */
  forwards?: boolean;
  /** Throws where it cannot be called at all, whatever the arguments are. */
  admit?(): void;
  run(input: z.infer<Input>, context: ToolContext): Promise<BuiltinResult | ForwardedCall>;
}

export interface BuiltinResult {
  /** What a model reads. */
  text: string;
  data: Record<string, unknown>;
}

/** A call of another tool, whose result is the result. */
export interface ForwardedCall {
  forward: CatalogTool;
  /** The argument that holds the other tool's arguments. */
  argumentsIn: string;
}

/** Data as the text of a result: what a model reads is what a program gets. */
export function jsonResult(data: Record<string, unknown>): BuiltinResult {
  return { text: JSON.stringify(data), data };
}

/** Forgets the input's type, which `run` has checked by then. */
export function builtin<Input extends z.ZodObject>(tool: BuiltinTool<Input>): BuiltinTool {
  return tool as unknown as BuiltinTool;
}

/** Calls a built-in tool with a request's arguments; gives the result of the call. */
export async function callBuiltin(
  tool: BuiltinTool,
  scope: RequestScope,
  port: ClientPort,
): Promise<Record<string, unknown> | ForwardedCall> {
  tool.admit?.();
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
    const origin = { principal: port.principal, from: () => placeOf(port) };
    const done = await actingFor(origin, () =>
      tool.run(input.data, {
        signal: asAbortSignal(scope.signal),
        principal: port.principal,
        confirm: canAsk ? (message) => confirm(scope, port, message) : undefined,
        sample: canSample(port) ? (params) => sample(scope, port, params) : undefined,
      }));
    if ("forward" in done) return done;
    return { content: [{ type: "text", text: done.text }], structuredContent: done.data };
  } catch (error) {
    // Even a name that is not found: the tool was found, and it is the model that can mend this.
    if (error instanceof GatewayError) return toolErrorResult(error);
    throw error;
  }
}

export function isForwarded(
  result: Record<string, unknown> | ForwardedCall,
): result is ForwardedCall {
  return "forward" in result;
}

/** The tool as it is listed. */
export function describeBuiltin(tool: BuiltinTool, principal: string) {
  const { name, title, input, annotations } = tool;
  const { $schema: _, properties = {}, ...schema } = z.toJSONSchema(input, { io: "input" });
  // What is only there for callers that learnt it elsewhere is understood, and not listed.
  const listed = Object.entries(properties).filter(([, property]) =>
    typeof property === "boolean" || property.deprecated !== true
  );
  const inputSchema = { ...schema, properties: Object.fromEntries(listed) };
  const description = descriptionOf(tool, principal);
  return { name, title, description, inputSchema, annotations: { title, ...annotations } };
}

export function descriptionOf({ description }: BuiltinTool, principal: string): string {
  return typeof description === "string" ? description : description(principal);
}

/** Clients from before there were two modes name none. */
export function canFillForms(elicitation: unknown): boolean {
  return isObject(elicitation) && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** Asks by elicitation; anything but a clear yes is a no. */
export function confirm(
  scope: RequestScope,
  port: ClientPort,
  message: string,
): Promise<boolean> {
  if (scope.signal.aborted) return Promise.resolve(false);
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
