import { type ConsoleLogin, ownerOf } from "../core/access.ts";
import type { ConsoleLoginsRepository } from "../storage/access_repositories.ts";
import { hashOf, newTokenText } from "./credentials.ts";
import { GatewayError } from "../core/errors.ts";

const LIFETIME_MS = 7 * 24 * 60 * 60_000;
/** Those that ended last; a list of the store's from before may still have them. */
const KEPT_ENDED = 1_000;

/** Browsers that are logged in; what their cookie holds is kept as a hash. */
export class ConsoleLogins {
  readonly #repository: ConsoleLoginsRepository;
  readonly #now: () => number;
  readonly #ended = new Set<string>();
  #logins = new Map<string, ConsoleLogin>();

  constructor(repository: ConsoleLoginsRepository, now: () => number = Date.now) {
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

const WINDOW_MS = 60_000;
const PER_PLACE = 5;
/** From all addresses together: many addresses give no more tries. */
const IN_ALL = 50;
const EVERYWHERE = "";

/** Counts failed logins, and refuses more after too many of them. */
export class LoginAttempts {
  readonly #failed = new Map<string, number[]>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  check(place: string): void {
    const wait = Math.max(this.#wait(place, PER_PLACE), this.#wait(EVERYWHERE, IN_ALL));
    if (wait <= 0) return;
    const seconds = Math.ceil(wait / 1000);
    throw new GatewayError("LIMIT_EXCEEDED", {
      message: `Too many login attempts: try again in ${seconds} s`,
      retryAfterSeconds: seconds,
    });
  }

  failed(place: string): void {
    for (const key of [place, EVERYWHERE]) {
      this.#failed.set(key, [...this.#recent(key), this.#now()].slice(-IN_ALL));
    }
    for (const key of this.#failed.keys()) {
      if (this.#recent(key).length === 0) this.#failed.delete(key);
    }
  }

  #wait(key: string, most: number): number {
    const recent = this.#recent(key);
    const first = recent.at(-most);
    return first === undefined ? 0 : first + WINDOW_MS - this.#now();
  }

  #recent(key: string): number[] {
    const since = this.#now() - WINDOW_MS;
    return (this.#failed.get(key) ?? []).filter((time) => time > since);
  }
}
