import { Catalog } from "../catalog/catalog.ts";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import { GatewayError } from "../core/errors.ts";
import { didYouMean, nearestNames } from "../core/text.ts";
import { isAway } from "../core/server.ts";
import { notConnected } from "../servers/status.ts";
import { type NameTable, NameTables } from "../catalog/name_table.ts";
import { namesOf, namespacedName } from "../catalog/names.ts";
import { ownerAmong, resolveTool } from "../catalog/resolve.ts";
import { RESERVED_NAMES } from "../mcp/builtin_names.ts";
import { REVIEW_OPERATIONS } from "../operations/review.ts";
import type { ToolListing } from "../operations/server_reads.ts";
import type { ReviewList } from "../trust/review_items.ts";
import { listServers, type OperationTarget } from "./operation_target.ts";

type ListedTool = ToolListing["tools"][number];

/** A tool with the names that clients have for it besides its own. */
export interface NamedTool extends ListedTool {
  /** `git.search-repositories` */
  namespacedName: string;
  /** `git_search_repositories` */
  flatName: string;
}

export class NamedTools {
  readonly all: readonly NamedTool[];
  readonly #table: NameTable;

  constructor({ tools, maxNameLength }: ToolListing) {
    const catalog = new Catalog();
    for (const [server, own] of Map.groupBy(tools, ({ server }) => server)) {
      // First, so that they are read once.
      catalog.setEnabled(server, own.filter(({ enabled }) => enabled).map(({ name }) => name));
      catalog.setListed(server, own.map(({ definition }) => JSON.stringify(definition)));
    }
    this.#table = new NameTables(RESERVED_NAMES, maxNameLength).of(catalog.snapshot);
    this.all = Array.from(this.#table.tools(), (tool) => this.#named(tool))
      .sort((a, b) => a.namespacedName < b.namespacedName ? -1 : 1);
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
    const namespacedName = this.#table.nameOf(tool, "namespaced");
    const flatName = this.#table.nameOf(tool, "flat");
    return { server, name, namespacedName, flatName, enabled, definition };
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
      ...didYouMean(guesses),
    });
  }
}

/**
 * The same among all tools there are. Says of one that is kept back where to decide on it, and of
 * one whose server is not up how that is.
 */
export async function resolveListed(
  name: string,
  servers: Pick<OperationTarget, "isRunning" | "allTools" | "run">,
): Promise<NamedTool> {
  const list = await servers.allTools();
  try {
    return new NamedTools(list).resolve(name);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== "TOOL_NOT_FOUND") throw error;
    // A caller that may not see the review gets the plain error.
    const { items }: Pick<ReviewList, "items"> = await servers.run(REVIEW_OPERATIONS.list, {})
      .catch(() => ({ items: [] }));
    const found = items.find(({ server, tool, state, kind }) =>
      (state === "quarantined" || (state === "held" && kind !== "changed" && kind !== "invalid")) &&
      namesOf(server, tool, list.maxNameLength).includes(name)
    );
    if (found) throw keptBack(found);
    const away = servers.isRunning ? (await listServers(servers)).filter(isAway) : [];
    const owner = ownerAmong(away, name);
    throw owner ? notConnected(owner) : error;
  }
}

function keptBack({ server, tool, state }: ReviewList["items"][number]): GatewayError {
  const whole = namespacedName(server, tool);
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
