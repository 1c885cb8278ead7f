import type { ShownTool } from "./evaluators/evaluator.ts";
import type { SelectedTool } from "./jobs/selection.ts";
import type { IndexedTool } from "./evaluation/search_ranks.ts";
import type { Catalog } from "../catalog/catalog.ts";
import {
  canonicalDescription,
  canonicalText,
  type CatalogTool,
  ownTool,
  renamed,
  withText,
} from "../catalog/catalog_tool.ts";
import type { NameTables } from "../catalog/name_table.ts";
import { parameterTextsIn } from "../catalog/parameter_texts.ts";
import { stemsOf } from "../catalog/search/text.ts";
import type { ToolDefinition } from "../core/tool.ts";
import type { OwnParameterTexts, ToolText } from "../core/tool_text.ts";

const MOST_COMPARED = 1_000;

export interface TargetTool {
  server: string;
  name: string;
  description: string;
  /** As its server has it. */
  definition: ToolDefinition;
  /** What its server says of its parameters: all whose texts can be replaced. */
  parameters: OwnParameterTexts;
  siblings: { name: string; description: string }[];
}

export type Target = TargetTool & {
  enabled: boolean;
  flatName: string;
  canonicalDescription: string | null;
};

export type Targets = ReturnType<typeof catalogTargets>;

export function catalogTargets({ catalog, names, equipped, equippedName, toolset }: {
  catalog: Catalog;
  names: NameTables;
  /** Of a caller, or of everyone. */
  equippedName(principal?: string): string | undefined;
  equipped(): readonly CatalogTool[];
  /** Throws if there is none of that name. */
  toolset(name: string): readonly CatalogTool[];
}) {
  const enabledOf = (server: string) => catalog.of(server).tools.filter(({ enabled }) => enabled);
  const tableNow = () => names.of(catalog.snapshot);
  return {
    find(server: string, name: string): Target | undefined {
      const table = tableNow();
      const tool = table.find(server, name);
      if (!tool) return undefined;
      const { definition } = ownTool(tool);
      const siblings = enabledOf(server).filter((sibling) => sibling !== tool);
      return {
        server,
        name,
        description: definition.description ?? "",
        definition,
        parameters: parameterTextsIn(canonicalText(tool)),
        siblings: siblings.map((one) => ({
          name: one.name,
          description: one.definition.description ?? "",
        })),
        enabled: tool.enabled,
        flatName: table.nameOf(tool, "flat"),
        canonicalDescription: definition.description ?? null,
      };
    },

    tools(server?: string) {
      const servers = server === undefined ? [...catalog.snapshot.servers.keys()].sort() : [server];
      return servers.flatMap((server) =>
        catalog.of(server).tools.map((tool) => ({
          server,
          tool: tool.name,
          enabled: tool.enabled,
          canonical: canonicalDescription(tool) ?? "",
        }))
      );
    },

    searched: (): IndexedTool[] => [...tableNow().tools()].filter(({ enabled }) => enabled),

    equipped: (): SelectedTool[] => equipped().map(({ server, name }) => ({ server, tool: name })),

    equippedName,

    toolset: (name: string): SelectedTool[] =>
      toolset(name).map(({ server, name }) => ({ server, tool: name })),

    /** The server's enabled tools, or only these, one with this text, and those of others. */
    shown(
      server: string,
      name: string,
      text: ToolText,
      beside: readonly SelectedTool[],
      only?: readonly SelectedTool[],
    ): ShownTool[] {
      const table = tableNow();
      const others = beside.filter((other) => other.server !== server).flatMap((other) => {
        const found = table.find(other.server, other.tool);
        return found?.enabled ? [found] : [];
      });
      const own = enabledOf(server).filter((tool) =>
        only?.some((one) => one.server === server && one.tool === tool.name) ?? true
      );
      return [...own, ...others].map((tool) => {
        const isTarget = tool.server === server && tool.name === name;
        const flat = table.nameOf(tool, "flat");
        const shown = isTarget ? describedAs(tool, text) : tool;
        return { name: flat, server: tool.server, tool: tool.name, text: renamed(shown, flat) };
      });
    },
  };
}

/** The server's own description is shown as the server writes it, also if it writes none. */
export function describedAs(tool: CatalogTool, text: ToolText): CatalogTool {
  const isOwn = text.parameters === undefined &&
    text.description === (canonicalDescription(tool) ?? "");
  return isOwn ? { ...tool, text: canonicalText(tool) } : withText(tool, text);
}

/** Siblings whose prompts a description is tested with, nearest first. */
export const MOST_SIBLINGS = 5;

export function nearestSiblings(
  { name, description, siblings }: Pick<TargetTool, "name" | "description" | "siblings">,
): TargetTool["siblings"] {
  const stems = (tool: TargetTool["siblings"][number]) =>
    new Set(stemsOf(`${tool.name} ${tool.description.slice(0, MOST_COMPARED)}`));
  const own = stems({ name, description });
  return siblings.filter((sibling) => sibling.name !== name).map((sibling) => {
    const words = stems(sibling);
    // By its root, so that neither a long description wins by its length nor a short one.
    const near = own.intersection(words).size / Math.sqrt(Math.max(1, words.size));
    return { sibling, near };
  }).sort((one, other) => other.near - one.near).map(({ sibling }) => sibling);
}
