import type { Project } from "../core/access.ts";

/** Which servers are in which project; one that is assigned to none is in all of them. */
export class ProjectServers {
  #projects = new Map<string, ReadonlySet<string>>();
  #assigned = new Set<string>();

  /** Takes up what the store holds; tells whether that is something else than before. */
  load(projects: readonly Project[]): boolean {
    const before = projectsText(this.#projects);
    this.#projects = new Map(projects.map(({ name, servers }) => [name, new Set(servers)]));
    this.#assigned = new Set(projects.flatMap(({ servers }) => servers));
    return before !== projectsText(this.#projects);
  }

  /** Those that are assigned to it. */
  find(project: string): ReadonlySet<string> | undefined {
    return this.#projects.get(project);
  }

  /** Tells of a server whether it is there in a project. */
  inside(project: string): (server: string) => boolean {
    const servers = this.#projects.get(project);
    // Where the project is gone, its callers are not let in everywhere else for it.
    return (server) =>
      servers !== undefined && (servers.has(server) || !this.#assigned.has(server));
  }
}

function projectsText(projects: ReadonlyMap<string, ReadonlySet<string>>): string {
  return JSON.stringify([...projects].map(([name, servers]) => [name, [...servers]]));
}
