import { GatewayError } from "../core/errors.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import { checkKnown, serverNames } from "./known_names.ts";
import { projectAndServers, resolveProject, serversText } from "./project_command.ts";
import { print, printJson } from "./terminal.ts";
import { openAccess } from "./token_store.ts";

export const projectAssign: Command = {
  usage: "project assign NAME SERVER...",
  meaning: "Assign servers to a project: from then on they are in their projects alone",
  flags: [JSON_FLAG],
  async run(input) {
    const { name, servers } = projectAndServers("project assign", input);
    await using opened = await openAccess(input);
    const { admin, store } = opened;
    const project = await resolveProject(admin, name);
    // A name that is mistyped would leave the server meant in every project.
    const known = await serverNames(store, input);
    for (const server of servers) checkKnown("server", server, known);
    const saved = await admin.saveProject({
      ...project,
      servers: [...project.servers, ...servers],
    });
    if (input.flags.get("json") === true) return printJson({ project: saved });
    print(serversText(saved));
  },
};

export const projectUnassign: Command = {
  usage: "project unassign NAME SERVER...",
  meaning: "Take servers out of a project; one that is in no other is in all of them again",
  flags: [JSON_FLAG],
  async run(input) {
    const { name, servers } = projectAndServers("project unassign", input);
    await using opened = await openAccess(input);
    const { admin } = opened;
    const project = await resolveProject(admin, name);
    const stranger = servers.find((server) => !project.servers.includes(server));
    if (stranger !== undefined) {
      throw new GatewayError("NOT_FOUND", {
        message: `Server "${stranger.slice(0, 80)}" is not assigned to ${name}`,
        recoverySteps: [serversText(project).trim()],
      });
    }
    const left = project.servers.filter((server) => !servers.includes(server));
    const saved = await admin.saveProject({ ...project, servers: left });
    if (input.flags.get("json") === true) return printJson({ project: saved });
    print(serversText(saved));
  },
};
