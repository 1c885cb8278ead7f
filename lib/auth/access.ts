import {
  type AccessToken,
  type CallLimit,
  credentialOf,
  EVERYONE,
  inProject,
  ownerOf,
  type Project,
  projectOf,
  type Right,
} from "../core/access.ts";
import { forwardNow } from "../core/clock.ts";
import { GatewayError } from "../core/errors.ts";
import {
  ADMIN,
  bearerOf,
  type Caller,
  Credentials,
  hashOf,
  newTokenText,
  type VerifiedCredential,
} from "./credentials.ts";
import { FailedAttempts } from "./failed_attempts.ts";
import { Grants, noTokenYet, RightMissing, tokenRefused } from "./grants.ts";

/** Known headers; beyond this many, all are checked again. */
const KEPT_HEADERS = 1_000;
const KEPT_GRANTS = 10_000;
/** A name that no server has: a caller who may use it may use them all. */
const ANY_SERVER = "\u{10ffff}";
const ANYBODY: Caller = { credential: EVERYONE, project: undefined, expiresAt: Infinity };

/** What is known of a request besides its Authorization header. */
export interface Identified {
  project?: string | undefined;
  url?: string | undefined;
  /** The other end of its connection. */
  place?(): string;
}

export interface RefusedRequest {
  readonly url: string;
  readonly headers: Pick<Headers, "get">;
}

export interface AccessOptions {
  isRequired: boolean;
  adminToken?: string | undefined;
  /** Tells the other gateways on the store where a wrong token came from. */
  tellGuess?: ((place: string) => void) | undefined;
  /** Whether somebody else vouches for callers, such as a company's identity provider. */
  hasAuthority?: boolean;
  /** Verifies a bearer token that is not ours; undefined if nobody vouches for it. */
  vouch?(bearer: string): Promise<VerifiedCredential | undefined>;
  /** Where a client learns how to get a token, for WWW-Authenticate. */
  challenge?(request?: RefusedRequest, error?: unknown): string | undefined;
  now?(): number;
}

/** All in memory: a request costs a map lookup, and load() applies changes of the store. */
export class Access {
  readonly #options: AccessOptions;
  readonly #now: () => number;
  readonly #credentials: Credentials;
  readonly #projects = new ProjectServers();
  #callers = new Map<string, Caller>();
  #grants = new Map<string, Grants>();
  /** Callers in projects that they may work in. */
  #inside = new Set<string>();
  /** Several clients of one machine may be set up wrong, so there are more of these than logins. */
  readonly guesses: FailedAttempts;
  /** Wrong tokens, hashed: a client that repeats one does not guess. */
  readonly #wrong = new Set<string>();
  /** By token: credentials of programs that this gateway itself has started. */
  readonly #lent = new Map<string, VerifiedCredential>();

  constructor(options: AccessOptions) {
    const { adminToken, tellGuess: tell, now = forwardNow } = options;
    this.#options = options;
    this.#now = now;
    this.#credentials = new Credentials({ adminToken, now });
    this.guesses = new FailedAttempts({
      what: "wrong tokens",
      perPlace: 20,
      inAll: 200,
      tell,
      now,
    });
  }

  get isRequired(): boolean {
    return this.#options.isRequired;
  }

  get hasToken(): boolean {
    return this.#options.hasAuthority === true || this.#credentials.hasAny;
  }

  /** Loads the stored tokens and projects; returns the owners whose rights have changed or ended. */
  load(tokens: readonly AccessToken[], projects: readonly Project[]): Set<string> {
    const changed = this.#credentials.load(tokens);
    const isProjectsChanged = this.#projects.load(projects);
    this.#forgetCallers();
    if (isProjectsChanged) {
      for (const principal of this.#grants.keys()) {
        if (projectOf(principal) !== undefined) changed.add(ownerOf(principal));
      }
    }
    if (isProjectsChanged || changed.size > 0) this.#forgetGrants();
    return changed;
  }

  /**
   * Who a request to a URL is made for; throws TOKEN_REQUIRED, or LIMIT_EXCEEDED after too many wrong
   * tokens from the same place. At once for a header that is known. Without a URL, a credential for a
   * single endpoint is refused.
   */
  identify(
    authorization: string | null,
    { project, url, place }: Identified = {},
  ): string | Promise<string> {
    if (authorization === null) {
      if (this.#options.isRequired) {
        throw this.hasToken ? tokenRefused("This gateway requires a token") : noTokenYet();
      }
      return this.#within(ANYBODY, project);
    }
    const known = this.#callers.get(authorization);
    if (known && known.expiresAt > this.#now()) {
      this.#credentials.noteUse(known.credential, this.#now());
      checkPath(known, url);
      return this.#within(known, project);
    }
    this.#callers.delete(authorization);
    const caller = this.#recognize(authorization, place);
    const admit = (caller: Caller) => {
      checkPath(caller, url);
      return this.#within(caller, project);
    };
    return caller instanceof Promise ? caller.then(admit) : admit(caller);
  }

  /**
   * The owner of a token's text and when that token ends, for a login; throws TOKEN_REQUIRED. What
   * nobody can guess is always let in; before anything else is answered, `beforeGuess` may throw.
   */
  async identifyText(
    text: string,
    beforeGuess: () => void = () => {},
  ): Promise<{ principal: string; endsAt: number }> {
    let caller: Caller;
    try {
      caller = await this.#recognize(`Bearer ${text.trim()}`);
    } catch (error) {
      beforeGuess();
      throw error;
    }
    // Chosen by a person: somebody could come upon it.
    if (caller.credential === ADMIN) beforeGuess();
    checkPath(caller, undefined);
    const { endsAt = caller.expiresAt } = caller;
    return { principal: this.#within(caller, undefined), endsAt };
  }

  /** A credential in memory, for a program that the gateway starts; gone when disposed. */
  lend(credential: VerifiedCredential): Disposable & { token: string } {
    const token = newTokenText();
    this.#lent.set(token, credential);
    this.#credentials.keep(credential);
    return {
      token,
      [Symbol.dispose]: () => {
        this.#lent.delete(token);
        this.#callers.delete(`Bearer ${token}`);
        this.#grants.delete(credential.principal);
        this.#credentials.drop(credential.principal);
      },
    };
  }

  /** Whether an owner's credential, or for a person one of them, still counts. */
  isValid(owner: string): boolean {
    return owner === EVERYONE
      ? !this.#options.isRequired
      : this.#credentials.findAny(credentialOf(owner)) !== undefined;
  }

  grants(principal: string): Grants {
    const holder = this.#credentials.find(credentialOf(principal));
    if (!holder) return NOTHING;
    let grants = this.#grants.get(principal);
    if (grants) return grants;
    const project = projectOf(principal);
    const isInside = project === undefined ? undefined : this.#projects.inside(project);
    grants = new Grants(holder.scope, isInside);
    if (this.#grants.size >= KEPT_GRANTS) this.#forgetGrants();
    this.#grants.set(principal, grants);
    return grants;
  }

  admits(principal: string, tool: { server: string; name: string }): boolean {
    return principal === EVERYONE || this.grants(principal).admitsTool(tool);
  }

  admitsServer(principal: string, name: string): boolean {
    return principal === EVERYONE || this.grants(principal).admitsServer(name);
  }

  admitsToolset(principal: string, ...toolset: Parameters<Grants["admitsToolset"]>): boolean {
    return principal === EVERYONE || this.grants(principal).admitsToolset(...toolset);
  }

  /** Throws ACCESS_DENIED. */
  demand(principal: string, right: Right, attempt: string): void {
    if (principal === EVERYONE || this.grants(principal).may(right)) return;
    throw new RightMissing(right, attempt);
  }

  /** Another project of the same caller's; throws if its token is bound to one. */
  switchProject(principal: string, project: string): string {
    const credential = credentialOf(principal);
    const bound = this.#credentials.find(credential)?.project;
    return this.#within({ credential, project: bound, expiresAt: Infinity }, project);
  }

  /** When a caller's credential ends, and what it makes at the latest; undefined if it does not. */
  endOf(principal: string): number | undefined {
    return this.#credentials.endOf(credentialOf(principal));
  }

  limitOf(principal: string): CallLimit | undefined {
    return principal === EVERYONE
      ? undefined
      : this.#credentials.find(credentialOf(principal))?.limit;
  }

  nameOf(principal: string): string {
    const credential = credentialOf(principal);
    return credential === EVERYONE
      ? "someone on this machine (no token)"
      : this.#credentials.findAny(credential)?.name ?? ownerOf(principal);
  }

  /** When each token was last used, since this was last asked. */
  takeUsed(): Map<string, number> {
    return this.#credentials.takeUsed();
  }

  /** The owners whose credential has run out since this was last asked. */
  takeExpired(): Set<string> {
    return this.#credentials.takeExpired();
  }

  challenge(request?: RefusedRequest, error?: unknown): string {
    return this.#options.challenge?.(request, error) ?? 'Bearer realm="Quartermaster"';
  }

  #recognize(authorization: string, place?: () => string): Caller | Promise<Caller> {
    const bearer = bearerOf(authorization);
    if (bearer === undefined) throw tokenRefused("The Authorization header has no bearer token");
    const caller = this.#credentials.findToken(bearer);
    if (!caller) return this.#ask(authorization, bearer, place);
    // Chosen by a person: whoever guesses must not learn that a guess was right. All other tokens are
    // too long to be guessed.
    if (caller.credential === ADMIN && place) this.guesses.check(place());
    return this.#remember(authorization, caller);
  }

  async #ask(authorization: string, bearer: string, place?: () => string): Promise<Caller> {
    const vouched = this.#lent.get(bearer) ?? await this.#options.vouch?.(bearer);
    if (!vouched || vouched.expiresAt <= this.#now()) {
      // Clients of an identity provider replace an expired token when they get a 401.
      if (place && !(this.#options.hasAuthority && isJwt(bearer))) {
        this.#noteGuess(bearer, place());
      }
      throw tokenRefused("The token is unknown, revoked or expired");
    }
    const caller = this.#credentials.keep(vouched);
    for (const principal of this.#grants.keys()) {
      if (credentialOf(principal) === caller.credential) this.#grants.delete(principal);
    }
    return this.#remember(authorization, caller);
  }

  /** Throws LIMIT_EXCEEDED after too many from one place. */
  #noteGuess(bearer: string, place: string): void {
    const hash = hashOf(bearer);
    if (this.#wrong.has(hash)) return;
    this.guesses.check(place);
    this.guesses.failed(place);
    if (this.#wrong.size >= KEPT_HEADERS) this.#wrong.clear();
    this.#wrong.add(hash);
  }

  #remember(authorization: string, caller: Caller): Caller {
    if (this.#callers.size >= KEPT_HEADERS) this.#forgetCallers();
    this.#callers.set(authorization, caller);
    this.#credentials.noteUse(caller.credential, this.#now());
    return caller;
  }

  /** Whoever has shown the admin token is not slowed by others' guesses: it stays what it is. */
  #forgetCallers(): void {
    const admins = this.#callers.entries().filter(([, caller]) => caller.credential === ADMIN);
    this.#callers = new Map(admins);
  }

  #forgetGrants(): void {
    this.#grants = new Map();
    this.#inside = new Set();
  }

  #within({ credential, project: bound }: Caller, wanted: string | undefined): string {
    if (wanted === undefined) {
      if (bound === undefined) return credential;
      if (!this.#projects.find(bound)) throw noProject(bound);
      return inProject(credential, bound);
    }
    if (bound !== undefined && wanted !== bound) {
      throw new GatewayError("ACCESS_DENIED", {
        message: `This token is only valid for the project "${bound}"`,
        recoverySteps: [`Omit the project, or use "${bound}"`],
      });
    }
    const principal = inProject(credential, wanted);
    if (this.#inside.has(principal)) return principal;
    const isOpen = bound === undefined
      ? this.#mayWorkIn(credential, wanted)
      : this.#projects.find(wanted) !== undefined;
    // In the same words for one that is not for the caller, or it could try which names there are.
    if (!isOpen) throw noProject(wanted);
    this.#inside.add(principal);
    return principal;
  }

  #mayWorkIn(credential: string, project: string): boolean {
    const servers = this.#projects.find(project);
    if (!servers) return false;
    if (servers.size === 0) return this.admitsServer(credential, ANY_SERVER);
    return servers.values().some((server) => this.admitsServer(credential, server));
  }
}

const NOTHING = new Grants(
  { rights: ["read"], servers: ["!*"], toolsets: ["!*"], tools: ["!*"] },
  undefined,
);

function isJwt(bearer: string): boolean {
  return bearer.split(".").length === 3;
}

function noProject(name: string): GatewayError {
  return new GatewayError("NOT_FOUND", {
    message: `There is no project "${name.slice(0, 64)}"`,
    recoverySteps: ["Ask the gateway's owner for the project's name"],
  });
}

function checkPath({ paths }: Caller, url: string | undefined): void {
  if (paths === undefined) return;
  if (url !== undefined && paths.includes(new URL(url).pathname)) return;
  throw tokenRefused("The token is only valid for another endpoint of this gateway");
}

/** Which servers are in which project; one that is assigned to none is in all of them. */
class ProjectServers {
  #projects = new Map<string, ReadonlySet<string>>();
  #assigned = new Set<string>();

  load(projects: readonly Project[]): boolean {
    const before = projectsText(this.#projects);
    this.#projects = new Map(projects.map(({ name, servers }) => [name, new Set(servers)]));
    this.#assigned = new Set(projects.flatMap(({ servers }) => servers));
    return before !== projectsText(this.#projects);
  }

  find(project: string): ReadonlySet<string> | undefined {
    return this.#projects.get(project);
  }

  inside(project: string): (server: string) => boolean {
    const servers = this.#projects.get(project);
    // If the project is gone, its callers do not get access to everything else.
    return (server) =>
      servers !== undefined && (servers.has(server) || !this.#assigned.has(server));
  }
}

function projectsText(projects: ReadonlyMap<string, ReadonlySet<string>>): string {
  return JSON.stringify([...projects].map(([name, servers]) => [name, [...servers]]));
}
