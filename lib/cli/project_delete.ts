import { oneNameOf } from "./arguments.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import { resolveProject } from "./project_command.ts";
import { print, printJson } from "./terminal.ts";
import { openAccess } from "./token_store.ts";

export const projectDelete: Command = {
  usage: "project delete NAME",
  meaning: "Delete a project; its servers stay, and belong to all projects if to no other one",
  details: ["Refused while tokens are for it alone: revoke these first."],
  flags: [JSON_FLAG],
  async run(input) {
    const name = oneNameOf("project", "project delete", input);
    await using opened = await openAccess(input);
    await resolveProject(opened.admin, name);
    await opened.admin.deleteProject(name);
    if (input.flags.get("json") === true) return printJson({ deleted: name });
    print(`Deleted ${name}.\n`);
  },
};
