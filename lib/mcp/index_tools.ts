import * as z from "zod";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import { examplesOf } from "../catalog/tool_examples.ts";
import { parametersOf } from "../core/parameters.ts";
import { jsonOrText } from "../core/rpc.ts";
import { builtin, type BuiltinTool, jsonResult, type ToolContext } from "./builtin_tool.ts";
import { serversText } from "./discovery_tools.ts";
import type { ToolDirectory } from "./tool_directory.ts";

const PAGE = 100;
const RELATED = 5;
const PARAMETER_DEPTH = 2;

type Caller = Pick<ToolContext, "principal" | "client">;

/** A small index of everything, and whole descriptions on demand. */
export function indexTools(directory: ToolDirectory): BuiltinTool[] {
  return [
    builtin({
      name: "list_available_tools",
      title: "List all tools briefly",
      description: (principal) => listText(directory, principal),
      input: z.strictObject({
        category: z.string().optional(),
        include_disabled: z.boolean().default(false),
        page: z.int().min(1).default(1),
      }),
      annotations: { readOnlyHint: true },
      async run({ category, include_disabled, page }, { principal, client }) {
        await directory.prepare();
        return jsonResult(
          listing(directory, { principal, client }, {
            category,
            withDisabled: include_disabled,
            page,
          }),
        );
      },
    }),
    builtin({
      name: "get_tool_description",
      title: "Describe a tool",
      description: "Get the full description of one tool: parameters, examples, related tools.",
      input: z.strictObject({
        tool_name: z.string(),
        include_examples: z.boolean().default(true),
      }),
      annotations: { readOnlyHint: true },
      async run({ tool_name, include_examples }, { principal, client, signal }) {
        const tool = await directory.resolve(principal, tool_name, signal);
        await directory.prepare();
        return jsonResult(description(directory, { principal, client }, tool, include_examples));
      },
    }),
  ];
}

function listText(directory: ToolDirectory, principal: string): string {
  const tools = directory.visible(principal);
  const servers = tools.length === 0 ? "" : ` Servers: ${serversText(tools)}.`;
  return `List all ${tools.length} tools with one line each. Call get_tool_description before you use one, and tool_execute (toolKey: its name) to run it.${servers}`;
}

function listing(
  directory: ToolDirectory,
  { principal, client }: Caller,
  { category, withDisabled, page }: {
    category: string | undefined;
    withDisabled: boolean;
    page: number;
  },
) {
  const all = directory.visible(principal, withDisabled);
  const wanted = category?.toLowerCase();
  const groups = directory.categories(all);
  const tools = wanted === undefined ? all : all.filter((tool) => directory.isIn(tool, wanted));
  const pages = Math.max(1, Math.ceil(tools.length / PAGE));
  const shown = tools.slice((page - 1) * PAGE, page * PAGE);
  return {
    total: tools.length,
    categories: groups.map(([name]) => name),
    ...(pages > 1
      ? {
        category_counts: Object.fromEntries(groups.map(([name, own]) => [name, own.length])),
        page,
        pages,
        hint: page > pages
          ? `There are only ${pages} pages`
          : "Filter by category, or request the next page",
      }
      : {}),
    ...(tools.length === 0 && wanted !== undefined
      ? { hint: noCategory(directory.nearestCategories(principal, wanted)) }
      : {}),
    tools: directory.shownTo(client, shown).map((text, at) => {
      const tool = shown[at]!;
      const { category, deprecated } = directory.metadata(tool);
      return {
        name: directory.nameOf(tool),
        summary: directory.metadata(text).summary,
        category,
        enabled: tool.enabled,
        ...(deprecated === undefined ? {} : { deprecated: true }),
      };
    }),
    ...directory.missing(principal),
  };
}

function noCategory(near: readonly string[]): string {
  const meant = near.length === 0 ? "" : ` Did you mean ${near.join(", ")}?`;
  return `No tool is in that category.${meant}`;
}

function description(
  directory: ToolDirectory,
  { principal, client }: Caller,
  tool: CatalogTool,
  withExamples: boolean,
) {
  const [{ definition } = tool] = directory.shownTo(client, [tool]);
  const examples = withExamples ? examplesOf(tool, directory.callsOf(principal, tool)) : [];
  const { category, deprecated } = directory.metadata(tool);
  const { rows, isCut } = parametersOf(definition.inputSchema);
  const parameters = Object.fromEntries(
    rows.filter(({ depth }) => depth < PARAMETER_DEPTH).map((row) => [row.path, {
      type: row.type,
      ...(row.description === undefined ? {} : { description: row.description }),
      required: row.isRequired,
      ...(row.defaultValue === undefined ? {} : { default: jsonOrText(row.defaultValue) }),
      ...(row.choices === undefined ? {} : { enum: row.choices.map(jsonOrText) }),
      ...(row.limits === undefined ? {} : { limits: row.limits }),
    }]),
  );
  return {
    name: directory.nameOf(tool),
    server: tool.server,
    category,
    ...(deprecated === undefined ? {} : { deprecated }),
    description: definition.description ?? definition.title ?? "",
    parameters,
    ...(isCut ? { more_parameters: true } : {}),
    ...(examples.length > 0 ? { examples } : {}),
    related_tools: directory.related(principal, tool, RELATED),
  };
}
