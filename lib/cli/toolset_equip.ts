import { oneNameOf } from "./arguments.ts";
import { JSON_FLAG } from "./command.ts";
import { inert, painter, print, printJson } from "./terminal.ts";
import type { ToolsetDetail } from "./toolset_answers.ts";
import { toolsetCommand } from "./toolset_command.ts";
import { countOf, skippedWords, warningsText } from "./toolset_text.ts";
import { openToolsets } from "./toolsets_access.ts";

export const toolsetEquip = toolsetCommand({
  usage: "toolset equip NAME",
  meaning: "Have a toolset's tools listed at /mcp, instead of those of the one equipped now",
  flags: [JSON_FLAG],
  async run(input) {
    const name = oneNameOf("toolset", "toolset equip", input);
    await using opened = await openToolsets(input);
    const toolset = await opened.toolsets.equip(name);
    const { isRunning } = opened;
    if (input.flags.get("json") === true) {
      const registered = toolset.tools.flatMap((tool) => tool.name ?? []);
      const warnings = equipWarnings(toolset, isRunning);
      return printJson({ equipped: name, registered, warnings, running: isRunning });
    }
    print(equippedText(toolset, isRunning, painter(input.env)));
  },
});

/** What came of equipping. */
export function equippedText(
  toolset: ToolsetDetail,
  isRunning: boolean,
  paint: ReturnType<typeof painter>,
): string {
  const { name, tools, toolCount } = toolset;
  const warnings = warningsText(equipWarnings(toolset, isRunning), paint);
  if (!isRunning) {
    return `Equipped ${name}: ${countOf(toolCount)}.\n${warnings}` +
      "No gateway is running: they are there from the next start on.\n";
  }
  const names = tools.flatMap((tool) => tool.name ?? []);
  const listed = names.map((tool) => `  ${inert(tool)}\n`).join("");
  return `Equipped ${name}: ${names.length} of ${countOf(toolCount)} registered.\n` +
    `${listed}${warnings}`;
}

function equipWarnings({ tools, warnings }: ToolsetDetail, isRunning: boolean): string[] {
  // With no gateway nothing was tried, so that no server can be said to be unavailable.
  return [...(isRunning ? skippedWords(tools) : []), ...warnings];
}
