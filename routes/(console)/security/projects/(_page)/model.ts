import { ACCESS_OPERATIONS } from "../../../../../lib/operations/access.ts";
import { type OperationCall, runOperation } from "../../../../../lib/operations/operation.ts";
import type { ShownProject } from "../../../../../lib/operations/access_admin.ts";
import type { Services } from "../../../../../lib/operations/services.ts";
import type { Gateway } from "../../../../../lib/gateway.ts";
import type { GatewayError } from "../../../../../lib/core/errors.ts";
import { unknownDecision } from "../../../../../lib/console/api.ts";
import { type FormError, formError } from "../../../../../lib/console/errors.ts";

export interface ProjectRow extends ShownProject {
  description: string;
  choices: { name: string; isAssigned: boolean; isGone: boolean }[];
  tokens: string[];
}

export interface ProjectsPage {
  projects: ProjectRow[];
  /** Servers that are assigned to none, and so are in all. */
  shared: string[];
  draft: { name: string; description: string };
  done: string | undefined;
  error: FormError | undefined;
}

const DONE: Record<string, string> = {
  made: "Project created.",
  saved: "Project saved.",
  deleted: "Project deleted.",
};

export async function projectsPage(
  { accessAdmin, servers }: Pick<Gateway, "accessAdmin" | "servers">,
  query: URLSearchParams,
  error?: GatewayError,
): Promise<ProjectsPage> {
  const [projects, tokens] = await Promise.all([accessAdmin.projects(), accessAdmin.tokens()]);
  const known = servers.list().map(({ name }) => name).sort();
  const assigned = new Set(projects.flatMap((project) => project.servers));
  return {
    projects: projects.map(({ description = "", ...project }) => ({
      ...project,
      description,
      choices: [...new Set([...known, ...project.servers])].sort().map((server) => ({
        name: server,
        isAssigned: project.servers.includes(server),
        isGone: !known.includes(server),
      })),
      tokens: tokens.filter((token) => token.project === project.name).map((token) => token.name),
    })),
    shared: known.filter((server) => !assigned.has(server)),
    draft: { name: query.get("name") ?? "", description: query.get("description") ?? "" },
    done: error === undefined ? DONE[query.get("done") ?? ""] : undefined,
    error: error && formError(error),
  };
}

export async function changeProjects(
  services: Services,
  form: URLSearchParams,
  call: OperationCall,
): Promise<keyof typeof DONE> {
  const { createProject, saveProject, deleteProject } = ACCESS_OPERATIONS;
  const name = form.get("name")?.trim() ?? "";
  const description = form.get("description")?.trim() ?? "";
  switch (form.get("change")) {
    case "create":
      await runOperation(createProject, services, { name, description }, call);
      return "made";
    case "save": {
      // A form without a version is taken for an old one.
      const versionstamp = form.get("versionstamp") ?? "";
      const input = { name, description, servers: form.getAll("server"), versionstamp };
      await runOperation(saveProject, services, input, call);
      return "saved";
    }
    case "delete":
      await runOperation(deleteProject, services, { name }, call);
      return "deleted";
    default:
      throw unknownDecision();
  }
}
