import type { ServerTools } from "../catalog/catalog.ts";
import { type CatalogTool, renamed } from "../catalog/catalog_tool.ts";
import { boundedNames, namespacedName } from "./names.ts";

/** One server's tools under the names that depend on no other server. */
export class ServerNames {
  readonly namespaced: ReadonlyMap<string, CatalogTool>;
  readonly original: ReadonlyMap<string, CatalogTool>;
  readonly #bounded: ReadonlyMap<string, string>;
  readonly #lists = new Map<"namespaced" | "original", string>();

  constructor(server: string, { tools }: ServerTools, maxLength: number) {
    const whole = tools.map(({ name }) => namespacedName(server, name));
    this.#bounded = boundedNames(whole, maxLength);
    this.namespaced = new Map(tools.map((tool) => [this.nameOf(tool), tool]));
    this.original = new Map(tools.map((tool) => [tool.name, tool]));
  }

  /** The namespaced name, cut where it is too long for clients. */
  nameOf(tool: CatalogTool): string {
    return this.#bounded.get(namespacedName(tool.server, tool.name))!;
  }

  /** The result of tools/list, as text. */
  listText(naming: "namespaced" | "original"): string {
    let text = this.#lists.get(naming);
    if (text === undefined) this.#lists.set(naming, text = toolsText(this[naming]));
    return text;
  }
}

/** The enabled ones of some tools as the result of tools/list, each under its name. */
export function toolsText(tools: Iterable<[string, CatalogTool]>): string {
  const texts: string[] = [];
  for (const [name, tool] of tools) if (tool.enabled) texts.push(renamed(tool, name));
  return `{"tools":[${texts.join(",")}]}`;
}
