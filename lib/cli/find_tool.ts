import { GatewayError } from "../core/errors.ts";
import { nearestNames } from "../core/nearest.ts";
import { flatNames, flatten, namespacedName } from "../routing/names.ts";
import type { ListedTool, ServersAccess, WaitingTool } from "./servers_access.ts";

/** A tool with the names a caller may use for it besides its own. */
export interface NamedTool extends ListedTool {
  /** `git.search-repositories` */
  namespaced: string;
  /** `git_search_repositories` */
  flat: string;
}

/** All tools under all their names, in order. */
export function withNames(tools: readonly ListedTool[]): NamedTool[] {
  const full = (tool: ListedTool) => namespacedName(tool.server, tool.name);
  const flat = flatNames(tools.map(full));
  return tools.map((tool) => ({ ...tool, namespaced: full(tool), flat: flat.get(full(tool))! }))
    .sort((a, b) => a.namespaced < b.namespaced ? -1 : 1);
}

/** The one tool that a name means: `server.tool`, flat, or the server's own where only one has it. */
export function resolveTool(name: string, tools: readonly NamedTool[]): NamedTool {
  const exact = tools.find((tool) => tool.namespaced === name) ??
    tools.find((tool) => tool.flat === name);
  if (exact) return exact;
  const own = tools.filter((tool) => tool.name === name);
  if (own.length === 1) return own[0]!;
  if (own.length > 1) {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `${own.length} servers have a tool "${name}"`,
      recoverySteps: [`Give one of ${own.map((tool) => tool.namespaced).join(", ")}`],
    });
  }
  const near = nearestNames(name, tools.map((tool) => tool.namespaced));
  const nearOwn = nearestNames(name, tools.map((tool) => tool.name));
  const guesses = near.length > 0 ? near : nearOwn;
  throw new GatewayError("TOOL_NOT_FOUND", {
    message: `There is no tool "${name.slice(0, 200)}"`,
    recoverySteps: ["See `deno task cli tools list`"],
    ...(guesses.length > 0 ? { hint: `Did you mean ${guesses.join(", ")}?` } : {}),
  });
}

/** The same among all tools there are; says of one that is kept back where to decide on it. */
export async function resolveListed(
  name: string,
  servers: Pick<ServersAccess, "allTools" | "waiting">,
): Promise<NamedTool> {
  const tools = withNames(await servers.allTools());
  try {
    return resolveTool(name, tools);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== "TOOL_NOT_FOUND") throw error;
    // Whoever may not decide is told what everybody is told.
    const waiting = await servers.waiting().catch(() => []);
    const found = waiting.find((tool) => !tool.isServed && namesOf(tool).includes(name));
    throw found ? keptBack(found) : error;
  }
}

function namesOf({ server, name }: WaitingTool): string[] {
  const whole = namespacedName(server, name);
  return [whole, flatten(whole), name];
}

function keptBack({ server, name, state }: WaitingTool): GatewayError {
  const whole = namespacedName(server, name);
  return new GatewayError("TOOL_QUARANTINED", {
    message: state === "quarantined"
      ? `Tool "${whole}" is in quarantine: its definition looks like an attack`
      : `Tool "${whole}" is held: its server has added it, and nobody has approved it yet`,
    recoverySteps: [
      `Look at it with \`deno task cli review show ${whole}\``,
      "Or decide in the console, under Security, Review: /security/review",
    ],
  });
}
