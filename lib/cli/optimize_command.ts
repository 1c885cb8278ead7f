import { configError } from "../config/problem.ts";
import { type ErrorCode, GatewayError } from "../core/errors.ts";
import { oneTool } from "./arguments.ts";
import type { Command, CommandInput } from "./command.ts";
import { resolveTool, withNames } from "./find_tool.ts";
import type { GatewayClient } from "./gateway_client.ts";
import type { OptimizationClient, ToolRef } from "./optimization_client.ts";
import { resolveGateways } from "./servers_access.ts";

/** What to do next on a command line, where the error's own steps are for models. */
const STEPS: Partial<Record<ErrorCode, string[]>> = {
  OPTIMIZATION_DISABLED: ["Switch it on with `deno task cli optimize enable`"],
  OPERATION_IN_PROGRESS: ["See `deno task cli optimize jobs`"],
  PROMOTION_REFUSED: [
    "Try it on a model with `deno task cli optimize evaluate SERVER.TOOL CANDIDATE`",
    "Or promote it all the same with --reason TEXT, which is kept",
  ],
  TOOL_DISABLED: ["Turn it on with `deno task cli server tools SERVER`"],
  TOOL_NOT_FOUND: ["See `deno task cli tools list`"],
  SERVER_NOT_FOUND: ["See `deno task cli server list`"],
};

/** A command of the family, whose errors speak of commands. */
export function optimizeCommand(command: Command): Command {
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

export function inCommandWords(error: unknown): unknown {
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

export interface OpenOptimization {
  gateway: GatewayClient;
  optimization: OptimizationClient;
}

/** Only a gateway that runs can optimize, and only it knows how things stand. */
export async function openOptimization(input: CommandInput): Promise<OpenOptimization> {
  const [found] = await resolveGateways(input);
  const gateway = found!.client;
  return { gateway, optimization: gateway.optimization() };
}

/** The one tool that the command names, by any of its names. */
export async function namedTool(
  command: string,
  input: Pick<CommandInput, "positionals">,
  gateway: GatewayClient,
): Promise<ToolRef> {
  return await findRef(oneTool(command, input), gateway);
}

/** The tool and the candidate that the command names. */
export async function namedCandidate(
  command: string,
  { positionals }: Pick<CommandInput, "positionals">,
  gateway: GatewayClient,
): Promise<ToolRef & { candidateId: string }> {
  const [name, candidateId, ...others] = positionals;
  if (name === undefined || candidateId === undefined || others.length > 0) {
    throw configError(
      `${command} takes a tool and one of its candidates`,
      `Write it as: deno task cli ${command} SERVER.TOOL CANDIDATE`,
    );
  }
  return { ...await findRef(name, gateway), candidateId };
}

async function findRef(name: string, gateway: GatewayClient): Promise<ToolRef> {
  return refOf(name, await gateway.allTools());
}

/**
 * What a name means. A tool that is not there now may still have a promotion and a history, so that
 * `server.tool` in full is taken as it is, and the gateway says whether it knows it.
 */
export function refOf(
  name: string,
  tools: Awaited<ReturnType<GatewayClient["allTools"]>>,
): ToolRef {
  try {
    const { server, name: tool } = resolveTool(name, withNames(tools));
    return { server, tool };
  } catch (error) {
    const [, server = "", tool = ""] = /^([\w-]+)\.(.+)$/s.exec(name) ?? [];
    const isKnown = tools.some((other) => other.server === server);
    if (tool === "" || isKnown) throw error;
    return { server, tool };
  }
}

export function fullName({ server, tool }: ToolRef): string {
  return `${server}.${tool}`;
}
