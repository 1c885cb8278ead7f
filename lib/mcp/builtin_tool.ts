import type { CallToolResult, Tool, ToolAnnotations } from "@modelcontextprotocol/sdk/types";
import * as z from "zod";
import { asAbortSignal } from "../core/async.ts";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import type { Right } from "../core/access.ts";
import { GatewayError, toolErrorResult } from "../core/errors.ts";
import { idText, notificationText, withFirstMember } from "../core/rpc.ts";
import {
  type Client,
  type McpRequest,
  originOf,
  progressTokenOf,
  type SampleModel,
  type SentTokens,
} from "../core/client.ts";
import { actingFor } from "../telemetry/audit_log.ts";
import type { CallRecord } from "../telemetry/call_recorder.ts";
import { canElicit, canSample, elicitConsent, sample } from "./client_questions.ts";

/** What a built-in tool can do besides answering. */
export interface ToolContext {
  signal: AbortSignal;
  principal: string;
  /** Whose session it is: which of a tool's promoted texts it is shown. */
  client?: Pick<Client, "profile" | "unit"> | undefined;
  from?: (() => string) | undefined;
  /** Sends progress to the client; undefined if it did not request progress. */
  progress?: ((message: string) => void) | undefined;
  /** Asks the person behind the client to agree; undefined where the client cannot ask. */
  confirm?: ((message: string) => Promise<boolean>) | undefined;
  /** What the session's model was sent so far, if that is counted. */
  sent?: Readonly<SentTokens> | undefined;
  /** Undefined if the client does not offer its model. */
  sample?: SampleModel | undefined;
}

export interface BuiltinTool<Input extends z.ZodObject = z.ZodObject> {
  name: string;
  title: string;
  /** A text, or how to make it for a caller, where it speaks of what that one can see. */
  description: string | ((principal: string) => string);
  input: Input;
  annotations?: ToolAnnotations;
  /** What it asks of its caller: every right, and whether it is closed to narrow tokens. */
  needs?: { rights: readonly Right[]; isWhole: boolean };
  /** Whether it stands for the call of another tool. */
  forwards?: boolean;
  /** Throws where it cannot be called at all, whatever the arguments are. */
  admit?(): void;
  run(input: z.infer<Input>, context: ToolContext): Promise<BuiltinResult | ForwardedCall>;
}

export interface BuiltinResult {
  text: string;
  data: Record<string, unknown>;
  /** For the activity log, if it was a search. */
  call?: CallRecord;
}

/** What goes to the client, and the record of a search. */
type CallResult =
  & Pick<CallToolResult, "content" | "structuredContent" | "isError">
  & Pick<BuiltinResult, "call">;

/** A call of another tool, whose result is the result. */
export interface ForwardedCall {
  forward: CatalogTool;
  /** The argument that holds the other tool's arguments. */
  argumentsIn: string;
  /** Why the call is not made, if its arguments are wrong; recorded as a call that failed. */
  refusal?: GatewayError;
}

/** Data as the text of a result: what a model reads is what a program gets. */
export function jsonResult(data: Record<string, unknown>): BuiltinResult {
  return { text: JSON.stringify(data), data };
}

/** Forgets the input's type, which `run` has checked by then. */
export function builtin<Input extends z.ZodObject>(tool: BuiltinTool<Input>): BuiltinTool {
  return tool as unknown as BuiltinTool;
}

export async function callBuiltin(
  tool: BuiltinTool,
  request: McpRequest,
  client: Client,
  explain: (error: GatewayError) => GatewayError = (error) => error,
): Promise<CallResult | ForwardedCall> {
  tool.admit?.();
  const { arguments: args = {} } = request.params;
  const input = tool.input.safeParse(args);
  if (!input.success) {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `${tool.name}: ${z.prettifyError(input.error)}`,
      recoverySteps: [`Correct the arguments of ${tool.name} and call it again`],
    });
  }
  try {
    const origin = { principal: client.principal, from: () => originOf(client) };
    const done = await actingFor(origin, () =>
      tool.run(input.data, {
        signal: asAbortSignal(request.signal),
        principal: client.principal,
        client,
        from: origin.from,
        sent: client.sent,
        progress: progressOf(request),
        confirm: canElicit(client)
          ? async (message) => await elicitConsent(request, client, message) === "approved"
          : undefined,
        sample: canSample(client) ? (params) => sample(request, client, params) : undefined,
      }));
    if ("forward" in done) return done;
    const { text, data, call } = done;
    const result: CallResult = { content: [{ type: "text", text }], structuredContent: data };
    return call ? { ...result, call } : result;
  } catch (error) {
    // Even a name that is not found: the tool was found, and the model can correct its arguments.
    if (error instanceof GatewayError) return toolErrorResult(explain(error));
    throw error;
  }
}

function progressOf(request: McpRequest): ToolContext["progress"] {
  const progressToken = progressTokenOf(request);
  if (progressToken === undefined) return undefined;
  let progress = 0;
  return (message) => {
    const told = JSON.stringify({ progress: ++progress, message });
    const params = withFirstMember(told, "progressToken", idText(progressToken));
    request.send(notificationText("notifications/progress", params));
  };
}

export function describeBuiltin(tool: BuiltinTool, principal: string): Tool {
  const { name, title, input, annotations } = tool;
  const { $schema: _, properties = {}, ...schema } = z.toJSONSchema(input, { io: "input" });
  // Aliases for callers that know them from elsewhere are accepted, but not listed.
  const listed = Object.entries(properties).filter(([, property]) =>
    typeof property === "boolean" || property.deprecated !== true
  );
  // The types of zod and of the SDK differ in how they write a JSON Schema.
  const inputSchema = { ...schema, properties: Object.fromEntries(listed) } as Tool["inputSchema"];
  const description = descriptionOf(tool, principal);
  return { name, title, description, inputSchema, annotations: { title, ...annotations } };
}

export function descriptionOf({ description }: BuiltinTool, principal: string): string {
  return typeof description === "string" ? description : description(principal);
}
