import { type GatewayRun, ownerTicket } from "../auth/credentials.ts";
import { once } from "../core/async.ts";

export interface CredentialOptions {
  token?: string | undefined;
  /** How the gateway can be shown that its data is read here. */
  owner?: {
    /** The only one that the proof is good at. */
    gateway: GatewayRun;
    secret(): Promise<Uint8Array>;
  };
}

/**
 * What a command line comes in with at one gateway: a token that the user gave, else, where the
 * gateway asks, the proof that its data can be read here.
 */
export class Credential {
  readonly #token: string | undefined;
  readonly #owner: CredentialOptions["owner"];
  #secret: (() => Promise<Uint8Array>) | undefined;

  constructor({ token, owner }: CredentialOptions) {
    this.#token = token;
    this.#owner = token === undefined ? owner : undefined;
  }

  /** Fetches, and once more with a proof made anew where the gateway wants one. */
  async fetch(url: string | URL, init: RequestInit): Promise<Response> {
    const secret = this.#secret;
    const response = await fetch(url, withBearer(init, this.#token ?? await this.#proof(secret)));
    if (response.status !== 401 || !this.#owner) return response;
    // Read anew: the secret is another one after a restore. Once for all that are refused together.
    if (this.#secret === secret) this.#secret = once(this.#owner.secret);
    const proof = await this.#proof(this.#secret);
    if (proof === undefined) return response;
    await response.body?.cancel();
    return await fetch(url, withBearer(init, proof));
  }

  /** Undefined where it cannot be made just now: the gateway's refusal then says what is needed. */
  async #proof(secret: (() => Promise<Uint8Array>) | undefined): Promise<string | undefined> {
    if (!this.#owner || !secret) return undefined;
    try {
      return ownerTicket(await secret(), this.#owner.gateway);
    } catch {
      return undefined;
    }
  }
}

function withBearer(init: RequestInit, bearer: string | undefined): RequestInit {
  if (bearer === undefined) return init;
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${bearer}`);
  return { ...init, headers };
}
