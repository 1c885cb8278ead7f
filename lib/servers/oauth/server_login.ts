import { setTimeout as sleep } from "node:timers/promises";
import { createHash } from "node:crypto";
import type {
  FoundLogin,
  Login,
  LoginClaim,
  LoginOutline,
  LoginsRepository,
} from "../../storage/logins_repository.ts";
import { errorMessage, GatewayError } from "../../core/errors.ts";
import { TransportClosed } from "../transports/transport.ts";
import type { ServerCredentials } from "../transports/origin_client.ts";
import type { LoginReach, OAuthHttpOptions } from "./oauth_http.ts";
import { isRemote, type ServerSpec } from "../../core/server.ts";
import type { PooledServer } from "../server.ts";

/** One renewal, from the claim to the end. */
const RENEWAL_MS = 30_000;
/** How long to wait for another gateway that is at it. */
const WAIT_MS = 20_000;
const POLL_MS = 100;
/** A token is renewed this long before its end, or in the last fifth of a short life. */
const AHEAD_MS = 60_000;
/** With less left than this a request may come too late with it. */
const TOO_LATE_MS = 2_000;
/** After a renewal that failed, or was not kept, while the token still works. */
const RETRY_MS = 10_000;
/** Retrying does not help with these: a person has to log in again or correct the key. */
const UNOPENABLE = ["SECRET_UNREADABLE", "STORAGE_CORRUPT", "NOT_AVAILABLE_HERE"];

interface ServerLoginOptions extends OAuthHttpOptions {
  server: string;
  /** Of the server's address: what was made for another one is not used. */
  mark: string;
  reach?: LoginReach | undefined;
  owner: string;
  repository: LoginsRepository;
  /** Gets to know what must not be logged, in place of what was said of the same owner before. */
  learn(secrets: string[], owner: string): void;
  onWarning(message: string, details?: object): void;
  signal: AbortSignal;
}

interface Held {
  header: string;
  renewAt: number;
  expiresAt: number;
}

/** The login to one server, for all its connections: read once, renewed in time. */
export class ServerLogin implements ServerCredentials {
  readonly #options: ServerLoginOptions;
  #held: Held | undefined;
  /** What the store has not taken yet: the tokens that it has were used up for it. */
  #unsaved: FoundLogin | undefined;
  #isRead = false;
  #trouble: string | undefined;
  #wantedScope: string | undefined;
  #reading: Promise<unknown> | undefined;
  #renewing: { done: Promise<void>; isByTime: boolean } | undefined;

  constructor(options: ServerLoginOptions) {
    this.#options = options;
  }

  get trouble(): string | undefined {
    return this.#trouble;
  }

  get wantedScope(): string | undefined {
    return this.#wantedScope;
  }

  authorization(): string | undefined | Promise<string | undefined> {
    const held = this.#held;
    if (held === undefined) {
      return this.#isRead ? undefined : this.#firstRead().then(() => this.#held?.header);
    }
    const now = Date.now();
    if (now < held.renewAt) return held.header;
    const renewed = this.#renew(held.header, true);
    if (now > held.expiresAt - TOO_LATE_MS) return renewed.then(() => this.#held?.header);
    // It still works for a while: nobody has to wait, and the next caller gets the error.
    renewed.catch(() => held.renewAt = Date.now() + RETRY_MS);
    return held.header;
  }

  async renew(sent: string | undefined): Promise<boolean> {
    await this.#renew(sent);
    return this.#held !== undefined && this.#held.header !== sent;
  }

  async renewed(): Promise<void> {
    await this.#renewing?.done.catch(() => {});
  }

  lacksScope(scope: string): void {
    this.#wantedScope = scope;
  }

  #firstRead(): Promise<unknown> {
    return this.#reading ??= this.#read()
      .catch((error) => {
        throw lost("Cannot read the login", error);
      })
      .finally(() => this.#reading = undefined);
  }

  /** One at a time: a refresh token may be valid for a single use. */
  #renew(refused: string | undefined, isByTime = false): Promise<void> {
    const renewing = this.#renewing;
    // One by time may have had something to save only, which is nothing for a token that was refused.
    if (renewing?.isByTime && !isByTime) return renewing.done.then(() => this.#renew(refused));
    if (renewing) return renewing.done;
    const done = this.#renewNow(refused, isByTime)
      .catch((error) => {
        throw error instanceof TransportClosed ? error : lost("Cannot renew the login", error);
      })
      .finally(() => this.#renewing = undefined);
    this.#renewing = { done, isByTime };
    return done;
  }

  async #renewNow(refused: string | undefined, isByTime: boolean): Promise<void> {
    const { repository, server, owner, signal } = this.#options;
    const end = Date.now() + WAIT_MS;
    for (;;) {
      const found = await this.#read();
      if (!found || !this.#held || this.#held.header !== refused) return;
      if (isByTime && Date.now() < this.#held.renewAt) return;
      if (found.login.refreshToken === undefined) {
        const { expiresAt = Infinity, issuer } = found.login;
        const host = URL.parse(issuer)?.host ?? issuer;
        this.#trouble = expiresAt <= Date.now()
          ? "The login has expired, and the authorization server issued no refresh token"
          : `The server does not accept the token that ${host} issued for it`;
        return;
      }
      const claim = await repository.claim(server, owner, RENEWAL_MS);
      if (claim) return await this.#refresh(claim, refused);
      if (Date.now() > end) throw new Error("another gateway has been renewing it for too long");
      await sleep(POLL_MS, undefined, { signal });
    }
  }

  async #refresh(claim: LoginClaim, refused: string): Promise<void> {
    const { repository, signal } = this.#options;
    try {
      // Again: it may have been renewed between the look and the claim.
      const found = await this.#read();
      const refreshToken = found?.login.refreshToken;
      if (!found || refreshToken === undefined || this.#held?.header !== refused) return;
      const next = await this.#ask(found.login, refreshToken, signal);
      await this.#keep(next, found.versionstamp, claim);
    } finally {
      await repository.release(claim).catch(() => {});
    }
  }

  async #ask(login: Login, refreshToken: string, signal: AbortSignal): Promise<Login> {
    // Loaded when needed: most gateways never renew anything.
    const { OAuthHttp } = await import("./oauth_http.ts");
    const { refreshTokens, TokenRefused } = await import("./token_request.ts");
    try {
      const reach = await this.#options.reach?.(login.server);
      const http = new OAuthHttp({ ...this.#options, ...reach }, signal);
      return { ...login, ...await refreshTokens(http, login, refreshToken) };
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error;
      const trouble = `The login has ended: ${error.message}`;
      return { ...login, accessToken: undefined, refreshToken: undefined, trouble };
    }
  }

  async #keep(next: Login, versionstamp: string, claim: LoginClaim): Promise<void> {
    const { repository, server, onWarning } = this.#options;
    // Before it is written: whatever fails then must not show it.
    this.#hold(next);
    this.#unsaved = { login: next, versionstamp };
    let isSaved: boolean;
    try {
      isSaved = await repository.saveRenewed(next, versionstamp, claim);
    } catch (error) {
      if (this.#held) this.#held.renewAt = Date.now() + RETRY_MS;
      onWarning(
        "Cannot save a renewed login: the gateway retries, but the login is lost if it stops first",
        {
          server,
          error,
        },
      );
      return;
    }
    this.#unsaved = undefined;
    // Somebody logged in or out meanwhile, and that counts.
    if (!isSaved) await this.#read();
  }

  /** Before what is stored is read again, which others do too. */
  async #saveAgain({ login, versionstamp }: FoundLogin): Promise<void> {
    const { repository, server, owner } = this.#options;
    const claim = await repository.claim(server, owner, RENEWAL_MS);
    // Ours already, for a renewal that is to follow, or that of another gateway.
    if (!claim) return;
    try {
      // Where it is not taken, somebody logged in or out meanwhile, and that counts.
      await repository.saveRenewed(login, versionstamp, claim);
      this.#unsaved = undefined;
    } finally {
      await repository.release(claim).catch(() => {});
    }
  }

  async #read(): Promise<FoundLogin | undefined> {
    const { repository, server, mark, onWarning } = this.#options;
    if (this.#unsaved) await this.#saveAgain(this.#unsaved);
    let found: FoundLogin | undefined;
    try {
      found = await repository.find(server);
    } catch (error) {
      // A store that is away says nothing of what is held.
      if (!(error instanceof GatewayError && UNOPENABLE.includes(error.code))) throw error;
      this.#trouble = "The stored login cannot be decrypted";
      onWarning("Cannot decrypt a login: was it encrypted with a different key?", {
        server,
        error,
      });
    }
    this.#isRead = true;
    if (this.#unsaved?.versionstamp !== found?.versionstamp) this.#unsaved = undefined;
    found = this.#unsaved ?? found;
    if (found === undefined || found.login.addressMark !== mark) {
      this.#held = undefined;
      return undefined;
    }
    this.#hold(found.login);
    return found;
  }

  #hold(login: Login): void {
    const { accessToken, refreshToken, clientSecret, issuedAt, expiresAt = Infinity } = login;
    this.#trouble = login.trouble;
    if (accessToken === undefined) {
      this.#held = undefined;
      return;
    }
    const header = `Bearer ${accessToken}`;
    const life = expiresAt - issuedAt;
    const ahead = refreshToken === undefined ? 0 : Math.min(AHEAD_MS, life / 5);
    // Without anything to renew it with, the server is the judge of its end.
    const renewAt = refreshToken === undefined ? Infinity : expiresAt - ahead;
    if (this.#held?.header === header) {
      // What is not kept yet is to be tried again soon.
      if (!this.#unsaved) this.#held.renewAt = renewAt;
      return;
    }
    this.#options.learn(
      [accessToken, refreshToken, clientSecret].filter((one) => one !== undefined),
      `login ${login.server}`,
    );
    this.#held = { header, renewAt, expiresAt };
  }
}

/** Not a login that is wanted: what is kept may be good, and is tried again by itself. */
function lost(what: string, error: unknown): TransportClosed {
  return new TransportClosed("lost", `${what}: ${errorMessage(error)}`, { cause: error });
}

/** Stands for an address where it is only compared: it may hold a secret. */
export function addressMark(url: string): string {
  return createHash("sha256").update(url).digest("hex");
}

/** A login that was begun and came to nothing. Here, because what begins one is loaded when needed. */
export class FinishFailed extends Error {
  override readonly name = "FinishFailed";
  readonly server: string;
  readonly attempt: string;

  constructor(server: string, attempt: string, cause: unknown) {
    super(errorMessage(cause), { cause });
    this.server = server;
    this.attempt = attempt;
  }
}

type LoginsOptions = Omit<ServerLoginOptions, "server" | "mark">;

interface Known {
  outline: LoginOutline;
  login: ServerLogin;
}

/** Which servers somebody has logged in to. What is in memory opens nothing before it is used. */
export class Logins {
  readonly #options: LoginsOptions;
  readonly #known = new Map<string, Known>();

  constructor(options: LoginsOptions) {
    this.#options = options;
  }

  credentialsFor(name: string, spec: ServerSpec): ServerCredentials | undefined {
    const known = this.#known.get(name);
    // A header that the user has written counts more than a login.
    const isFor = known && isAt(known.outline, spec) && !hasOwnAuthorization(spec);
    return isFor ? known.login : undefined;
  }

  wantedScope(name: string): string | undefined {
    return this.#known.get(name)?.login.wantedScope;
  }

  /** Waits for renewals under way: a refresh token may be valid for a single use. */
  async renewed(): Promise<void> {
    await Promise.all(Array.from(this.#known.values(), ({ login }) => login.renewed()));
  }

  async load(): Promise<LoginOutline[]> {
    const stored = await this.#options.repository.outlines();
    const changed = stored.filter((outline) => {
      const before = this.#known.get(outline.server)?.outline;
      return before?.id !== outline.id || before.hasTokens !== outline.hasTokens;
    });
    const left = new Set(stored.map(({ server }) => server));
    for (const [name, { outline }] of this.#known) {
      if (left.has(name)) continue;
      this.#known.delete(name);
      changed.push({ ...outline, hasTokens: false });
    }
    for (const outline of changed) {
      if (!left.has(outline.server)) continue;
      const { server, addressMark: mark } = outline;
      const login = new ServerLogin({ ...this.#options, server, mark });
      this.#known.set(server, { outline, login });
    }
    return changed;
  }

  /** The logins that were made for another address than their server has. */
  outdated(servers: readonly PooledServer[]): string[] {
    // An address with a variable that is missing today may be the same tomorrow.
    const whole = servers.filter(({ problem }) => problem === undefined);
    const specs = new Map(whole.map(({ name, spec }) => [name, spec]));
    return [...this.#known].flatMap(([name, { outline }]) => {
      const spec = specs.get(name);
      return spec === undefined || isAt(outline, spec) ? [] : [name];
    });
  }
}

function isAt(outline: LoginOutline, spec: ServerSpec): boolean {
  return isRemote(spec) && addressMark(spec.url) === outline.addressMark;
}

export function hasOwnAuthorization(spec: ServerSpec): boolean {
  return isRemote(spec) &&
    Object.keys(spec.headers).some((name) => name.toLowerCase() === "authorization");
}
