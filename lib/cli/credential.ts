import { ownerTicket } from "../auth/owner_ticket.ts";

export interface CredentialOptions {
  token?: string | undefined;
  /** Reads the secret that the gateway signs with. */
  secret?: () => Promise<Uint8Array>;
}

/**
 * What a command line comes in with: a token that the user gave, else, where the gateway asks, the
 * proof that its data can be read here.
 */
export class Credential {
  readonly #token: string | undefined;
  readonly #readSecret: (() => Promise<Uint8Array>) | undefined;
  #secret: Promise<Uint8Array> | undefined;
  #isAsked = false;

  constructor({ token, secret }: CredentialOptions) {
    this.#token = token;
    this.#readSecret = secret;
  }

  /** Fetches, and once more with the proof where the gateway wants one. */
  async fetch(url: string | URL, init: RequestInit): Promise<Response> {
    const response = await fetch(url, await this.#with(init));
    if (response.status !== 401 || this.#isAsked || !this.#canProve()) return response;
    await response.body?.cancel();
    this.#isAsked = true;
    return await fetch(url, await this.#with(init));
  }

  async #with(init: RequestInit): Promise<RequestInit> {
    const bearer = this.#token ?? await this.#proof();
    if (bearer === undefined) return init;
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${bearer}`);
    return { ...init, headers };
  }

  #canProve(): boolean {
    return this.#token === undefined && this.#readSecret !== undefined;
  }

  async #proof(): Promise<string | undefined> {
    if (!this.#isAsked || !this.#readSecret) return undefined;
    return ownerTicket(await (this.#secret ??= this.#readSecret()));
  }
}
