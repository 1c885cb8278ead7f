import { type ErrorCode, GatewayError } from "../core/errors.ts";

/** What to do next on a command line, where the error's own steps do not name the command. */
const STEPS: Partial<Record<ErrorCode, string[]>> = {
  OPTIMIZATION_DISABLED: ["Switch it on with `deno task cli optimize enable`"],
  OPERATION_IN_PROGRESS: ["See `deno task cli optimize jobs`"],
  PROMOTION_REFUSED: [
    "Promote it all the same with --reason, which is kept",
    "Or put it to a model with `deno task cli optimize evaluate`",
  ],
  TOOL_DISABLED: ["Turn it on with `deno task cli server tools SERVER`"],
  TOOL_NOT_FOUND: ["See `deno task cli tools list`"],
  SERVER_NOT_FOUND: ["See `deno task cli server list`"],
};

/** An error whose steps speak of commands, without the tools that would help a model. */
export function inCommandWords(error: unknown): unknown {
  if (!(error instanceof GatewayError)) return error;
  const { suggestedTools, ...details } = error.details;
  const [first, ...others] = STEPS[error.code] ?? [];
  if (first === undefined && suggestedTools === undefined) return error;
  return new GatewayError(error.code, {
    ...details,
    message: error.message,
    ...(first === undefined ? {} : { recoveryAction: first, recoverySteps: [first, ...others] }),
    cause: error,
  });
}
