import { type CatalogTool, renamed } from "../catalog/catalog_tool.ts";
import type { ServerTools } from "../catalog/catalog.ts";
import { GatewayError } from "../core/errors.ts";
import { nearestNames } from "../core/nearest.ts";
import { flatNames, namespacedName, type Naming } from "./names.ts";

/** One server's tools under their three names. Built once for each list of tools. */
export class ServerView {
  readonly #server: string;
  readonly #tools: readonly CatalogTool[];
  readonly #names: Record<Naming, Map<string, CatalogTool>>;
  readonly #lists = new Map<Naming, string>();

  constructor(server: string, { tools }: ServerTools) {
    this.#server = server;
    this.#tools = tools;
    const flat = flatNames(tools.map(({ name }) => namespacedName(server, name)));
    this.#names = {
      namespaced: new Map(tools.map((tool) => [namespacedName(server, tool.name), tool])),
      flat: new Map(tools.map((tool) => [flat.get(namespacedName(server, tool.name))!, tool])),
      original: new Map(tools.map((tool) => [tool.name, tool])),
    };
  }

  /** The result of tools/list, as text. */
  listText(naming: Naming): string {
    const known = this.#lists.get(naming);
    if (known !== undefined) return known;
    const tools = [...this.#names[naming]].filter(([, tool]) => tool.enabled)
      .map(([name, tool]) => renamed(tool, name));
    const text = `{"tools":[${tools.join(",")}]}`;
    this.#lists.set(naming, text);
    return text;
  }

  /** The tool a caller means by any of its names; those of the door's own naming come first. */
  resolve(name: string, naming: Naming): CatalogTool {
    const tool = this.#names[naming].get(name) ?? this.#names.namespaced.get(name) ??
      this.#names.original.get(name) ?? this.#names.flat.get(name);
    if (!tool) throw this.#notFound(name, naming);
    if (tool.enabled) return tool;
    throw new GatewayError("TOOL_DISABLED", {
      message: `Tool "${name}" is disabled on server "${this.#server}"`,
      recoverySteps: [
        "Use another tool",
        "Or ask the owner to enable it in the console, or with set_enabled_tools",
      ],
      suggestedTools: ["set_enabled_tools"],
    });
  }

  #notFound(name: string, naming: Naming): GatewayError {
    const candidates = [...this.#names[naming]].filter(([, tool]) => tool.enabled).map(([known]) =>
      known
    );
    const near = nearestNames(name, candidates, 3);
    return new GatewayError("TOOL_NOT_FOUND", {
      message: `There is no tool "${name.slice(0, 200)}" on server "${this.#server}"`,
      recoverySteps: ["List the tools again, and use a name from that list"],
      ...(near.length > 0
        ? { hint: `Did you mean ${near.join(", ")}?`, suggestedTools: near }
        : {}),
    });
  }
}
