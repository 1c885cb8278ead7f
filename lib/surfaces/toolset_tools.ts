import { z } from "zod";
import { GatewayError } from "../core/errors.ts";
import type { Toolset } from "../core/toolset.ts";
import { skippedServers } from "../toolsets/toolset_news.ts";
import { type ToolsetsAdmin, WrittenToolset } from "./toolsets_admin.ts";
import { builtin, type BuiltinTool } from "./builtin_tool.ts";

const { name } = WrittenToolset.shape;

/** The gateway's own tools for toolsets. Their descriptions are short: every client pays for them. */
export function toolsetTools(admin: ToolsetsAdmin): BuiltinTool[] {
  const { toolsets } = admin;
  return [
    builtin({
      name: "discover-all-tools",
      title: "Discover all tools",
      description: "List every tool of every server, equipped or not, to build toolsets from.",
      input: z.strictObject({
        filter: z.string().optional().describe("Words in name or description"),
        server: z.string().optional(),
        page: z.int().min(1).default(1),
      }),
      annotations: { readOnlyHint: true },
      run(input, { principal }) {
        return Promise.resolve(admin.discover(input, principal));
      },
    }),
    builtin({
      name: "build-toolset",
      title: "Build a toolset",
      description: "Save tools of any servers as a named toolset.",
      input: WrittenToolset.extend({
        autoEquip: z.boolean().optional().describe("Equip it too"),
      }),
      async run({ autoEquip, ...written }, { principal }) {
        const { name } = written;
        admin.checkVisible(principal, name);
        admin.checkChangeable(principal, name);
        const toolset = await admin.build(written, principal);
        const summary = await admin.summary(toolset);
        const warnings = [...summary.warnings];
        if (autoEquip) {
          await toolsets.equip(principal, name).catch((error) => {
            throw error instanceof GatewayError ? savedOnly(name, error) : error;
          });
          warnings.push(...skippedServers(toolsets.tools(toolset)));
        }
        return answer(
          [
            `Saved toolset "${name}": ${
              toolsText(summary.toolCount)
            }, about ${summary.tokens} tokens.`,
            autoEquip ? "It is equipped." : `Equip it with equip-toolset.`,
          ],
          warnings,
          { toolset: summary, equipped: autoEquip === true },
        );
      },
    }),
    builtin({
      name: "list-saved-toolsets",
      title: "List saved toolsets",
      description: "List the saved toolsets.",
      input: z.strictObject({}),
      annotations: { readOnlyHint: true },
      async run(_, { principal }) {
        const active = admin.equippedBy(principal)?.name ?? null;
        const all = await Promise.all(
          admin.visible(principal).map((toolset) => admin.summary(toolset)),
        );
        const lines = all.map(({ name, description, toolCount, tokens }) =>
          `${name}${name === active ? " (equipped)" : ""}: ${
            toolsText(toolCount)
          }, about ${tokens} tokens${description === undefined ? "" : `. ${description}`}`
        );
        const none = "There are no toolsets yet. Build one with build-toolset.";
        return answer(lines.length > 0 ? lines : [none], [], { toolsets: all, equipped: active });
      },
    }),
    builtin({
      name: "equip-toolset",
      title: "Equip a toolset",
      description: "Make a toolset's tools available, instead of the one equipped now.",
      input: z.strictObject({ name }),
      annotations: { idempotentHint: true },
      async run({ name }, { principal }) {
        admin.checkVisible(principal, name);
        const toolset = await toolsets.equip(principal, name);
        const registered = admin.registeredNames(admin.asSeenBy(principal, toolset));
        return answer(
          [
            `Equipped "${name}". ${toolsText(registered.length)} registered: ${
              registered.join(", ") || "none"
            }`,
          ],
          warningsFor(admin, admin.asSeenBy(principal, toolset)),
          { equipped: name, registered },
        );
      },
    }),
    builtin({
      name: "unequip-toolset",
      title: "Unequip the toolset",
      description: "Withdraw the equipped toolset's tools.",
      input: z.strictObject({}),
      annotations: { idempotentHint: true },
      async run(_, { principal }) {
        const was = await toolsets.unequip(principal);
        const text = was === undefined ? "No toolset was equipped." : `Unequipped "${was}".`;
        return answer([text], [], { unequipped: was ?? null });
      },
    }),
    builtin({
      name: "delete-toolset",
      title: "Delete a toolset",
      description: "Delete a saved toolset for good.",
      input: z.strictObject({ name, confirm: z.boolean().optional().describe("Must be true") }),
      annotations: { destructiveHint: true },
      async run({ name, confirm }, { principal }) {
        admin.checkVisible(principal, name);
        admin.checkChangeable(principal, name);
        if (!confirm) {
          const toolset = admin.asSeenBy(principal, toolsets.resolve(name));
          throw new GatewayError("INVALID_ARGUMENTS", {
            message: `Deleting "${name}" (${
              toolsText(toolset.tools.length)
            }) cannot be undone, and was not confirmed`,
            recoveryAction: "Call again with confirm: true if the user wants this",
            recoverySteps: ["Ask the user", "Call delete-toolset again with confirm: true"],
          });
        }
        await toolsets.remove(name);
        return answer([`Deleted toolset "${name}".`], [], { deleted: name });
      },
    }),
    builtin({
      name: "get-active-toolset",
      title: "Show the equipped toolset",
      description: "Show the equipped toolset and the state of each of its tools.",
      input: z.strictObject({}),
      annotations: { readOnlyHint: true },
      async run(_, { principal }) {
        const toolset = admin.equippedBy(principal);
        if (!toolset) {
          return await answer(["No toolset is equipped."], [], { toolset: null, tools: [] });
        }
        const detail = await admin.detail(admin.asSeenBy(principal, toolset));
        const lines = detail.tools.map(({ namespacedName, name, state, note }) =>
          `- ${namespacedName}: ${state}${name === undefined ? "" : ` as ${name}`}${
            note === undefined ? "" : ` (${note})`
          }`
        );
        const { tools, ...summary } = detail;
        return answer(
          [
            `"${toolset.name}" is equipped: ${detail.registered} of ${
              toolsText(detail.toolCount)
            } registered, about ${detail.tokens} tokens.`,
            ...lines,
          ],
          detail.warnings,
          { toolset: summary, tools },
        );
      },
    }),
  ];
}

function warningsFor(admin: ToolsetsAdmin, toolset: Toolset): string[] {
  return [...skippedServers(admin.toolsets.tools(toolset)), ...admin.missingWords(toolset)];
}

function savedOnly(name: string, { code, message }: GatewayError): GatewayError {
  return new GatewayError(code, {
    message: `Saved toolset "${name}", but it is not equipped: ${message}`,
    recoveryAction: "Equip it with equip-toolset",
    suggestedTools: ["equip-toolset"],
  });
}

function toolsText(count: number): string {
  return count === 1 ? "1 tool" : `${count} tools`;
}

function answer(lines: string[], warnings: string[], data: Record<string, unknown>) {
  const text = [...lines, ...warnings.map((warning) => `⚠️ Warning: ${warning}`)].join("\n");
  return Promise.resolve({
    text,
    data: { ...data, ...(warnings.length > 0 ? { warnings } : {}) },
  });
}
