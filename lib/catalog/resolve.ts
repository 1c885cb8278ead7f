import type { CatalogTool } from "./catalog_tool.ts";
import { GatewayError } from "../core/errors.ts";
import { nearestNames } from "../core/text.ts";
import type { ServerStatus } from "../core/server.ts";
import { notConnected } from "../servers/status.ts";
import type { NameTable } from "./name_table.ts";
import { flatten, type Naming } from "./names.ts";

export class Builtins<Builtin extends { name: string }> {
  readonly #tools: ReadonlyMap<string, Builtin>;
  readonly #flat: ReadonlyMap<string, Builtin>;

  constructor(tools: readonly Builtin[]) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#flat = new Map(tools.map((tool) => [flatten(tool.name), tool]));
  }

  find(name: string): Builtin | undefined {
    return this.#tools.get(name) ?? this.#flat.get(name);
  }

  names(): Iterable<string> {
    return this.#tools.keys();
  }
}

export type Admits = (principal: string, tool: { server: string; name: string }) => boolean;

export interface ResolveContext {
  table: NameTable;
  naming: Naming;
  server?: string;
  /** The gateway's own tools, for suggestions. */
  builtins?: Pick<Builtins<{ name: string }>, "names">;
  /** Whether tools that are off are found as well; else they are not to be used. */
  withDisabled?: boolean;
  admits?: ((tool: CatalogTool) => boolean) | undefined;
  /** The servers that are not up, of those this caller may see: a name may be a tool of theirs. */
  away?: (() => readonly ServerStatus[]) | undefined;
}

/** The step where a client is listed all it can use; views with a search of their own replace it. */
export const LIST_AGAIN = "List the tools again and use a name from the list";

/** The one way from a name to a server's tool: finds it, or says why it cannot be used. */
export function resolveTool(view: ResolveContext, name: string): CatalogTool {
  const tool = view.server === undefined
    ? findAmongAll(view, name)
    : findOnServer(view, view.server, name);
  if (!tool || view.admits?.(tool) === false) {
    // Until a server has listed its tools, nobody can say that it has none of this name.
    const owner = ownerAmong(view.away?.() ?? [], name, view.server);
    throw quarantined(view, name) ?? (owner ? notConnected(owner) : notFound(view, name));
  }
  if (tool.enabled || view.withDisabled) return tool;
  throw new GatewayError("TOOL_DISABLED", {
    message: `Tool "${name}" is disabled on server "${tool.server}"`,
    recoverySteps: [
      "Use another tool",
      "Or ask the owner to enable it",
    ],
    suggestedTools: ["set_enabled_tools"],
  });
}

/** Nothing of the tool's own text: the reader may be a model. */
function quarantined(view: ResolveContext, name: string): GatewayError | undefined {
  for (const tool of view.table.quarantined(name, view.server)) {
    if (view.admits?.(tool) === false) continue;
    return new GatewayError("TOOL_QUARANTINED", {
      message: `Tool "${name.slice(0, 200)}" of server "${tool.server}" is in quarantine: ` +
        "its definition looks like an attack",
      recoverySteps: [
        "Do not retry: use another tool",
        "Ask the owner to review it in the console under Security, Review",
        "Or with `quartermaster review list`",
      ],
    });
  }
}

/** The server whose tool a name would be by the name's beginning; of several, the longest one. */
export function ownerAmong<Server extends { name: string }>(
  servers: readonly Server[],
  name: string,
  server?: string,
): Server | undefined {
  const owns = ({ name: own }: Server) =>
    server === undefined
      ? [`${own}.`, `${own}:`, `${flatten(own)}_`].some((prefix) => name.startsWith(prefix))
      : own === server;
  return servers.filter(owns).sort((a, b) => b.name.length - a.name.length)[0];
}

function findOnServer(
  { table, naming }: ResolveContext,
  server: string,
  name: string,
): CatalogTool | undefined {
  const names = table.server(server);
  if (!names) return undefined;
  if (naming !== "flat") {
    const first = names[naming].get(name) ?? names.namespaced.get(name) ?? names.original.get(name);
    if (first) return first;
  }
  const flat = table.byFlat(name);
  if (flat?.server === server) return flat;
  const named = table.byNamespaced(name);
  return named?.server === server ? named : names.original.get(name);
}

const WHOLE_NAMES: readonly ((table: NameTable, name: string) => CatalogTool | undefined)[] = [
  (table, name) => table.byFlat(name),
  (table, name) => table.byNamespaced(name),
  (table, name) => {
    const [, server, tool] = /^([\w-]+):(.+)$/s.exec(name) ?? [];
    return server === undefined ? undefined : table.find(server, tool!);
  },
];

/** By `server_tool`, `server.tool`, `server:tool`, or its own name where just one server has it. */
function findAmongAll(view: ResolveContext, name: string): CatalogTool | undefined {
  const { table } = view;
  const exists = (tool: CatalogTool) => view.admits?.(tool) !== false;
  for (const find of WHOLE_NAMES) {
    const found = find(table, name);
    if (found && exists(found)) return found;
  }
  const same = table.byOriginal(name).filter(exists);
  const enabled = same.filter((tool) => tool.enabled);
  const meant = enabled.length === 0 && view.withDisabled ? same : enabled;
  if (meant.length > 1) throw ambiguous(view, name, meant);
  return meant[0] ?? same[0];
}

function ambiguous(
  { table, naming }: ResolveContext,
  name: string,
  tools: CatalogTool[],
): GatewayError {
  const names = tools.slice(0, 5).map((tool) => table.nameOf(tool, naming));
  return new GatewayError("TOOL_NOT_FOUND", {
    message: `${tools.length} servers have a tool "${name.slice(0, 200)}"`,
    recoverySteps: ["Use the full name of the tool you want"],
    hint: `Did you mean ${names.join(", ")}?`,
    suggestedTools: names,
  });
}

function notFound(view: ResolveContext, name: string): GatewayError {
  const near = nearestNames(name, knownNames(view), 3);
  const place = view.server === undefined ? "here" : `on server "${view.server}"`;
  return new GatewayError("TOOL_NOT_FOUND", {
    message: `There is no tool "${name.slice(0, 200)}" ${place}`,
    recoverySteps: [LIST_AGAIN],
    ...(near.length > 0 ? { hint: `Did you mean ${near.join(", ")}?`, suggestedTools: near } : {}),
  });
}

function* knownNames({ table, naming, server, builtins, withDisabled, admits }: ResolveContext) {
  yield* builtins?.names() ?? [];
  for (const tool of table.tools()) {
    const isUsable = (tool.enabled || withDisabled) && (server ?? tool.server) === tool.server;
    if (isUsable && admits?.(tool) !== false) yield table.nameOf(tool, naming);
  }
}
