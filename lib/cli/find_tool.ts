import { Catalog } from "../catalog/catalog.ts";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import { GatewayError } from "../core/errors.ts";
import { nearestNames } from "../core/text.ts";
import { isAway } from "../core/server.ts";
import { notConnected } from "../servers/status.ts";
import { type NameTable, NameTables } from "../catalog/name_table.ts";
import { namesOf, namespacedName } from "../catalog/names.ts";
import { ownerAmong, resolveTool } from "../catalog/resolve.ts";
import { RESERVED_NAMES } from "../mcp/builtin_names.ts";
import type { AllTools } from "../operations/tool_search.ts";
import {
  type ListedTool,
  listServers,
  type ServersAccess,
  type WaitingTool,
} from "./servers_access.ts";

/** A tool with the names that clients have for it besides its own. */
export interface NamedTool extends ListedTool {
  /** `git.search-repositories` */
  namespaced: string;
  /** `git_search_repositories` */
  flat: string;
}

/** All tools under the names that the gateway gives them, in order. */
export class NamedTools {
  readonly all: readonly NamedTool[];
  readonly #table: NameTable;

  constructor({ tools, maxNameLength }: AllTools) {
    const catalog = new Catalog();
    for (const [server, own] of Map.groupBy(tools, ({ server }) => server)) {
      // First, so that they are read once.
      catalog.setEnabled(server, own.filter(({ enabled }) => enabled).map(({ name }) => name));
      catalog.setListed(server, own.map(({ definition }) => JSON.stringify(definition)));
    }
    this.#table = new NameTables(RESERVED_NAMES, maxNameLength).of(catalog.snapshot);
    this.all = Array.from(this.#table.tools(), (tool) => this.#named(tool))
      .sort((a, b) => a.namespaced < b.namespaced ? -1 : 1);
  }

  /** The one tool that a name means, as at the endpoints; one that is off, too. */
  resolve(name: string): NamedTool {
    const view = { table: this.#table, naming: "namespaced" as const, withDisabled: true };
    try {
      return this.#named(resolveTool(view, name));
    } catch (error) {
      throw this.#inCommandWords(error, name);
    }
  }

  #named(tool: CatalogTool): NamedTool {
    const { server, name, enabled, definition } = tool;
    const namespaced = this.#table.nameOf(tool, "namespaced");
    return {
      server,
      name,
      enabled,
      definition,
      namespaced,
      flat: this.#table.nameOf(tool, "flat"),
    };
  }

  /** What to do is another thing here than at an endpoint. */
  #inCommandWords(error: unknown, name: string): unknown {
    if (!(error instanceof GatewayError) || error.code !== "TOOL_NOT_FOUND") return error;
    const { suggestedTools = [] } = error.details;
    if (this.#table.byOriginal(name).length > 1) {
      return new GatewayError("INVALID_ARGUMENTS", {
        message: error.message,
        recoverySteps: [`Give one of ${suggestedTools.join(", ")}`],
      });
    }
    const guesses = suggestedTools.length > 0
      ? suggestedTools
      : nearestNames(name, this.all.map((tool) => tool.name));
    return new GatewayError("TOOL_NOT_FOUND", {
      message: `There is no tool "${name.slice(0, 200)}"`,
      recoverySteps: ["See `quartermaster tools list`"],
      ...(guesses.length > 0 ? { hint: `Did you mean ${guesses.join(", ")}?` } : {}),
    });
  }
}

/**
 * The same among all tools there are. Says of one that is kept back where to decide on it, and of
 * one whose server is not up how that is.
 */
export async function resolveListed(
  name: string,
  servers: Pick<ServersAccess, "isRunning" | "allTools" | "waiting" | "run">,
): Promise<NamedTool> {
  const list = await servers.allTools();
  try {
    return new NamedTools(list).resolve(name);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== "TOOL_NOT_FOUND") throw error;
    // Whoever may not decide is told what everybody is told.
    const waiting = await servers.waiting().catch(() => []);
    const found = waiting.find((tool) =>
      !tool.isServed && namesOf(tool.server, tool.name, list.maxNameLength).includes(name)
    );
    if (found) throw keptBack(found);
    const away = servers.isRunning ? (await listServers(servers)).filter(isAway) : [];
    const owner = ownerAmong(away, name);
    throw owner ? notConnected(owner) : error;
  }
}

function keptBack({ server, name, state }: WaitingTool): GatewayError {
  const whole = namespacedName(server, name);
  return new GatewayError("TOOL_QUARANTINED", {
    message: state === "quarantined"
      ? `Tool "${whole}" is in quarantine: its definition looks like an attack`
      : `Tool "${whole}" is held: its server added it, and no one has approved it yet`,
    recoverySteps: [
      `Review it with \`quartermaster review show ${whole}\``,
      "Or decide in the console, under Security, Review: /security/review",
    ],
  });
}
