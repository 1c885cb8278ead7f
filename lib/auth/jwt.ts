import { createLocalJWKSet, errors, jwtVerify, type JWTVerifyGetKey } from "jose";
import * as z from "zod";
import { forwardNow } from "../core/clock.ts";
import { GatewayError } from "../core/errors.ts";
import { hashOf, personCredential, type VerifiedCredential } from "./credentials.ts";
import { rightsOf, type TokenRights } from "./oauth_scopes.ts";
import { type IssuerKeys, type IssuerKeySet, plain } from "./issuer_keys.ts";

/** Only those where the key that checks cannot sign. */
const ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"];
const TYPES = ["at+jwt", "jwt"];
/** How far the clocks of two machines may be apart. */
const LEEWAY_S = 30;
/** How long a token is taken for what it was: its key may be withdrawn. */
const KNOWN_MS = 60_000;

const Header = z.looseObject({
  alg: z.string(),
  typ: z.string().optional(),
  kid: z.string().max(500).optional(),
});
const Claims = z.looseObject({
  iss: z.string(),
  sub: z.string().min(1).max(500),
  aud: z.union([z.string(), z.array(z.string())]),
  exp: z.number(),
});
type Claims = z.infer<typeof Claims>;

interface JwtReaderOptions {
  issuer: string;
  keys: Pick<IssuerKeys, "resolve">;
  /** Who tokens must be made out to, to be good at every endpoint. */
  audience: string;
  /** The gateway's own: a token can be made out to one endpoint below it. */
  address: string;
  now?(): number;
}

/** Reads the tokens that an identity provider signs (RFC 9068). */
export class JwtReader {
  readonly #options: JwtReaderOptions;
  readonly #now: () => number;
  #finder: { set: IssuerKeySet; find: JWTVerifyGetKey } | undefined;

  constructor(options: JwtReaderOptions) {
    this.#options = options;
    this.#now = options.now ?? forwardNow;
  }

  /** Undefined if it is no JWT; throws TOKEN_REQUIRED, INSUFFICIENT_SCOPE or ISSUER_UNAVAILABLE. */
  async read(bearer: string, signal: AbortSignal): Promise<VerifiedCredential | undefined> {
    const shown = decode(bearer);
    if (!shown) return undefined;
    // Before its signature: nobody is asked for the keys of a token that would not do anyway.
    this.#checkKind(shown.header);
    this.#checkClaims(shown.claims);
    const set = await this.#options.keys.resolve(shown.header.kid, signal);
    const claims = await this.#verify(bearer, set);
    const paths = this.#checkClaims(claims);
    const rights = rightsOf(claims);
    if ("wrong" in rights) throw refused(rights.wrong);
    const now = this.#now();
    return {
      principal: principalOf(claims, rights),
      name: nameOf(claims),
      ...rights,
      expiresAt: (claims.exp + LEEWAY_S) * 1000,
      knownUntil: now + KNOWN_MS,
      ...(paths ? { paths } : {}),
    };
  }

  #checkKind({ alg, typ = "" }: z.infer<typeof Header>): void {
    if (!ALGORITHMS.includes(alg)) {
      throw refused(`its algorithm must be one of ${ALGORITHMS.join(", ")}`);
    }
    if (!TYPES.includes(typ.toLowerCase().replace(/^application\//, ""))) {
      throw refused("its type must be at+jwt or JWT");
    }
  }

  /** The paths of the endpoints it is good at; undefined if it is for all. */
  #checkClaims({ iss, aud, exp }: Claims): string[] | undefined {
    const { issuer, audience, address } = this.#options;
    if (plain(iss) !== plain(issuer)) throw refused("it is from another issuer");
    if (exp + LEEWAY_S <= this.#now() / 1000) throw refused("it has expired");
    const audiences = typeof aud === "string" ? [aud] : aud;
    if (audiences.some((one) => plain(one) === plain(audience))) return undefined;
    const base = `${plain(address)}/`;
    const paths = audiences.filter((one) => one.startsWith(base) && one !== base)
      .map((one) => one.slice(base.length - 1));
    if (paths.length === 0) throw refused("its audience is not this gateway");
    return paths;
  }

  async #verify(bearer: string, set: IssuerKeySet): Promise<Claims> {
    if (this.#finder?.set !== set) {
      this.#finder = { set, find: createLocalJWKSet({ keys: set.keys }) };
    }
    try {
      const { payload } = await jwtVerify(bearer, this.#finder.find, {
        algorithms: ALGORITHMS,
        issuer: set.issuer,
        clockTolerance: LEEWAY_S,
        currentDate: new Date(this.#now()),
      });
      return Claims.parse(payload);
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error;
      throw refused(REASONS[error.code] ?? "it is malformed");
    }
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: "it has expired",
  ERR_JWT_CLAIM_VALIDATION_FAILED: "it is not valid yet, or from another issuer",
  ERR_JWKS_NO_MATCHING_KEY: "the identity provider does not have the key that signed it",
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: "it does not identify the key that signed it",
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "its signature is invalid",
};

/** What a token says of itself, which is to be believed only once its signature is checked. */
function decode(bearer: string): { header: z.infer<typeof Header>; claims: Claims } | undefined {
  const parts = bearer.split(".");
  if (parts.length !== 3) return undefined;
  const header = Header.safeParse(jsonOf(parts[0]!));
  if (!header.success) return undefined;
  const claims = Claims.safeParse(jsonOf(parts[1]!));
  if (!claims.success) throw refused("it must have the claims iss, sub, aud and exp");
  return { header: header.data, claims: claims.data };
}

function jsonOf(part: string): unknown {
  try {
    const bytes = Uint8Array.fromBase64(part, { alphabet: "base64url" });
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** Includes the rights: a person can use two tokens at once, and neither gets the other's rights. */
function principalOf({ iss, sub }: Claims, rights: TokenRights): string {
  return personCredential(`oauth:${hashOf(`${iss}\0${sub}`).slice(0, 32)}`, rights);
}

function nameOf(claims: Claims): string {
  const texts = [claims.name, claims.email, claims.sub].flatMap((value) =>
    typeof value === "string" ? value.replace(/[\p{C}\p{Z}]+/gu, " ").trim().slice(0, 80) : []
  );
  return texts.find((text) => text !== "") ?? "somebody";
}

function refused(reason: string): GatewayError {
  return new GatewayError("TOKEN_REQUIRED", {
    message: `The identity provider's token is invalid: ${reason}`,
    recoverySteps: ["Request a new token for this gateway from the identity provider"],
  });
}
