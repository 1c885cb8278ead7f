import { noPositionals } from "./arguments.ts";
import { JSON_FLAG } from "./command.ts";
import { print, printJson } from "./terminal.ts";
import { toolsetCommand } from "./toolset_command.ts";
import { openToolsets } from "./toolsets_access.ts";

export const toolsetUnequip = toolsetCommand({
  usage: "toolset unequip",
  meaning: "Have no toolset's tools listed at /mcp; the toolset stays saved",
  flags: [JSON_FLAG],
  async run(input) {
    noPositionals("toolset unequip", input);
    await using opened = await openToolsets(input);
    const unequipped = await opened.toolsets.unequip();
    if (input.flags.get("json") === true) return printJson({ unequipped });
    print(unequipped === null ? "No toolset was equipped.\n" : `Unequipped ${unequipped}.\n`);
  },
});
