import { ACCESS_OPERATIONS } from "../../../../../lib/operations/access.ts";
import type { ShownProject } from "../../../../../lib/operations/access_admin.ts";
import type { Gateway } from "../../../../../lib/gateway.ts";
import type { FormDecisions } from "../../../../../lib/console/form_page.ts";

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
}

const { createProject, saveProject, deleteProject } = ACCESS_OPERATIONS;

export const PROJECT_DECISIONS: FormDecisions = {
  create: { operation: createProject, done: "Project created.", fields: ["description"] },
  // A form without a version counts as an old one.
  save: { operation: saveProject, defaults: { versionstamp: "none" }, done: "Project saved." },
  delete: { operation: deleteProject, done: "Project deleted." },
};

export async function projectsPage(
  { accessAdmin, servers }: Pick<Gateway, "accessAdmin" | "servers">,
  query: URLSearchParams,
  _call?: unknown,
  form = query,
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
    draft: { name: form.get("name") ?? "", description: form.get("description") ?? "" },
  };
}
