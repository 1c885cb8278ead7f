import { oneNameOf } from "./arguments.ts";
import { configError } from "../config/problem.ts";
import { GatewayError } from "../core/errors.ts";
import { JSON_FLAG } from "./command.ts";
import { ask, isInteractive, print, printJson } from "./terminal.ts";
import { toolsetCommand } from "./toolset_command.ts";
import { countOf } from "./toolset_text.ts";
import { openToolsets } from "./toolsets_access.ts";

export const toolsetDelete = toolsetCommand({
  usage: "toolset delete NAME [--yes]",
  meaning: "Delete a toolset for good; its tools and servers stay",
  flags: [{ flag: "yes", meaning: "Do not ask; needed where there is no terminal" }, JSON_FLAG],
  async run(input) {
    const name = oneNameOf("toolset", "toolset delete", input);
    const asJson = input.flags.get("json") === true;
    const isAgreed = input.flags.get("yes") === true;
    if (!isAgreed && (asJson || !isInteractive())) {
      throw configError(
        "toolset delete cannot ask here",
        "Give --yes to delete without a question",
      );
    }
    await using opened = await openToolsets(input);
    const { toolsets } = opened;
    if (!isAgreed) {
      const { toolCount } = await toolsets.show(name);
      if (!ask(`Delete toolset "${name}" (${countOf(toolCount)})? This cannot be undone.`)) {
        throw new GatewayError("ACCESS_DENIED", { message: `Toolset "${name}" was not deleted` });
      }
    }
    await toolsets.remove(name);
    if (asJson) printJson({ deleted: name });
    else print(`Deleted ${name}.\n`);
  },
});
