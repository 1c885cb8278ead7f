import type { AccessScope, AccessToken, CallLimit } from "../core/access.ts";
import { EVERYONE, ownerOf } from "../core/principal.ts";
import { Expiries } from "./expiries.ts";
import type { ForeignRights } from "./foreign_scopes.ts";
import { WHOLE_SCOPE } from "./grants.ts";
import { OWNER } from "./owner_ticket.ts";
import { tokenRefused } from "./refusals.ts";
import { hashOf } from "./token_text.ts";

/** Who the gateway's first token belongs to, the one that comes from the environment. */
export const ADMIN = "token:admin";

/** Stands between a person and the rights of the token that is shown. */
const PART = "#";

/** Somebody whose credential another authority has vouched for. */
export interface Vouched extends ForeignRights {
  /** Another one for other rights: two credentials of one person can be in use at once. */
  principal: string;
  /** What a person calls it. */
  name: string;
  /** In ms since the epoch. */
  expiresAt: number;
  /** When its authority is asked again, if that is before it expires. */
  knownUntil?: number;
  /** The only doors it is good at, by path. */
  paths?: readonly string[];
}

/** Who is behind a header. */
export interface Caller {
  credential: string;
  /** The only project it can be used in. */
  project: string | undefined;
  /** The only doors it is good at, by path. */
  paths?: readonly string[] | undefined;
  /** Until when it is taken for what it is without another look. */
  expiresAt: number;
  /** When what it came with ends, where that is not the same. */
  endsAt?: number;
}

/** What is known of a credential's owner. */
export interface Holder {
  name: string;
  scope: AccessScope;
  project?: string | undefined;
  limit?: CallLimit | undefined;
  expiresAt?: number | undefined;
}

interface VouchedHolder extends Holder {
  expiresAt: number;
}

export interface CredentialsOptions {
  /** The first token, from the environment. */
  adminToken?: string | undefined;
  now(): number;
}

const OWNER_OF_ALL: Holder = { name: "admin", scope: WHOLE_SCOPE };

/** A person's credential with some rights; who it belongs to is the person, whatever the rights. */
export function personCredential(
  person: string,
  { scope, project, limit }: ForeignRights,
): string {
  const text = JSON.stringify({ ...scope, project, limit });
  return `${person}${PART}${hashOf(text).slice(0, 16)}`;
}

/** The tokens that count, and those whom somebody else vouches for. */
export class Credentials {
  readonly #options: CredentialsOptions;
  readonly #vouched = new Map<string, VouchedHolder>();
  readonly #used = new Map<string, number>();
  readonly #expiries = new Expiries();
  /** By credential. */
  #tokens = new Map<string, AccessToken>();
  #byHash = new Map<string, AccessToken>();

  constructor(options: CredentialsOptions) {
    this.#options = options;
  }

  get hasAny(): boolean {
    return this.#options.adminToken !== undefined ||
      this.#tokens.values().some((token) => this.#isCurrent(token));
  }

  /** Takes up what the store holds; gives the owners whose rights have changed or ended. */
  load(tokens: readonly AccessToken[]): Set<string> {
    const before = this.#tokens;
    this.#tokens = new Map(tokens.map((token) => [`token:${token.id}`, token]));
    this.#byHash = new Map(tokens.map((token) => [token.hash, token]));
    for (const { expiresAt } of tokens) this.#expiries.expect(expiresAt);
    const changed = [...before].filter(([credential, token]) => {
      const after = this.#tokens.get(credential);
      return !after || rightsText(after) !== rightsText(token);
    });
    return new Set(changed.map(([credential]) => credential));
  }

  /** Who a token of this gateway's belongs to; throws TOKEN_REQUIRED where it has expired. */
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
  keep(vouched: Vouched): Caller {
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
    this.#expiries.expect(expiresAt);
    return {
      credential: principal,
      project,
      paths: vouched.paths,
      expiresAt: Math.min(expiresAt, knownUntil),
      endsAt: expiresAt,
    };
  }

  /** Undefined where it does not count any more. */
  find(credential: string): Holder | undefined {
    if (credential === EVERYONE) return OWNER_OF_ALL;
    if (credential === ADMIN) {
      return this.#options.adminToken === undefined ? undefined : OWNER_OF_ALL;
    }
    const holder = this.#tokens.get(credential) ?? this.#vouched.get(credential);
    return holder && this.#isCurrent(holder) ? holder : undefined;
  }

  /** By an owner alone: one of the credentials that a person has. */
  findAny(owner: string): Holder | undefined {
    const own = this.find(owner);
    if (own) return own;
    for (const [credential, holder] of this.#vouched) {
      if (credential.startsWith(`${owner}${PART}`) && this.#isCurrent(holder)) return holder;
    }
  }

  /** When a credential ends, and what is made with it at the latest; undefined where it does not. */
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
    const expired = this.#expiries.take(this.#options.now(), [
      ...[...this.#tokens].map(([credential, { expiresAt }]) => [credential, expiresAt] as const),
      ...[...this.#vouched].map(([credential, { expiresAt }]) => [credential, expiresAt] as const),
    ]);
    for (const credential of expired) this.#vouched.delete(credential);
    return new Set([...expired].map(ownerOf));
  }

  #isCurrent({ expiresAt = Infinity }: { expiresAt?: number | undefined }): boolean {
    return expiresAt > this.#options.now();
  }
}

function rightsText({ scope, project, expiresAt, hash }: AccessToken): string {
  return JSON.stringify([scope, project, expiresAt, hash]);
}
