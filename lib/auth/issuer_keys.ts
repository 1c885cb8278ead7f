import * as z from "zod";
import { errorMessage, GatewayError } from "../core/errors.ts";
import { parseJson } from "../core/rpc.ts";
import { isLoopback } from "../config/address.ts";

/** Keys are asked for again after this long, so that a withdrawn one ends soon. */
const FRESH_MS = 10 * 60_000;
/** How long they are good for where the provider cannot be reached in between. */
const GOOD_MS = 60 * 60_000;
/** Anybody can name a key that does not exist. */
const SEEK_EVERY_MS = 60_000;
/** How long nobody asks again after a failure. */
const RETRY_MS = 10_000;
const LIMIT_MS = 5_000;
const MAX_BYTES = 256 * 1024;
const MAX_KEYS = 100;

const Metadata = z.looseObject({ issuer: z.string(), jwks_uri: z.string() });
const KeyList = z.looseObject({ keys: z.array(z.unknown()).max(MAX_KEYS) });
/** Only what others may know: a secret both sides share would let anybody with it sign. */
const PublicKey = z.looseObject({
  kty: z.enum(["RSA", "EC", "OKP"]),
  kid: z.string().max(500).exactOptional(),
  use: z.literal("sig").exactOptional(),
});
type PublicKey = z.infer<typeof PublicKey>;

export interface IssuerKeySet {
  /** As it writes itself in its tokens. */
  issuer: string;
  keys: PublicKey[];
  fetchedAt: number;
}

export interface IssuerKeysOptions {
  issuer: string;
  fetch?: typeof fetch;
  now?(): number;
  onWarning?(message: string, details: Record<string, unknown>): void;
}

/** The public keys of an identity provider, fetched when first needed. */
export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  readonly #now: () => number;
  #known: IssuerKeySet | undefined;
  #fetching: Promise<void> | undefined;
  #failedAt = -Infinity;
  #soughtAt = -Infinity;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** The keys, with the one named among them if there is such a one; throws ISSUER_UNAVAILABLE. */
  async resolve(kid: string | undefined, signal: AbortSignal): Promise<IssuerKeySet> {
    if (this.#age() >= FRESH_MS) await this.#refresh(signal);
    else if (kid !== undefined && !this.#has(kid)) await this.#seek(signal);
    if (this.#known && this.#age() < GOOD_MS) return this.#known;
    throw new GatewayError("ISSUER_UNAVAILABLE", {
      message: `Cannot check the token: the keys of ${this.#options.issuer} are unavailable`,
      retryAfterSeconds: RETRY_MS / 1000,
    });
  }

  #age(): number {
    return this.#known ? this.#now() - this.#known.fetchedAt : Infinity;
  }

  #has(kid: string): boolean {
    return this.#known?.keys.some((key) => key.kid === kid) ?? false;
  }

  /** A key that is not known may have come since. */
  async #seek(signal: AbortSignal): Promise<void> {
    if (!this.#fetching) {
      if (this.#now() - this.#soughtAt < SEEK_EVERY_MS) return;
      this.#soughtAt = this.#now();
    }
    await this.#refresh(signal);
  }

  /** Once for all who wait; leaves what is known where it fails. */
  async #refresh(signal: AbortSignal): Promise<void> {
    if (!this.#fetching && this.#now() - this.#failedAt < RETRY_MS) return;
    this.#fetching ??= this.#fetch(signal).finally(() => this.#fetching = undefined);
    await this.#fetching;
  }

  async #fetch(signal: AbortSignal): Promise<void> {
    const { issuer, onWarning } = this.#options;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
    try {
      const metadata = await this.#readMetadata(limit);
      const list = KeyList.safeParse(await this.#read(metadata.jwks_uri, limit));
      if (!list.success) throw new Error(`${metadata.jwks_uri} does not return a list of keys`);
      const keys = list.data.keys.flatMap((key) => PublicKey.safeParse(key).data ?? []);
      this.#known = { issuer: metadata.issuer, keys, fetchedAt: this.#now() };
    } catch (error) {
      const reason = limit.aborted ? "it did not answer in time" : errorMessage(error);
      this.#failedAt = this.#now();
      onWarning?.("Cannot fetch the identity provider's keys", { issuer, reason });
    }
  }

  async #readMetadata(signal: AbortSignal): Promise<z.infer<typeof Metadata>> {
    const { issuer } = this.#options;
    for (const place of metadataPlaces(issuer)) {
      const found = Metadata.safeParse(await this.#read(place, signal));
      if (!found.success) continue;
      if (plain(found.data.issuer) !== plain(issuer)) {
        throw new Error(`${place} is the metadata of another issuer, ${quoted(found.data.issuer)}`);
      }
      checkPlace(found.data.jwks_uri, issuer);
      return found.data;
    }
    throw new Error("it has no metadata with the URL of its keys");
  }

  /** JSON of a bounded size; undefined if there is none. Redirects are not followed. */
  async #read(url: string, signal: AbortSignal): Promise<unknown> {
    const send = this.#options.fetch ?? fetch;
    const headers = { accept: "application/json" };
    const response = await send(url, { headers, redirect: "manual", signal });
    if (response.status !== 200 || response.body === null) {
      await response.body?.cancel();
      return undefined;
    }
    const decoder = new TextDecoder();
    let [text, size] = ["", 0];
    for await (const chunk of response.body) {
      size += chunk.byteLength;
      if (size > MAX_BYTES) {
        throw new Error(`the response of ${url} is larger than ${MAX_BYTES} bytes`);
      }
      text += decoder.decode(chunk, { stream: true });
    }
    return parseJson(text);
  }
}

/** As two texts that name one issuer are compared: a slash at the end is all that may differ. */
export function plain(issuer: string): string {
  return issuer.replace(/\/$/, "");
}

/** By RFC 8414, and by OpenID Connect Discovery in both of its readings. */
function metadataPlaces(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = plain(pathname);
  return [
    ...new Set([
      `${origin}/.well-known/oauth-authorization-server${path}`,
      `${origin}${path}/.well-known/openid-configuration`,
      `${origin}/.well-known/openid-configuration${path}`,
    ]),
  ];
}

/** An attacker who could put another host into the metadata could sign for everybody. */
function checkPlace(text: string, issuer: string): void {
  const url = URL.parse(text);
  const isSafe = url?.protocol === "https:" ||
    (url?.protocol === "http:" && isLoopback(url.hostname));
  if (!isSafe || url.host !== new URL(issuer).host) {
    throw new Error(`its key URL ${quoted(text)} is not an https URL on its own host`);
  }
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 200));
}
