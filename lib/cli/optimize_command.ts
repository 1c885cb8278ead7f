import { configError } from "../config/problem.ts";
import { oneNameOf } from "./arguments.ts";
import type { Command, CommandInput } from "./command.ts";
import { NamedTools } from "./find_tool.ts";
import type { GatewayClient } from "./gateway_client.ts";
import type { OptimizationClient, ToolRef } from "./optimization_client.ts";
import { inCommandWords } from "./optimize_words.ts";
import { resolveGateways } from "./servers_access.ts";

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
  return await findRef(oneNameOf("tool", command, input), gateway);
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
  return refOf(name, new NamedTools(await gateway.allTools()));
}

/**
 * What a name means. A tool that is not there now may still have a promotion and a history, so that
 * `server.tool` in full is taken as it is, and the gateway says whether it knows it.
 */
export function refOf(name: string, tools: NamedTools): ToolRef {
  try {
    const { server, name: tool } = tools.resolve(name);
    return { server, tool };
  } catch (error) {
    const [, server = "", tool = ""] = /^([\w-]+)\.(.+)$/s.exec(name) ?? [];
    const isKnown = tools.all.some((other) => other.server === server);
    if (tool === "" || isKnown) throw error;
    return { server, tool };
  }
}

export function fullName({ server, tool }: ToolRef): string {
  return `${server}.${tool}`;
}
