import type { AccessScope, AccessToken, CallLimit, Project, Right } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import { EVERYONE, inProject, ownerOf, projectOf } from "../core/principal.ts";
import { Expiries } from "./expiries.ts";
import { Grants, WHOLE_SCOPE } from "./grants.ts";
import { bearerOf, hashOf } from "./token_text.ts";

/** A header that is presented again is known; beyond this many all are looked at anew. */
const KEPT_HEADERS = 1_000;
const KEPT_GRANTS = 10_000;

/** Who the gateway's first token belongs to, the one that comes from the environment. */
export const ADMIN = "token:admin";

/** Somebody whose credential another authority has vouched for. */
export interface Vouched {
  /** Another one for another scope: two credentials of one person can be in use at once. */
  principal: string;
  /** What a person calls it. */
  name: string;
  scope: AccessScope;
  /** In ms since the epoch. */
  expiresAt: number;
  /** When its authority is asked again, if that is before it expires. */
  knownUntil?: number;
  /** The only doors it is good at, by path. */
  paths?: readonly string[];
}

export interface AccessOptions {
  /** Whether nobody comes in without a token. */
  isRequired: boolean;
  /** The first token, from the environment. */
  adminToken?: string | undefined;
  /** Whether somebody else vouches for callers, such as a company's identity provider. */
  hasAuthority?: boolean;
  /** Looks at a bearer that is no token of ours; undefined where nobody vouches for it. */
  vouch?(bearer: string): Promise<Vouched | undefined>;
  /** Where a client learns how to get a token, for WWW-Authenticate. */
  challenge?(request?: Request, error?: unknown): string | undefined;
  now?(): number;
}

/** Who is behind a header. */
interface Caller {
  owner: string;
  /** The only project it can be used in. */
  project: string | undefined;
  /** The only doors it is good at, by path. */
  paths?: readonly string[] | undefined;
  expiresAt: number;
}

/** What is known of one owner. */
interface Holder {
  scope: AccessScope;
  project: string | undefined;
  limit: CallLimit | undefined;
  name: string;
}

/**
 * Who may come in, and what exists for them. All of it is in memory: a request costs a look into a
 * map, and a change in the store is taken up by `load()` on every instance.
 */
export class Access {
  readonly #options: AccessOptions;
  readonly #now: () => number;
  readonly #admin: Holder = {
    scope: WHOLE_SCOPE,
    project: undefined,
    limit: undefined,
    name: "admin",
  };
  readonly #vouched = new Map<string, Holder & { expiresAt: number }>();
  readonly #used = new Map<string, number>();
  readonly #expiries = new Expiries();
  #tokens = new Map<string, AccessToken>();
  #byHash = new Map<string, AccessToken>();
  #projects = new Map<string, ReadonlySet<string>>();
  #assigned = new Set<string>();
  #callers = new Map<string, Caller>();
  #grants = new Map<string, Grants>();

  constructor(options: AccessOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  get isRequired(): boolean {
    return this.#options.isRequired;
  }

  /** Whether there is any token to come in with. */
  get hasToken(): boolean {
    const now = this.#now();
    return this.#options.adminToken !== undefined || this.#options.hasAuthority === true ||
      [...this.#tokens.values()].some(({ expiresAt = Infinity }) => expiresAt > now);
  }

  /** Takes up what the store holds; gives the owners whose rights have changed or ended. */
  load(tokens: readonly AccessToken[], projects: readonly Project[]): Set<string> {
    const before = new Map([...this.#tokens].map(([id, token]) => [id, rightsText(token)]));
    const projectsBefore = projectsText(this.#projects);
    this.#tokens = new Map(tokens.map((token) => [token.id, token]));
    this.#byHash = new Map(tokens.map((token) => [token.hash, token]));
    for (const { expiresAt } of tokens) this.#expiries.expect(expiresAt);
    this.#projects = new Map(projects.map(({ name, servers }) => [name, new Set(servers)]));
    this.#assigned = new Set(projects.flatMap(({ servers }) => servers));
    this.#callers = new Map();
    const isProjectsChanged = projectsBefore !== projectsText(this.#projects);
    const changed = new Set<string>();
    for (const [id, text] of before) {
      const token = this.#tokens.get(id);
      if (!token || rightsText(token) !== text) changed.add(`token:${id}`);
    }
    if (isProjectsChanged) {
      for (const principal of this.#grants.keys()) {
        if (projectOf(principal) !== undefined) changed.add(ownerOf(principal));
      }
    }
    if (isProjectsChanged || changed.size > 0) this.#grants = new Map();
    return changed;
  }

  /**
   * Who a request to a URL is made for; throws TOKEN_REQUIRED. At once for a header that is known.
   * Where no URL is given, a credential that is good at one door alone is not let in.
   */
  identify(
    authorization: string | null,
    project?: string,
    url?: string,
  ): string | Promise<string> {
    if (authorization === null) {
      if (this.#options.isRequired) {
        throw this.hasToken ? this.refusal("A token is needed to come in") : noTokenYet();
      }
      return this.#within({ owner: EVERYONE, project: undefined, expiresAt: Infinity }, project);
    }
    const known = this.#callers.get(authorization);
    if (known && known.expiresAt > this.#now()) {
      this.#used.set(known.owner, this.#now());
      this.#checkPath(known, url);
      return this.#within(known, project);
    }
    this.#callers.delete(authorization);
    const bearer = bearerOf(authorization);
    if (bearer === undefined) throw this.refusal("The Authorization header has no bearer token");
    const caller = this.#findToken(bearer);
    if (caller) return this.#within(this.#remember(authorization, caller), project);
    return this.#identifyVouched(authorization, bearer, project, url);
  }

  /** The owner of a token's text, for a login; throws TOKEN_REQUIRED. */
  async identifyText(token: string): Promise<string> {
    return await this.identify(`Bearer ${token.trim()}`);
  }

  /** Whether an owner's credential still counts. */
  isValid(owner: string): boolean {
    return owner === EVERYONE ? !this.#options.isRequired : this.#holder(owner) !== undefined;
  }

  grants(principal: string): Grants {
    let grants = this.#grants.get(principal);
    if (grants && this.#isCurrent(principal)) return grants;
    const holder = this.#holder(ownerOf(principal));
    if (!holder) return NOTHING;
    const project = projectOf(principal);
    grants = new Grants(holder.scope, project === undefined ? undefined : this.#inside(project));
    if (this.#grants.size >= KEPT_GRANTS) this.#grants.clear();
    this.#grants.set(principal, grants);
    return grants;
  }

  admits(principal: string, tool: { server: string; name: string }): boolean {
    return principal === EVERYONE || this.grants(principal).admitsTool(tool);
  }

  admitsServer(principal: string, name: string): boolean {
    return principal === EVERYONE || this.grants(principal).admitsServer(name);
  }

  admitsToolset(principal: string, name: string): boolean {
    return principal === EVERYONE || this.grants(principal).admitsToolset(name);
  }

  /** Throws ACCESS_DENIED. */
  demand(principal: string, right: Right, attempt: string): void {
    if (principal === EVERYONE || this.grants(principal).may(right)) return;
    throw new GatewayError("ACCESS_DENIED", {
      message: `${attempt} needs a token with the right "${right}"`,
      recoverySteps: [`Ask the owner for a token that may ${right}`],
    });
  }

  /** Whether a tool was kept from the caller by its project alone. */
  isProjectsDoing(principal: string, tool: { server: string; name: string }): boolean {
    return projectOf(principal) !== undefined && this.admits(ownerOf(principal), tool);
  }

  /** Another project of the same caller's; throws where its token is bound to one. */
  switchProject(principal: string, project: string): string {
    const owner = ownerOf(principal);
    const bound = this.#holder(owner)?.project;
    return this.#within({ owner, project: bound, expiresAt: Infinity }, project);
  }

  /** When a token of this gateway's ends; undefined where it does not. */
  endOf(principal: string): number | undefined {
    return this.#tokens.get(ownerOf(principal).replace(/^token:/, ""))?.expiresAt;
  }

  limitOf(principal: string): CallLimit | undefined {
    return principal === EVERYONE ? undefined : this.#holder(ownerOf(principal))?.limit;
  }

  /** What a person calls the owner. */
  nameOf(principal: string): string {
    const owner = ownerOf(principal);
    return owner === EVERYONE
      ? "somebody on this machine (no token)"
      : this.#holder(owner)?.name ?? owner;
  }

  projects(): string[] {
    return [...this.#projects.keys()].sort();
  }

  /** When each token was last used, since this was last asked. */
  takeUsed(): Map<string, number> {
    const used = new Map(
      [...this.#used].flatMap(([owner, time]) => {
        const id = owner.replace(/^token:/, "");
        return this.#tokens.has(id) ? [[id, time] as const] : [];
      }),
    );
    this.#used.clear();
    return used;
  }

  /** The owners whose credential has run out since this was last asked. */
  takeExpired(): Set<string> {
    const now = this.#now();
    const expired = this.#expiries.take(now, [
      ...[...this.#tokens].map(([id, { expiresAt }]) => [`token:${id}`, expiresAt] as const),
      ...[...this.#vouched].map(([owner, { expiresAt }]) => [owner, expiresAt] as const),
    ]);
    for (const owner of expired) this.#vouched.delete(owner);
    return expired;
  }

  refusal(message: string): GatewayError {
    return new GatewayError("TOKEN_REQUIRED", {
      message,
      recoverySteps: [
        "Ask the owner of the gateway for a token",
        "Send it as `Authorization: Bearer TOKEN`, or as QUARTERMASTER_TOKEN to the command line",
      ],
    });
  }

  /** The header that tells a client how to come in. */
  challenge(request?: Request, error?: unknown): string {
    return this.#options.challenge?.(request, error) ?? 'Bearer realm="Quartermaster"';
  }

  async #identifyVouched(
    authorization: string,
    bearer: string,
    project: string | undefined,
    url: string | undefined,
  ) {
    const vouched = await this.#options.vouch?.(bearer);
    if (!vouched || vouched.expiresAt <= this.#now()) {
      throw this.refusal("The token is not known here, was revoked, or has expired");
    }
    const { principal: owner, name, scope, expiresAt, knownUntil = Infinity, paths } = vouched;
    this.#vouched.set(owner, {
      scope,
      project: undefined,
      limit: undefined,
      name,
      // What is open goes on with the credential that lasts longest, whichever was shown last.
      expiresAt: Math.max(expiresAt, this.#vouched.get(owner)?.expiresAt ?? 0),
    });
    this.#expiries.expect(expiresAt);
    for (const key of this.#grants.keys()) if (ownerOf(key) === owner) this.#grants.delete(key);
    const caller = this.#remember(authorization, {
      owner,
      project: undefined,
      paths,
      expiresAt: Math.min(expiresAt, knownUntil),
    });
    this.#checkPath(caller, url);
    return this.#within(caller, project);
  }

  #checkPath({ paths }: Caller, url: string | undefined): void {
    if (paths === undefined) return;
    if (url !== undefined && paths.includes(new URL(url).pathname)) return;
    throw this.refusal("The token is made out to another door of this gateway");
  }

  #findToken(bearer: string): Caller | undefined {
    const { adminToken } = this.#options;
    const hash = hashOf(bearer);
    if (adminToken !== undefined && hash === hashOf(adminToken)) {
      return { owner: ADMIN, project: undefined, expiresAt: Infinity };
    }
    const token = this.#byHash.get(hash);
    if (!token) return undefined;
    const { id, project, expiresAt = Infinity } = token;
    if (expiresAt <= this.#now()) throw this.refusal(`The token "${token.name}" has expired`);
    return { owner: `token:${id}`, project, expiresAt };
  }

  #remember(authorization: string, caller: Caller): Caller {
    if (this.#callers.size >= KEPT_HEADERS) this.#callers.clear();
    this.#callers.set(authorization, caller);
    this.#used.set(caller.owner, this.#now());
    return caller;
  }

  #within({ owner, project: bound }: Caller, wanted: string | undefined): string {
    if (wanted === undefined) return bound === undefined ? owner : inProject(owner, bound);
    if (bound !== undefined && wanted !== bound) {
      throw new GatewayError("ACCESS_DENIED", {
        message: `This token is for the project "${bound}" alone`,
        recoverySteps: [`Leave the project out, or name "${bound}"`],
      });
    }
    if (!this.#projects.has(wanted)) {
      throw new GatewayError("NOT_FOUND", {
        message: `There is no project "${wanted.slice(0, 64)}"`,
        recoverySteps: ["Check the project's name with the owner of the gateway"],
      });
    }
    return inProject(owner, wanted);
  }

  #holder(owner: string): Holder | undefined {
    if (owner === EVERYONE) return this.#admin;
    if (owner === ADMIN) return this.#options.adminToken === undefined ? undefined : this.#admin;
    const vouched = this.#vouched.get(owner);
    if (vouched) return vouched.expiresAt > this.#now() ? vouched : undefined;
    const token = owner.startsWith("token:") ? this.#tokens.get(owner.slice(6)) : undefined;
    if (!token || (token.expiresAt ?? Infinity) <= this.#now()) return undefined;
    return { scope: token.scope, project: token.project, limit: token.limit, name: token.name };
  }

  #isCurrent(principal: string): boolean {
    return this.#holder(ownerOf(principal)) !== undefined;
  }

  #inside(project: string): (server: string) => boolean {
    const servers = this.#projects.get(project);
    // Where the project is gone, its callers are not let in everywhere else for it.
    return (server) =>
      servers !== undefined && (servers.has(server) || !this.#assigned.has(server));
  }
}

const NOTHING = new Grants(
  { rights: ["read"], servers: ["!*"], toolsets: ["!*"], tools: ["!*"] },
  undefined,
);

export interface NoTokenDetails {
  /** Why one is needed, to follow "because". */
  why?: string;
  /** What tells a command which data is meant, such as "--data-dir /srv/tools". */
  place?: string;
}

/** Told where nobody can come in. */
export function noTokenYet({ why, place }: NoTokenDetails = {}): GatewayError {
  const needs = why === undefined ? "needs a token" : `needs a token because ${why},`;
  const command = ["deno task cli token create --name me --rights read,call,manage", place ?? ""];
  return new GatewayError("TOKEN_REQUIRED", {
    message: `This gateway ${needs} and has no token yet: nobody is let in`,
    recoveryAction: "Make a token",
    recoverySteps: [
      `On the machine itself: \`${command.join(" ").trim()}\``,
      "Or set QUARTERMASTER_ADMIN_TOKEN to a long random text, and start again",
    ],
  });
}

function rightsText({ scope, project, expiresAt, hash }: AccessToken): string {
  return JSON.stringify([scope, project, expiresAt, hash]);
}

function projectsText(projects: ReadonlyMap<string, ReadonlySet<string>>): string {
  return JSON.stringify([...projects].map(([name, servers]) => [name, [...servers]]));
}
