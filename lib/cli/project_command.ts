import { configError } from "../config/problem.ts";
import type { Project } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import { nearestNames } from "../core/nearest.ts";
import type { AccessAdmin, ShownProject } from "../surfaces/access_admin.ts";
import type { CommandInput } from "./command.ts";

/** A project and the servers after it. */
export function projectAndServers(
  command: string,
  { positionals }: Pick<CommandInput, "positionals">,
): { name: string; servers: string[] } {
  const [name, ...servers] = positionals;
  if (name !== undefined && servers.length > 0) return { name, servers };
  throw configError(
    `${command} takes a project and at least one server`,
    `Write it as: deno task cli ${command} NAME SERVER...`,
  );
}

export async function resolveProject(admin: AccessAdmin, name: string): Promise<ShownProject> {
  const all = await admin.projects();
  const found = all.find((project) => project.name === name);
  if (found) return found;
  const near = nearestNames(name, all.map((project) => project.name));
  throw new GatewayError("NOT_FOUND", {
    message: `There is no project "${name.slice(0, 80)}"`,
    recoverySteps: ["See `deno task cli project list`"],
    ...(near.length > 0 ? { hint: `Did you mean ${near.join(", ")}?` } : {}),
  });
}

export function serversText({ name, servers }: Project): string {
  return servers.length === 0
    ? `No server is assigned to ${name}.\n`
    : `${name} has ${servers.join(", ")}.\n`;
}
