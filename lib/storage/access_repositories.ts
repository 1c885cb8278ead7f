import { AccessToken, ConsoleLogin, Project } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import { Collection } from "./collection.ts";
import { keys } from "./keys.ts";
import type { Store } from "./store.ts";

const MOST_ATTEMPTS = 20;

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

  /** Saves what is made with a look at all there are; it is made anew where another came between. */
  async add(make: (existing: readonly AccessToken[]) => AccessToken): Promise<AccessToken> {
    const last = keys.lastAccessToken();
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const versionstamp = (await this.store.read(last))?.versionstamp ?? null;
      const token = make((await Array.fromAsync(this.list())).map(({ value }) => value));
      const key = keys.accessToken(token.id);
      const saved = await this.store.tryCommit({
        checks: [{ key: last, versionstamp }, { key, versionstamp: null }],
        sets: [{ key: last, value: { id: token.id } }, { key, value: token }],
      });
      if (saved !== undefined) return token;
    }
    throw new GatewayError("CONFLICT", {
      message: "Cannot make a token: too many are being made at once",
      recoveryAction: "Try again in a moment",
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
