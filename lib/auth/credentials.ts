import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { tokenRefused, WHOLE_SCOPE } from "./grants.ts";
import {
  type AccessScope,
  type AccessToken,
  type CallLimit,
  EVERYONE,
  ownerOf,
} from "../core/access.ts";
import type { TokenRights } from "./oauth_scopes.ts";

/** Who the gateway's first token belongs to, the one that comes from the environment. */
export const ADMIN = "token:admin";

/** Stands between a person and the rights of the token that is shown. */
const PART = "#";

/** Somebody whose credential another authority has vouched for. */
export interface VerifiedCredential extends TokenRights {
  /** Another one for other rights: two credentials of one person can be in use at once. */
  principal: string;
  name: string;
  expiresAt: number;
  /** When its authority is asked again, if that is before it expires. */
  knownUntil?: number;
  paths?: readonly string[];
}

export interface Caller {
  credential: string;
  project: string | undefined;
  /** The only endpoints it is good at, by path. */
  paths?: readonly string[] | undefined;
  /** Until when it is taken for what it is without another look. */
  expiresAt: number;
  /** When what it came with ends, where that is not the same. */
  endsAt?: number;
}

interface CredentialHolder {
  name: string;
  scope: AccessScope;
  project?: string | undefined;
  limit?: CallLimit | undefined;
  expiresAt?: number | undefined;
}

interface CredentialsOptions {
  adminToken?: string | undefined;
  now(): number;
}

const OWNER_OF_ALL: CredentialHolder = { name: "admin", scope: WHOLE_SCOPE };

/** A person's credential with some rights; who it belongs to is the person, whatever the rights. */
export function personCredential(
  person: string,
  { scope, project, limit }: TokenRights,
): string {
  const text = JSON.stringify({ ...scope, project, limit });
  return `${person}${PART}${hashOf(text).slice(0, 16)}`;
}

/** The tokens that count, and those whom somebody else vouches for. */
export class Credentials {
  readonly #options: CredentialsOptions;
  readonly #vouched = new Map<string, CredentialHolder>();
  readonly #used = new Map<string, number>();
  #expiredUntil = 0;
  #tokens = new Map<string, AccessToken>();
  #byHash = new Map<string, AccessToken>();

  constructor(options: CredentialsOptions) {
    this.#options = options;
  }

  get hasAny(): boolean {
    return this.#options.adminToken !== undefined ||
      this.#tokens.values().some((token) => this.#isCurrent(token));
  }

  load(tokens: readonly AccessToken[]): Set<string> {
    const before = this.#tokens;
    this.#tokens = new Map(tokens.map((token) => [`token:${token.id}`, token]));
    this.#byHash = new Map(tokens.map((token) => [token.hash, token]));
    const changed = [...before].filter(([credential, token]) => {
      const after = this.#tokens.get(credential);
      return !after || rightsText(after) !== rightsText(token);
    });
    return new Set(changed.map(([credential]) => credential));
  }

  /** Who a token of this gateway's belongs to; throws TOKEN_REQUIRED if it has expired. */
  findToken(bearer: string): Caller | undefined {
    const { adminToken } = this.#options;
    const hash = hashOf(bearer);
    if (adminToken !== undefined && hash === hashOf(adminToken)) {
      return { credential: ADMIN, project: undefined, expiresAt: Infinity };
    }
    const token = this.#byHash.get(hash);
    if (!token) return undefined;
    if (!this.#isCurrent(token)) throw tokenRefused(`The token "${token.name}" has expired`);
    const { id, project, expiresAt = Infinity } = token;
    return { credential: `token:${id}`, project, expiresAt };
  }

  /** Remembers somebody whom another authority vouches for. */
  keep(vouched: VerifiedCredential): Caller {
    const { principal, name, scope, project, limit, expiresAt, knownUntil = Infinity } = vouched;
    const known = this.#vouched.get(principal);
    this.#vouched.set(principal, {
      scope,
      name,
      project,
      limit,
      // What is open goes on with the credential that lasts longest, whichever was shown last.
      expiresAt: Math.max(expiresAt, known?.expiresAt ?? 0),
    });
    return {
      credential: principal,
      project,
      paths: vouched.paths,
      expiresAt: Math.min(expiresAt, knownUntil),
      endsAt: expiresAt,
    };
  }

  drop(credential: string): void {
    this.#vouched.delete(credential);
  }

  /** Undefined if it does not count any more. */
  find(credential: string): CredentialHolder | undefined {
    if (credential === EVERYONE) return OWNER_OF_ALL;
    if (credential === ADMIN) {
      return this.#options.adminToken === undefined ? undefined : OWNER_OF_ALL;
    }
    const holder = this.#tokens.get(credential) ?? this.#vouched.get(credential);
    return holder && this.#isCurrent(holder) ? holder : undefined;
  }

  /** By an owner alone: one of the credentials that a person has. */
  findAny(owner: string): CredentialHolder | undefined {
    const own = this.find(owner);
    if (own) return own;
    for (const [credential, holder] of this.#vouched) {
      if (credential.startsWith(`${owner}${PART}`) && this.#isCurrent(holder)) return holder;
    }
  }

  /** When a credential ends, and what is made with it at the latest; undefined if it does not. */
  endOf(credential: string): number | undefined {
    // A ticket ends within minutes, but its owner has the data, and makes another at any time.
    if (credential === OWNER) return undefined;
    return (this.#tokens.get(credential) ?? this.#vouched.get(credential))?.expiresAt;
  }

  noteUse(credential: string, now: number): void {
    this.#used.set(credential, now);
  }

  /** When each token was last used, since this was last asked; by id. */
  takeUsed(): Map<string, number> {
    const used = [...this.#used].flatMap(([credential, time]) => {
      const token = this.#tokens.get(credential);
      return token ? [[token.id, time] as const] : [];
    });
    this.#used.clear();
    return new Map(used);
  }

  /** The owners of what has run out since this was last asked. */
  takeExpired(): Set<string> {
    const since = this.#expiredUntil;
    const now = this.#expiredUntil = this.#options.now();
    const expired = [...this.#tokens, ...this.#vouched]
      .filter(([, { expiresAt = Infinity }]) => expiresAt > since && expiresAt <= now)
      .map(([credential]) => credential);
    for (const credential of expired) this.#vouched.delete(credential);
    return new Set(expired.map(ownerOf));
  }

  #isCurrent({ expiresAt = Infinity }: { expiresAt?: number | undefined }): boolean {
    return expiresAt > this.#options.now();
  }
}

function rightsText({ scope, project, expiresAt, hash }: AccessToken): string {
  return JSON.stringify([scope, project, expiresAt, hash]);
}

/**
 * Notes when tokens were last used; what cannot be kept is kept at the next time. Throws what went
 * wrong first, once all were tried.
 */
export function tokenUseNotes(
  take: () => Map<string, number>,
  touch: (id: string, time: number) => Promise<void>,
): () => Promise<void> {
  const unnoted = new Map<string, number>();
  return async () => {
    for (const [id, time] of take()) unnoted.set(id, time);
    const failures: unknown[] = [];
    for (const [id, time] of unnoted) {
      await touch(id, time).then(() => unnoted.delete(id), (error) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  };
}

const TOKEN_PREFIX = "qm_";

/** A token that nobody can guess: 256 bits. */
export function newTokenText(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return TOKEN_PREFIX + bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** What is kept of a secret that is only ever compared. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export function bearerOf(authorization: string): string | undefined {
  return /^Bearer +([\x21-\x7e]{1,8192})$/i.exec(authorization)?.[1];
}

const TICKET_PREFIX = "qmo_";
const LIFETIME_MS = 5 * 60_000;

/** Who can read the store's own secret: its owner, who may do everything already. */
export const OWNER = "token:owner";

/** What tells one run of a gateway from every other on its store. */
export interface GatewayRun {
  pid: number;
  startedAt: number;
}

/**
 * Proves for a few minutes that a command line runs on the gateway's own data. It is good at that
 * gateway alone: another program may answer at its address, and must not get in anywhere with it.
 */
export function ownerTicket(secret: Uint8Array, gateway: GatewayRun, now = Date.now()): string {
  const expiry = now + LIFETIME_MS;
  return `${TICKET_PREFIX}${expiry}_${proof(secret, gateway, expiry)}`;
}

/** Who shows a ticket; undefined if it is none, or one for another gateway. */
export function readOwnerTicket(
  bearer: string,
  secret: Uint8Array,
  gateway: GatewayRun,
): VerifiedCredential | undefined {
  const [, expiry, given] = /^qmo_(\d{13})_([0-9a-f]{64})$/.exec(bearer) ?? [];
  if (expiry === undefined || given === undefined) return undefined;
  const expected = proof(secret, gateway, Number(expiry));
  if (!timingSafeEqual(new TextEncoder().encode(given), new TextEncoder().encode(expected))) {
    return undefined;
  }
  return { principal: OWNER, name: "owner", scope: WHOLE_SCOPE, expiresAt: Number(expiry) };
}

function proof(secret: Uint8Array, { pid, startedAt }: GatewayRun, expiry: number): string {
  const signed = JSON.stringify(["owner ticket", expiry, pid, startedAt]);
  return createHmac("sha256", secret).update(signed).digest("hex");
}
