import { configError } from "../config/problem.ts";
import { JSON_FLAG } from "./command.ts";
import { painter, print, printJson } from "./terminal.ts";
import { toolsetCommand } from "./toolset_command.ts";
import { equippedText } from "./toolset_equip.ts";
import { countOf, NOT_RUNNING, warningsText } from "./toolset_text.ts";
import { openToolsets } from "./toolsets_access.ts";

export const toolsetCreate = toolsetCommand({
  usage: "toolset create NAME TOOL... [--description TEXT] [--replace] [--equip]",
  meaning: "Save tools of any servers as a toolset",
  details: [
    "TOOL is any of its names (git.status, git_status), or 'git.*' for all of a server's that are",
    "on now. Where one cannot be found nothing is saved. With no gateway running, the tools are",
    "those that each server had when it was last connected.",
  ],
  flags: [
    { flag: "description", placeholder: "TEXT", meaning: "What it is for" },
    { flag: "replace", meaning: "Overwrite toolsets of the same name" },
    { flag: "equip", meaning: "Equip it too" },
    JSON_FLAG,
  ],
  async run(input) {
    const [name, ...tools] = input.positionals;
    if (name === undefined || tools.length === 0) {
      throw configError(
        "toolset create takes a name and at least one tool",
        "Write it as: deno task cli toolset create NAME SERVER.TOOL...",
      );
    }
    const description = input.flags.get("description");
    const equips = input.flags.get("equip") === true;
    await using opened = await openToolsets(input);
    const { toolsets, isRunning } = opened;
    let toolset = await toolsets.create({
      name,
      tools,
      ...(typeof description === "string" ? { description } : {}),
      replace: input.flags.get("replace") === true,
    });
    if (equips) toolset = await toolsets.equip(name);
    if (input.flags.get("json") === true) {
      return printJson({ toolset, equipped: equips, running: isRunning });
    }
    const paint = painter(input.env);
    print(`Saved ${name}: ${countOf(toolset.toolCount)}, about ${toolset.tokens} tokens.\n`);
    if (equips) return print(equippedText(toolset, isRunning, paint));
    print(warningsText(toolset.warnings, paint));
    print(`Equip it with \`deno task cli toolset equip ${name}\`.\n`);
    if (!isRunning) print(NOT_RUNNING);
  },
});
