import type { Gateway } from "../compose.ts";
import type { AuditAsker } from "../core/audit.ts";
import { GatewayError } from "../core/errors.ts";
import { type FormError, formError } from "./form_error.ts";

export interface ProjectRow {
  name: string;
  description: string;
  servers: string[];
  /** Of what the page shows: a form of it must not undo what came after. */
  versionstamp: string;
  /** Every server there is, and those assigned that are gone. */
  choices: { name: string; isAssigned: boolean; isGone: boolean }[];
  /** Names of tokens that are for it alone. */
  tokens: string[];
}

export interface ProjectsPage {
  projects: ProjectRow[];
  /** Servers that are assigned to none, and so are in all. */
  shared: string[];
  /** What was written for another one. */
  draft: { name: string; description: string };
  /** What was just done, in words. */
  done?: string;
  error?: FormError;
}

type ProjectsGateway = Pick<Gateway, "accessAdmin" | "servers">;

const DONE: Record<string, string> = {
  made: "The project is made.",
  saved: "The project is saved.",
  deleted: "The project is deleted.",
};

export async function projectsPage(
  { accessAdmin, servers }: ProjectsGateway,
  query: URLSearchParams,
  error?: GatewayError,
): Promise<ProjectsPage> {
  const [projects, tokens] = await Promise.all([accessAdmin.projects(), accessAdmin.tokens()]);
  const known = servers.list().map(({ name }) => name).sort();
  const assigned = new Set(projects.flatMap((project) => project.servers));
  const done = DONE[query.get("done") ?? ""];
  return {
    projects: projects.map(({ name, description = "", servers, versionstamp }) => ({
      name,
      description,
      servers,
      versionstamp,
      choices: [...new Set([...known, ...servers])].sort().map((server) => ({
        name: server,
        isAssigned: servers.includes(server),
        isGone: !known.includes(server),
      })),
      tokens: tokens.filter((token) => token.project === name).map((token) => token.name),
    })),
    shared: known.filter((server) => !assigned.has(server)),
    draft: { name: query.get("name") ?? "", description: query.get("description") ?? "" },
    ...(done === undefined || error !== undefined ? {} : { done }),
    ...(error === undefined ? {} : { error: formError(error) }),
  };
}

/** Does what a form asks for, and gives what was done. */
export async function changeProjects(
  { accessAdmin }: Pick<Gateway, "accessAdmin">,
  form: URLSearchParams,
  by: AuditAsker = {},
): Promise<keyof typeof DONE> {
  const name = form.get("name")?.trim() ?? "";
  const description = form.get("description")?.trim() ?? "";
  switch (form.get("change")) {
    case "create":
      await accessAdmin.saveProject({ name, description, servers: [], versionstamp: null }, by);
      return "made";
    case "save":
      await accessAdmin.saveProject({
        name,
        description,
        servers: form.getAll("server"),
        // A form without one is taken for an old one.
        versionstamp: form.get("versionstamp") ?? "",
      }, by);
      return "saved";
    case "delete":
      await accessAdmin.deleteProject(name, by);
      return "deleted";
    default:
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: "The form does not say what to do",
        recoveryAction: "Load the page again",
      });
  }
}
