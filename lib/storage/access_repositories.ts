import { AccessToken, ConsoleLogin, Project } from "../core/access.ts";
import { Collection } from "./collection.ts";
import { keys } from "./keys.ts";
import type { Store } from "./store.ts";

export class AccessTokensRepository extends Collection<AccessToken> {
  constructor(store: Store) {
    super(store, {
      noun: "token",
      prefix: keys.accessTokens(),
      key: keys.accessToken,
      schema: AccessToken,
      idOf: ({ id }) => id,
    });
  }

  /** Notes when it was last used; nobody need hear of that. */
  async touch(id: string, time: number): Promise<void> {
    const found = await this.find(id);
    if (!found) return;
    const key = keys.accessToken(id);
    await this.store.tryCommit({
      checks: [{ key, versionstamp: found.versionstamp }],
      sets: [{ key, value: { ...found.value, lastUsedAt: time } }],
      announce: false,
    });
  }
}

export class ProjectsRepository extends Collection<Project> {
  constructor(store: Store) {
    super(store, {
      noun: "project",
      prefix: keys.projects(),
      key: keys.project,
      schema: Project,
      idOf: ({ name }) => name,
    });
  }
}

/** Browsers that are logged in, by the hash of their cookie. */
export class ConsoleLoginsRepository extends Collection<ConsoleLogin> {
  constructor(store: Store) {
    super(store, {
      noun: "login",
      prefix: keys.consoleLogins(),
      key: keys.consoleLogin,
      schema: ConsoleLogin,
      idOf: ({ hash }) => hash,
    });
  }
}
