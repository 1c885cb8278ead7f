import { type ErrorCode, GatewayError } from "../core/errors.ts";
import { toolErrorResult } from "../core/tool_error.ts";
import { errorText, resultText, type RpcId } from "../core/rpc.ts";

/** What the caller's request got wrong as a request; everything else happened while it was served. */
const REQUEST_ERRORS: ReadonlySet<ErrorCode> = new Set([
  "TOOL_NOT_FOUND",
  "SERVER_NOT_FOUND",
  "NOT_FOUND",
  "INVALID_PARAMS",
]);

/** An error as the answer to a request: a result the model can read where a tool was called. */
export function rpcErrorText(id: RpcId, method: string, error: unknown): string {
  const known = GatewayError.from(error);
  const isToolCall = method === "tools/call" && !REQUEST_ERRORS.has(known.code);
  if (isToolCall) return resultText(id, JSON.stringify(toolErrorResult(known)));
  return errorText(id, known.rpcCode, known.message, known.toBody());
}
