import { configError } from "../config/files.ts";
import { type Parameters, parametersOf } from "../core/parameters.ts";
import type { Command, CommandInput } from "./command.ts";
import {
  checkKnown,
  listServers,
  listTools,
  openTarget,
  type OperationTarget,
  serverNames,
} from "./operation_target.ts";
import { factsText, inert, listing, type Paint, painter, table, terminalLine } from "./terminal.ts";
import type { OutputOf } from "../operations/operation.ts";
import { type AllTools, TOOL_OPERATIONS } from "../operations/tool_search.ts";
import {
  type CommandExtras,
  NOT_RUNNING,
  type OutcomeView,
  readInput,
} from "./operation_command.ts";
import { Catalog } from "../catalog/catalog.ts";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import { GatewayError } from "../core/errors.ts";
import { didYouMean, nearestNames } from "../core/text.ts";
import { isObject } from "../core/rpc.ts";
import { isAway } from "../core/server.ts";
import { isPoor } from "../mcp/tool_directory.ts";
import { notConnected } from "../servers/status.ts";
import { type NameTable, NameTables } from "../catalog/name_table.ts";
import { namesOf, namespacedName } from "../catalog/names.ts";
import { ownerAmong, resolveTool } from "../catalog/resolve.ts";
import { RESERVED_NAMES } from "../mcp/builtin_names.ts";
import { REVIEW_OPERATIONS } from "../operations/review.ts";
import type { ReviewList } from "../trust/review_items.ts";

export const toolsList: Command = {
  usage: "tools list [--server NAME] [--filter TEXT]",
  meaning: "List the tools of all servers, and which are on",
  details: [
    "If no gateway is running, shows the tools that each server had when it was last connected.",
  ],
  flags: [
    { flag: "server", placeholder: "NAME", meaning: "Only this server's tools; can be repeated" },
    {
      flag: "filter",
      placeholder: "TEXT",
      meaning: "Only tools with all of these words in the name, title or description",
    },
  ],
  async run(input) {
    await using servers = await openTarget(input);
    const wanted = input.values.get("server");
    const names = wanted ? await serverNames(servers) : [];
    for (const name of wanted ?? []) checkKnown("server", name, names);
    const { all } = new NamedTools(await listTools(servers));
    const tools = all.filter((tool) =>
      (wanted?.includes(tool.server) ?? true) && matches(tool, input.flags.get("filter"))
    );
    const data = tools.map(({ definition: { title, description }, ...tool }) => ({
      ...tool,
      title,
      description,
    }));
    const rows = tools.length === 0 ? "" : listing(tools, { paint: painter(input.env) }, {
      STATE: ({ enabled }) => enabled ? { color: "green", text: "on" } : "off",
      NAME: ({ namespacedName }) => namespacedName,
      DESCRIPTION: ({ definition: { description, title = "" } }) =>
        (description ?? title).trim().split("\n")[0],
    });
    const offline = servers.isRunning ? "" : NOT_RUNNING;
    return { data: { tools: data }, text: rows + summary(tools, all.length) + offline };
  },
};

/** Whether a tool has every word of the filter somewhere in what describes it. */
function matches(
  { namespacedName, flatName, definition }: NamedTool,
  filter: string | boolean | undefined,
): boolean {
  if (typeof filter !== "string") return true;
  const { title = "", description = "" } = definition;
  const text = [namespacedName, flatName, title, description].join("\n").toLowerCase();
  return filter.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

function summary(tools: NamedTool[], total: number): string {
  if (total === 0) return "There are no tools. Add a server with `quartermaster server add`.\n";
  if (tools.length === 0) return "No tool matches.\n";
  const off = tools.filter(({ enabled }) => !enabled).length;
  const of = tools.length === total ? "" : ` of ${total}`;
  const count = `${tools.length}${of} ${total === 1 ? "tool" : "tools"}`;
  return `\n${count}${off === 0 ? "" : `, ${off} of them off`}.\n`;
}

/** What a tool says about its own effects; hints from a server, never promises. */
const HINTS: [name: string, ifTrue: string, ifFalse?: string][] = [
  ["readOnlyHint", "changes nothing", "may change things"],
  ["destructiveHint", "may delete or overwrite", "only adds"],
  ["idempotentHint", "a second call changes nothing more"],
  ["openWorldHint", "reaches systems outside its server", "stays within its server"],
];

export const toolsShow: Command = {
  usage: "tools show SERVER.TOOL",
  meaning: "Show what a tool does, its parameters, and whether it is on",
  details: [
    "The name can also be the flat name (SERVER_TOOL), SERVER:TOOL, or the server's own name if it is",
    "unique. Long names work in full, or truncated as clients see them.",
  ],
  async run(input) {
    await using servers = await openTarget(input);
    const data = await resolveListed(input.positionals[0]!, servers);
    return { data, text: toolText(data, painter(input.env)) };
  },
};

function toolText(tool: NamedTool, paint: Paint): string {
  const { definition, enabled, namespacedName, flatName } = tool;
  const { title, description = "", inputSchema, outputSchema, annotations } = definition;
  const heading = title === undefined || title === namespacedName ? "" : `  ${inert(title)}`;
  return [
    `${inert(namespacedName)}${heading}\n`,
    factsText({
      Names: inert([...new Set([namespacedName, flatName, tool.name])].join(", ")),
      State: enabled
        ? paint("green", "on")
        : `${paint("yellow", "off")} (quartermaster server tools ${tool.server})`,
      Hints: hintsOf(annotations),
    }, paint),
    description.trim() === "" ? "It has no description.\n" : `${inert(description).trim()}\n`,
    parametersText("Parameters", parametersOf(inputSchema), paint),
    ...(outputSchema === undefined
      ? []
      : [parametersText("Output", parametersOf(outputSchema), paint)]),
  ].join("\n");
}

function hintsOf(annotations: unknown): string | undefined {
  if (!isObject(annotations)) return undefined;
  const hints = HINTS.flatMap(([name, ifTrue, ifFalse]) => {
    const value = annotations[name];
    if (value === true) return [`${ifTrue} (${name})`];
    return value === false && ifFalse !== undefined ? [`${ifFalse} (${name}: false)`] : [];
  });
  return hints.length === 0 ? undefined : hints.join(", ");
}

function parametersText(heading: string, { rows, isCut }: Parameters, paint: Paint): string {
  if (rows.length === 0) return `${heading}: none\n`;
  const cells = rows.map((row) => [
    `  ${"  ".repeat(row.depth)}${inert(row.path)}`,
    inert(row.type),
    row.isRequired ? paint("yellow", "required") : "",
    terminalLine(meaningOf(row)),
  ]);
  return `${heading}:\n${table(cells)}${isCut ? "  ... and more\n" : ""}`;
}

function meaningOf(row: Parameters["rows"][number]): string {
  const { description, choices, limits, defaultValue } = row;
  return [
    description,
    choices && `one of ${choices.join(", ")}`,
    limits,
    defaultValue && `default ${defaultValue}`,
  ].filter((part) => part !== undefined && part !== "").join("; ");
}

type SearchOutput = OutputOf<typeof TOOL_OPERATIONS.search>;

export const SEARCH_EXTRAS: Record<string, CommandExtras> = {
  "tool.search": {
    details: [
      "The query can be several words. Relevance is from 0 to 1.",
    ],
    flags: [{ flag: "explain", meaning: "Explain the rank of each tool" }],
    read: readSearch,
    show: searchText,
  },
};

async function readSearch(input: CommandInput): Promise<Record<string, unknown>> {
  const query = input.positionals.join(" ").trim();
  if (query === "") {
    throw configError(
      "search requires a query: what the tool should do",
      'Usage: quartermaster search "read a file"',
    );
  }
  return await readInput(TOOL_OPERATIONS.search, { ...input, positionals: [query] });
}

function searchText({ found, degraded }: SearchOutput, { paint, flags }: OutcomeView): string {
  const note = degraded === undefined
    ? ""
    : `${paint("yellow", "Note:")} ${terminalLine(degraded)}\n`;
  if (found.length === 0) {
    return `${note}No tool found. Try another query, or run \`quartermaster tools list\`.\n`;
  }
  const [heading, ...lines] = listing(found, { paint }, {
    RELEVANCE: ({ relevance }) => relevance?.toFixed(2),
    NAME: ({ namespacedName }) => namespacedName,
    CATEGORY: ({ category }) => category,
    TOKENS: ({ tokens }) => tokens,
    SUMMARY: ({ summary }) => summary,
  }).trimEnd().split("\n");
  const rows = lines.flatMap((line, index) => {
    const why = flags.get("explain") ? whyOf(found[index]!) : "";
    return why === "" ? [line] : [line, paint("gray", `      ${why}`)];
  });
  const doubt = isPoor(found) ? "No good match. Best guesses:\n" : "";
  return `${doubt}${note}${[heading, ...rows].join("\n")}\n`;
}

function whyOf({ explanation = "", scores = {} }: SearchOutput["found"][number]): string {
  const parts = Object.entries(scores).map(([field, score = 0]) => ({ field, score }))
    .sort((a, b) => b.score - a.score)
    .map(({ field, score }) => `${field} ${score.toFixed(2)}`);
  return terminalLine([explanation, parts.join(", ")].filter((part) => part !== "").join(" | "));
}

type ListedTool = AllTools["tools"][number];

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

  constructor({ tools, maxNameLength }: AllTools) {
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
        recoverySteps: [`Use one of ${suggestedTools.join(", ")}`],
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
 * The tool that a name means. The error for one that is held says where to decide on it, and for
 * one whose server is not up how that is.
 */
export async function resolveListed(
  name: string,
  servers: Pick<OperationTarget, "isRunning" | "run">,
): Promise<NamedTool> {
  const list = await listTools(servers);
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
      ? `Tool "${whole}" is quarantined: its definition looks like an attack`
      : `Tool "${whole}" is held: the server added it, and nobody has approved it yet`,
    recoverySteps: [
      `Review it with \`quartermaster review show ${whole}\``,
      "Or review it in the console: /security/review",
    ],
  });
}
