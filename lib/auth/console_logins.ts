import { type ConsoleLogin, ownerOf } from "../core/access.ts";
import { forwardNow } from "../core/clock.ts";
import type { ConsoleLoginsRepository } from "../storage/access_repositories.ts";
import { hashOf, newTokenText } from "./credentials.ts";

const LIFETIME_MS = 7 * 24 * 60 * 60_000;
/** Those that ended last; a list of the store's from before may still have them. */
const KEPT_ENDED = 1_000;

/** Browsers that are logged in; what their cookie holds is kept as a hash. */
export class ConsoleLogins {
  readonly #repository: ConsoleLoginsRepository;
  readonly #now: () => number;
  readonly #ended = new Set<string>();
  #logins = new Map<string, ConsoleLogin>();

  constructor(repository: ConsoleLoginsRepository, now: () => number = forwardNow) {
    this.#repository = repository;
    this.#now = now;
  }

  async load(): Promise<void> {
    const known = new Set(this.#logins.keys());
    const kept = new Map<string, ConsoleLogin>();
    for await (const { value } of this.#repository.list()) {
      if (value.expiresAt > this.#now()) kept.set(value.hash, value);
      else await this.#repository.delete(value.hash);
    }
    for (const hash of this.#ended) kept.delete(hash);
    // Begun while the store was read, which may not have shown them.
    for (const [hash, login] of this.#logins) if (!known.has(hash)) kept.set(hash, login);
    this.#logins = kept;
  }

  /** The cookie is valid for no longer than the credential that its owner logged in with. */
  async begin(principal: string, endsAt = Infinity): Promise<{ cookie: string; seconds: number }> {
    const cookie = newTokenText();
    const createdAt = this.#now();
    // Fixed: another token used later does not prolong it.
    const expiresAt = Math.min(createdAt + LIFETIME_MS, endsAt);
    const login = { hash: hashOf(cookie), principal, createdAt, expiresAt };
    await this.#repository.save(login, null);
    this.#logins.set(login.hash, login);
    return { cookie, seconds: Math.max(0, Math.floor((expiresAt - createdAt) / 1000)) };
  }

  find(cookie: string): string | undefined {
    const login = this.#logins.get(hashOf(cookie));
    return login && login.expiresAt > this.#now() ? login.principal : undefined;
  }

  async end(cookie: string): Promise<void> {
    await this.#end(hashOf(cookie));
  }

  async endAll(principal: string): Promise<void> {
    for (const login of [...this.#logins.values()]) {
      if (ownerOf(login.principal) === ownerOf(principal)) await this.#end(login.hash);
    }
  }

  async #end(hash: string): Promise<void> {
    this.#logins.delete(hash);
    this.#ended.add(hash);
    if (this.#ended.size > KEPT_ENDED) this.#ended.delete(this.#ended.values().next().value!);
    await this.#repository.delete(hash);
  }
}
