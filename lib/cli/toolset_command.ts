import { type ErrorCode, GatewayError } from "../core/errors.ts";
import type { Command } from "./command.ts";

/** What to do next on a command line, where the error's own steps are for models. */
const STEPS: Partial<Record<ErrorCode, string[]>> = {
  NOT_FOUND: ["See `deno task cli toolset list`"],
  TOOL_NOT_FOUND: ["See `deno task cli tools list`", "Nothing was saved"],
  CONFLICT: ["Choose another name, or overwrite it with --replace"],
};

/** A command for toolsets, whose errors speak of commands. */
export function toolsetCommand(command: Command): Command {
  return {
    ...command,
    async run(input) {
      try {
        return await command.run(input);
      } catch (error) {
        throw inCommandWords(error);
      }
    },
  };
}

function inCommandWords(error: unknown): unknown {
  const steps = error instanceof GatewayError ? STEPS[error.code] : undefined;
  if (!(error instanceof GatewayError) || !steps) return error;
  const { suggestedTools: _, ...details } = error.details;
  return new GatewayError(error.code, {
    ...details,
    message: error.message,
    recoveryAction: steps[0]!,
    recoverySteps: steps,
    cause: error,
  });
}
