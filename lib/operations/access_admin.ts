import * as z from "zod";
import {
  AccessToken,
  type AuditedChange,
  type NewToken,
  Project,
  ProjectName,
} from "../core/access.ts";
import { hashOf, newTokenText } from "../auth/credentials.ts";
import { GatewayError } from "../core/errors.ts";
import { didYouMean, nearestNames } from "../core/text.ts";
import type { AccessTokensRepository, ProjectsRepository } from "../storage/access_repositories.ts";

const MAX_TOKENS = 1_000;

interface AccessAdminOptions {
  tokens: AccessTokensRepository;
  projects: ProjectsRepository;
  /** Loads tokens and projects from the store. */
  onChanged?(): Promise<void>;
  onAudit?(change: AuditedChange): void;
  onWarning?(message: string, details?: object): void;
  now?(): number;
}

/** A token as it is shown: without what it is recognized by. */
export const ShownToken = AccessToken.omit({ hash: true });
export type ShownToken = z.infer<typeof ShownToken>;

/** A project with what says whether it was changed since it was read. */
export const ShownProject = Project.extend({ versionstamp: z.string() });
export type ShownProject = z.infer<typeof ShownProject>;

/** A project as people write it; its name and servers are checked when it is saved. */
export const WrittenProject = z.strictObject({
  name: z.string().describe("Project name"),
  description: z.string().optional().describe("What the project is for"),
  servers: z.array(z.string()).default([]).describe("Server names"),
  versionstamp: z.string().nullable().optional()
    .describe("The version you read; null if the project must not exist yet"),
});

/** Tokens and projects, for the console and the command line. */
export class AccessAdmin {
  readonly #options: AccessAdminOptions;
  readonly #now: () => number;

  constructor(options: AccessAdminOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  async tokens(): Promise<ShownToken[]> {
    const all = await Array.fromAsync(this.#options.tokens.list());
    return all.map(({ value }) => shown(value)).sort((a, b) => b.createdAt - a.createdAt);
  }

  /** The text is given once, and cannot be had again. */
  async createToken(
    { name, ...granted }: NewToken,
  ): Promise<{ token: ShownToken; text: string }> {
    const { tokens } = this.#options;
    const { project, expiresAt } = granted;
    const trimmed = name.trim();
    if (trimmed === "" || trimmed.length > 80) {
      throw invalid("Cannot create the token: its name must have 1 to 80 characters");
    }
    if (expiresAt !== undefined && expiresAt <= this.#now()) {
      throw invalid("Cannot create the token: it would already be expired. Choose a later time");
    }
    if (project !== undefined) await this.resolveProject(project);
    const text = newTokenText();
    const token: AccessToken = {
      id: crypto.randomUUID().replaceAll("-", "").slice(0, 12),
      name: trimmed,
      hash: hashOf(text),
      ...granted,
      createdAt: this.#now(),
    };
    await tokens.add((existing) => {
      checkRoom(trimmed, existing);
      return token;
    });
    const change = { action: "token.create", subject: trimmed, after: shown(token) };
    try {
      await this.#changed(change);
    } catch (error) {
      // It exists, and its text is shown nowhere else.
      this.#options.onWarning?.("A token was created but is not active yet", { error });
    }
    return { token: shown(token), text };
  }

  /** By id or name; it opens nothing from then on, on any instance. */
  async revokeToken(idOrName: string): Promise<ShownToken> {
    const all = await Array.fromAsync(this.#options.tokens.list());
    // An id first: a token may be named like another one's id.
    const found = all.find(({ value }) => value.id === idOrName) ??
      all.find(({ value }) => value.name === idOrName);
    if (!found) {
      throw new GatewayError("NOT_FOUND", {
        message: `There is no token "${idOrName.slice(0, 80)}"`,
        recoveryAction: "See all tokens",
      });
    }
    await this.#options.tokens.delete(found.value.id);
    const token = shown(found.value);
    await this.#changed({ action: "token.revoke", subject: token.name, before: token });
    return token;
  }

  async projects(): Promise<ShownProject[]> {
    const all = await Array.fromAsync(this.#options.projects.list());
    return all.map(({ value, versionstamp }) => ({ ...value, versionstamp }));
  }

  async resolveProject(name: string): Promise<ShownProject> {
    const all = await this.projects();
    const found = all.find((project) => project.name === name);
    if (found) return found;
    throw new GatewayError("NOT_FOUND", {
      message: `There is no project "${name.slice(0, 80)}"`,
      next: [{ label: "See all projects", operation: "project.list" }],
      ...didYouMean(nearestNames(name, all.map((project) => project.name))),
    });
  }

  /** Makes a project, or gives one other servers; throws CONFLICT for one changed since it was read. */
  async saveProject(written: z.infer<typeof WrittenProject>): Promise<ShownProject> {
    const name = ProjectName.safeParse(written.name);
    if (!name.success) throw invalid("A project name must have 1 to 64 letters, digits, _ or -");
    const before = await this.#options.projects.find(name.data);
    const current = before?.versionstamp ?? null;
    if (written.versionstamp !== undefined && written.versionstamp !== current) {
      throw writtenOver(name.data, written.versionstamp);
    }
    const project = Project.safeParse({
      name: name.data,
      ...(written.description ? { description: written.description } : {}),
      servers: [...new Set(written.servers)].sort(),
      createdAt: before?.value.createdAt ?? this.#now(),
    });
    if (!project.success) {
      throw invalid(`Cannot save project "${name.data}": ${project.error.issues[0]?.message}`);
    }
    const versionstamp = await this.#options.projects.save(project.data, current);
    await this.#changed({
      action: before ? "project.change" : "project.create",
      subject: name.data,
      before: before?.value,
      after: project.data,
    });
    return { ...project.data, versionstamp };
  }

  async deleteProject(name: string): Promise<void> {
    const { versionstamp, ...before } = await this.resolveProject(name);
    const bound = (await this.tokens()).filter((token) => token.project === name);
    if (bound.length > 0) {
      throw new GatewayError("CONFLICT", {
        message: `Cannot delete project "${name}": ${
          bound.length === 1 ? "a token is" : `${bound.length} tokens are`
        } limited to it (${bound.slice(0, 3).map((token) => token.name).join(", ")})`,
        recoveryAction: "Revoke these tokens first",
      });
    }
    const others = (await this.projects()).filter((project) => project.name !== name);
    const alone = before.servers.filter((server) =>
      !others.some(({ servers }) => servers.includes(server))
    );
    if (others.length > 0 && alone.length > 0) {
      throw new GatewayError("CONFLICT", {
        message: `Cannot delete project "${name}": ${
          alone.slice(0, 3).join(", ")
        } would then belong to all other projects`,
        recoveryAction: "First assign its servers to another project, or remove them from this one",
      });
    }
    await this.#options.projects.delete(name, versionstamp);
    await this.#changed({ action: "project.delete", subject: name, before });
  }

  async #changed(change: AuditedChange): Promise<void> {
    this.#options.onAudit?.(change);
    await this.#options.onChanged?.();
  }
}

/** Throws if the name is taken or the limit of tokens is reached. */
function checkRoom(name: string, existing: readonly AccessToken[]): void {
  if (existing.some((token) => token.name === name)) {
    throw new GatewayError("CONFLICT", {
      message: `Token "${name}" already exists`,
      recoveryAction: "Choose another name, or revoke that one first",
    });
  }
  if (existing.length >= MAX_TOKENS) {
    throw new GatewayError("LIMIT_EXCEEDED", {
      message: `The limit of ${MAX_TOKENS} tokens is reached`,
      recoveryAction: "Revoke tokens that are no longer used",
    });
  }
}

function writtenOver(name: string, versionstamp: string | null): GatewayError {
  return versionstamp === null
    ? new GatewayError("CONFLICT", {
      message: `Project "${name}" already exists`,
      recoveryAction: "Choose another name, or change that one",
    })
    : new GatewayError("CONFLICT", {
      message: `Cannot save project "${name}": someone changed it since you opened it`,
      recoveryAction: "Reload the project, then make your change again",
    });
}

function shown({ hash: _, ...token }: AccessToken): ShownToken {
  return token;
}

function invalid(message: string): GatewayError {
  return new GatewayError("INVALID_ARGUMENTS", { message });
}
