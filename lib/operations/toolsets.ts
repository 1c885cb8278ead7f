import * as z from "zod";
import { errorMessage, GatewayError } from "../core/errors.ts";
import { counted } from "../core/text.ts";
import type { Toolset } from "../core/tool.ts";
import { skippedServers, startingServers } from "../catalog/toolsets/toolset_tools.ts";
import { fieldHints } from "./fields.ts";
import { DESTROYS, MANAGES, operation, READS } from "./operation.ts";
import {
  ImportReport,
  ToolsetDetail,
  type ToolsetsAdmin,
  ToolsetSummary,
  ToolsetToolDetail,
  WrittenToolset,
} from "./toolsets_admin.ts";

const ToolsetName = z.string().describe("Toolset name").register(fieldHints, {
  completes: "toolset",
});
const READS_VISIBLE = { ...READS, scope: "visible" } as const;
const SAVES = { ...MANAGES, scope: "visible" } as const;
/** What a caller has equipped is its own. */
const EQUIPS = { ...READS, scope: "own", effect: "write" } as const;
/** What models and people are told besides the outcome; left out if there is nothing to tell. */
const Warnings = z.array(z.string()).optional();
const Starting = z.array(z.string()).optional().describe("Servers that are still starting");

const list = operation({
  ...READS_VISIBLE,
  name: "toolset.list",
  title: "List saved toolsets",
  description: "List the saved toolsets.",
  input: z.strictObject({}),
  output: z.object({ toolsets: z.array(ToolsetSummary), equipped: z.string().nullable() }),
  mcp: "list-saved-toolsets",
  cli: "toolset list",
  async run({ toolsets: admin, endpoints }, _, { principal }) {
    const builtins = await endpoints.countBuiltins(principal);
    const summaries = admin.visible(principal).map((toolset) => admin.summary(toolset, builtins));
    return {
      toolsets: await Promise.all(summaries),
      equipped: admin.equippedBy(principal)?.name ?? null,
    };
  },
  text({ toolsets, equipped }) {
    if (toolsets.length === 0) return "No toolsets yet.";
    return toolsets.map(({ name, description, toolCount, tokens }) =>
      `${name}${name === equipped ? " (equipped)" : ""}: ${counted(toolCount, "tool")}, ` +
      `about ${tokens} tokens${description === undefined ? "" : `. ${description}`}`
    ).join("\n");
  },
  next: ({ toolsets }) =>
    toolsets.length > 0 ? [] : [{ label: "Build one", operation: "toolset.create" }],
});

const show = operation({
  ...READS_VISIBLE,
  name: "toolset.show",
  title: "Show a toolset",
  description: "Show a toolset: the state of each tool, and what has changed since it was saved.",
  input: z.strictObject({ name: ToolsetName }),
  output: z.object({ toolset: ToolsetDetail, equipped: z.boolean() }),
  cli: "toolset show NAME",
  async run({ toolsets: admin, endpoints }, { name }, { principal }) {
    const toolset = admin.resolveVisible(principal, name);
    return {
      toolset: await admin.detail(toolset, await endpoints.countBuiltins(principal)),
      equipped: admin.equippedBy(principal)?.name === toolset.name,
    };
  },
});

const active = operation({
  ...READS,
  scope: "own",
  name: "toolset.active",
  title: "Show the equipped toolset",
  description: "Show the equipped toolset and the state of each of its tools.",
  input: z.strictObject({}),
  output: z.object({
    toolset: ToolsetSummary.nullable(),
    tools: z.array(ToolsetToolDetail),
    warnings: Warnings,
  }),
  mcp: "get-active-toolset",
  async run({ toolsets: admin, endpoints }, _, { principal }) {
    const toolset = admin.equippedBy(principal);
    if (!toolset) return { toolset: null, tools: [] };
    const builtins = await endpoints.countBuiltins(principal);
    const { tools, ...summary } = await admin.detail(admin.asSeenBy(principal, toolset), builtins);
    return { toolset: summary, tools, ...warningsOf(summary.warnings) };
  },
  text({ toolset, tools }) {
    if (!toolset) return "No toolset is equipped.";
    const { name, registered, toolCount, tokens } = toolset;
    const lines = tools.map(({ namespacedName, name, state, note }) =>
      `- ${namespacedName}: ${state}${name === undefined ? "" : ` as ${name}`}${
        note === undefined ? "" : ` (${note})`
      }`
    );
    return [
      `"${name}" is equipped: ${registered} of ${counted(toolCount, "tool")} registered, ` +
      `about ${tokens} tokens.`,
      ...lines,
    ].join("\n");
  },
});

const discover = operation({
  ...READS_VISIBLE,
  name: "toolset.discover",
  title: "Discover all tools",
  description: "List every tool of every server, equipped or not, to build toolsets from.",
  input: z.strictObject({
    filter: z.string().optional().describe("Words in the name or description"),
    server: z.string().optional().register(fieldHints, { completes: "server" }),
    page: z.int().min(1).default(1),
  }),
  output: z.object({
    total: z.int(),
    page: z.int(),
    pages: z.int(),
    servers: z.array(z.object({
      name: z.string(),
      tools: z.array(z.object({ namespacedName: z.string(), summary: z.string() })),
    })),
    starting: Starting,
    note: z.string().optional(),
  }),
  mcp: "discover-all-tools",
  run: ({ toolsets: admin }, input, { principal }) => admin.discover(input, principal),
  text({ total, page, pages, servers, note, starting }, { filter, server }) {
    const lines = servers.flatMap(({ name, tools }) => [
      `${name}:`,
      ...tools.map(({ namespacedName, summary }) =>
        `- ${namespacedName}${summary === "" ? "" : `: ${summary}`}`
      ),
    ]);
    const isFiltered = filter?.trim() || server !== undefined;
    const isComing = starting?.some((name) => (server ?? name) === name) ?? false;
    const head = total === 0
      ? isComing
        ? "No tools to show yet: try again in a moment."
        : isFiltered
        ? "No tool matches. Try fewer words, or none."
        : "There are no tools: no server is connected."
      : page > pages
      ? `There are only ${pages} pages.`
      : `${counted(total, "tool")}${pages > 1 ? `, page ${page} of ${pages}` : ""}`;
    return [head, ...(note === undefined ? [] : [`${note}.`]), ...lines].join("\n");
  },
});

const create = operation({
  ...SAVES,
  name: "toolset.create",
  title: "Build a toolset",
  description: "Save tools of any servers as a named toolset.",
  input: WrittenToolset.extend({
    autoEquip: z.boolean().default(false).describe("Equip it too")
      .register(fieldHints, { flag: "equip" }),
  }),
  output: z.object({
    toolset: ToolsetSummary,
    equipped: z.boolean(),
    starting: Starting,
    warnings: Warnings,
  }),
  mcp: "build-toolset",
  cli: "toolset create NAME TOOL...",
  async run({ toolsets: admin, endpoints }, { autoEquip, ...written }, { principal }) {
    const { name, copyOf } = written;
    admin.checkChangeable(principal, name);
    if (copyOf !== undefined) admin.resolveVisible(principal, copyOf);
    const toolset = await admin.build(written, principal);
    const summary = await admin.summary(toolset, await endpoints.countBuiltins(principal));
    const warnings = [...summary.warnings];
    if (autoEquip) {
      await admin.toolsets.equip(principal, name, admin.visible(principal)).catch((error) => {
        throw error instanceof GatewayError ? savedOnly(name, error) : error;
      });
      warnings.push(...skippedServers(admin.toolsets.tools(toolset)));
    }
    return {
      toolset: summary,
      equipped: autoEquip,
      ...(autoEquip ? startingIn(admin, toolset) : {}),
      ...warningsOf(warnings),
    };
  },
  text: ({ toolset: { name, toolCount, tokens }, equipped }) =>
    `Saved toolset "${name}": ${counted(toolCount, "tool")}, about ${tokens} tokens.${
      equipped ? " It is equipped." : ""
    }`,
  next: ({ toolset: { name }, equipped }) =>
    equipped ? [] : [{ label: "Equip it", operation: "toolset.equip", input: { name } }],
});

const update = operation({
  ...SAVES,
  name: "toolset.update",
  title: "Change a toolset",
  description: "Replace the tools and the description of a saved toolset.",
  input: z.strictObject({
    name: ToolsetName,
    description: WrittenToolset.shape.description,
    tools: WrittenToolset.shape.tools,
    version: z.string().optional().describe(
      "The version you read; the change fails if there is a newer one",
    ),
  }),
  output: z.object({ toolset: ToolsetDetail }),
  idempotent: true,
  async run({ toolsets: admin, endpoints }, written, { principal }) {
    const { name } = admin.resolveVisible(principal, written.name);
    admin.checkChangeable(principal, name);
    const saved = await admin.build({ ...written, name, replace: true }, principal);
    return { toolset: await admin.detail(saved, await endpoints.countBuiltins(principal)) };
  },
  text: ({ toolset: { name, toolCount } }) =>
    `Saved toolset "${name}": ${counted(toolCount, "tool")}.`,
});

const equip = operation({
  ...EQUIPS,
  name: "toolset.equip",
  title: "Equip a toolset",
  description: "List this toolset's tools at /mcp, replacing the equipped toolset.",
  input: z.strictObject({ name: ToolsetName }),
  output: z.object({
    equipped: z.string(),
    toolCount: z.int(),
    registered: z.array(z.string()),
    starting: Starting,
    warnings: Warnings,
  }),
  idempotent: true,
  mcp: "equip-toolset",
  cli: "toolset equip NAME",
  async run({ toolsets: admin }, { name }, { principal }) {
    // Not by its name in memory alone: another gateway may have saved it a moment ago.
    admin.checkVisible(principal, name);
    const equipped = await admin.toolsets.equip(principal, name, admin.visible(principal));
    const toolset = admin.asSeenBy(principal, equipped);
    return {
      equipped: name,
      toolCount: toolset.tools.length,
      registered: admin.registeredNames(toolset),
      ...startingIn(admin, toolset),
      ...warningsOf([
        ...skippedServers(admin.toolsets.tools(toolset)),
        ...admin.missingWords(toolset),
      ]),
    };
  },
  text: ({ equipped, registered }) =>
    `Equipped "${equipped}". ${counted(registered.length, "tool")} registered: ${
      registered.join(", ") || "none"
    }`,
});

const unequip = operation({
  ...EQUIPS,
  name: "toolset.unequip",
  title: "Unequip the toolset",
  description: "Stop listing the equipped toolset's tools. The toolset stays saved.",
  input: z.strictObject({}),
  output: z.object({ unequipped: z.string().nullable() }),
  idempotent: true,
  mcp: "unequip-toolset",
  cli: "toolset unequip",
  async run({ toolsets: admin }, _, { principal }) {
    // By what the store had: another gateway may have equipped it a moment ago.
    const name = await admin.toolsets.unequip(principal);
    return { unequipped: name !== undefined && admin.isVisible(principal, name) ? name : null };
  },
  text: ({ unequipped }) =>
    unequipped === null ? "No toolset was equipped." : `Unequipped "${unequipped}".`,
});

const remove = operation({
  ...DESTROYS,
  scope: "visible",
  name: "toolset.delete",
  title: "Delete a toolset",
  description: "Permanently delete a saved toolset. Its tools and servers stay.",
  input: z.strictObject({ name: ToolsetName }),
  output: z.object({ deleted: z.string() }),
  mcp: "delete-toolset",
  cli: "toolset delete NAME",
  confirm: ({ name }) => `Delete toolset "${name}"? This cannot be undone.`,
  async run({ toolsets: admin }, { name }, { principal }) {
    admin.checkChangeable(principal, name);
    await admin.toolsets.remove(name, admin.visible(principal));
    return { deleted: name };
  },
  text: ({ deleted }) => `Deleted toolset "${deleted}".`,
});

const exportFile = operation({
  ...READS_VISIBLE,
  name: "toolset.export",
  title: "Export toolsets",
  description: "Export toolsets to a file that toolset.import reads; without a name, all of them.",
  input: z.strictObject({
    names: z.array(ToolsetName).default([]).register(fieldHints, { completes: "toolset" }),
  }),
  output: { file: "application/json" },
  cli: "toolset export [NAME...]",
  async run({ toolsets: admin }, { names }, { principal }) {
    const wanted = names.length > 0
      ? [...new Set(names)].map((name) => admin.resolveVisible(principal, name))
      : admin.visible(principal);
    const [only] = names.length === 1 ? names : [];
    return {
      fileName: `${only ?? "toolsets"}.json`,
      contentType: "application/json",
      body: `${JSON.stringify(await admin.export(wanted), undefined, 2)}\n`,
    };
  },
});

const importFile = operation({
  ...MANAGES,
  name: "toolset.import",
  title: "Import toolsets",
  description: "Save the toolsets of a file that toolset.export or another program wrote.",
  input: z.strictObject({
    file: z.string().describe("The file's text: JSON").register(fieldHints, { completes: "file" }),
    replace: WrittenToolset.shape.replace,
    dryRun: z.boolean().default(false).describe(
      "Report what would happen, without changing anything",
    ),
  }),
  output: ImportReport,
  cli: "toolset import FILE",
  fileInput: { field: "file", maxBytes: 4 * 1024 * 1024 },
  run: ({ toolsets: admin }, { file, ...how }) => admin.import(parseFile(file), how),
  text: ({ saved }) => saved.length === 0 ? "Nothing was saved." : `Saved ${saved.join(", ")}.`,
});

export const TOOLSET_OPERATIONS = {
  list,
  show,
  active,
  discover,
  create,
  update,
  equip,
  unequip,
  remove,
  exportFile,
  importFile,
};

function startingIn(admin: ToolsetsAdmin, toolset: Toolset): { starting?: string[] } {
  const starting = startingServers(admin.toolsets.tools(toolset));
  return starting.length === 0 ? {} : { starting };
}

function warningsOf(warnings: string[]): { warnings?: string[] } {
  return warnings.length > 0 ? { warnings } : {};
}

function savedOnly(name: string, { code, message }: GatewayError): GatewayError {
  return new GatewayError(code, {
    message: `Saved toolset "${name}", but could not equip it: ${message}`,
    next: [{ label: "Equip it", operation: "toolset.equip", input: { name } }],
  });
}

function parseFile(text: string): unknown {
  if (text.trim() === "") {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: "The import file is empty",
      recoverySteps: ["Choose an exported file, or paste its text"],
    });
  }
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `Cannot import toolsets: this is not valid JSON (${errorMessage(error)})`,
      recoverySteps: ["Use the complete file, from the first brace to the last"],
    });
  }
}
