import { type CatalogTool, renamed } from "../catalog/catalog_tool.ts";
import type { ServerTools } from "../catalog/catalog.ts";
import { GatewayError } from "../core/errors.ts";
import { nearestNames } from "../core/nearest.ts";
import { boundedNames, flatNames, namespacedName, type Naming } from "./names.ts";

/** One server's tools under their three names. Built once for each list of tools. */
export class ServerView {
  readonly #server: string;
  readonly #tools: readonly CatalogTool[];
  readonly #names: Record<Naming, Map<string, CatalogTool>>;
  readonly #lists = new Map<Naming, string>();

  constructor(server: string, { tools }: ServerTools) {
    this.#server = server;
    this.#tools = tools;
    const full = tools.map(({ name }) => namespacedName(server, name));
    const [flat, bounded] = [flatNames(full), boundedNames(full)];
    const named = (names: Map<string, string>) =>
      new Map(tools.map((tool) => [names.get(namespacedName(server, tool.name))!, tool]));
    this.#names = {
      namespaced: named(bounded),
      flat: named(flat),
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
      this.#names.original.get(name) ?? this.#names.flat.get(name) ?? this.#byFullName(name);
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

  /** A long name as the server and its tool have it, before it was cut. */
  #byFullName(name: string): CatalogTool | undefined {
    const start = `${this.#server}.`;
    return name.startsWith(start) ? this.#names.original.get(name.slice(start.length)) : undefined;
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
