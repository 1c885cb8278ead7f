import http from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import { Readable } from "node:stream";
import { getCACertificates } from "node:tls";
import { TransportClosed } from "./transport.ts";
import { type AddressGuard, AddressRefused, closedHost, literalAddress } from "./address_guard.ts";

/** How long a name is known to lead out into the open where only a proxy connects to it. */
const KNOWN_MS = 60_000;
/** What is older says nothing any more, and is waited for. */
const OLD_MS = 2 * KNOWN_MS;
const MAX_KNOWN = 1_000;

const HOW = "To allow it, name the server in the config file, or start with --allow-private";

interface GuardedClientOptions {
  guard: AddressGuard;
  /** Whether a proxy of the user's stands before everything: then only that one knows addresses. */
  isBehindProxy?: boolean;
  now?: () => number;
  /** Connects to servers without TLS. */
  agent?: http.Agent;
  /** A file of trusted certificates besides the platform's. */
  certificates?: string | undefined;
}

interface Looked {
  at: number;
  isSure: boolean;
  refusal: string | undefined;
}

/**
 * Fetches from public addresses only. The platform's fetch looks a name up by itself and cannot be
 * told where to connect; Node's client takes the addresses that were checked, with no lookup after
 * the check.
 */
export class GuardedClient implements AsyncDisposable {
  readonly #options: GuardedClientOptions;
  readonly #looked = new Map<string, Looked>();
  readonly #looking = new Map<string, Promise<string | undefined>>();
  readonly #http: http.Agent;
  readonly #https: https.Agent;

  constructor(options: GuardedClientOptions) {
    this.#options = options;
    this.#http = options.agent ?? new http.Agent({ keepAlive: true });
    const { certificates: file } = options;
    // Only if needed: to read all of them again takes each connection 0.1 s.
    const ca = file ? { ca: [...getCACertificates(), Deno.readTextFileSync(file)] } : {};
    this.#https = new https.Agent({ keepAlive: true, ...ca });
  }

  /**
   * What fetches from the host of one address, and from no other. A literal address is checked here
   * and now, so that its requests cost nothing.
   */
  fetchFor(url: string): typeof fetch {
    const { hostname } = new URL(url);
    const isOpen = literalAddress(hostname) !== undefined &&
      closedHost(hostname) === undefined;
    return isOpen ? fetch : this.fetch;
  }

  /** As the platform's; refuses with TransportClosed what is not out in the open. Follows no redirect. */
  readonly fetch: typeof fetch = async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (this.#options.isBehindProxy || closedHost(url.hostname) !== undefined) {
      const refusal = await this.#refusalOf(url);
      if (refusal !== undefined) throw new TransportClosed("refused", `${refusal}. ${HOW}`);
      return await fetch(input, { ...init, redirect: "manual" });
    }
    try {
      return await this.#send(new Request(input, init), url);
    } catch (error) {
      if (!(error instanceof AddressRefused)) throw error;
      throw new TransportClosed("refused", `${error.message}. ${HOW}`, { cause: error });
    }
  };

  [Symbol.asyncDispose](): Promise<void> {
    this.#http.destroy();
    this.#https.destroy();
    return Promise.resolve();
  }

  async #send(request: Request, url: URL): Promise<Response> {
    const { method, signal } = request;
    const [{ request: open }, agent] = url.protocol === "https:"
      ? [https, this.#https]
      : [http, this.#http];
    const headers = { ...Object.fromEntries(request.headers), "accept-encoding": "gzip, deflate" };
    const body = await request.bytes();
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    open(url, { agent, method, headers, signal, lookup: this.#lookup }, resolve)
      .on("error", reject).end(body);
    const incoming = await promise;
    const { statusCode: status = 0, headersDistinct } = incoming;
    const fields = new Headers();
    for (const [name, values = []] of Object.entries(headersDistinct)) {
      for (const value of values) fields.append(name, value);
    }
    const content = Readable.toWeb(incoming) as ReadableStream<Uint8Array<ArrayBuffer>>;
    const encoding = fields.get("content-encoding")?.toLowerCase();
    const plain = encoding === "gzip" || encoding === "deflate"
      ? content.pipeThrough(new DecompressionStream(encoding))
      : content;
    const isBodiless = method === "HEAD" || [204, 205, 304].includes(status);
    return new Response(isBodiless ? null : plain, { status, headers: fields });
  }

  /** IPv4 first: many names have an IPv6 address that cannot be reached from here. */
  readonly #lookup: LookupFunction = (hostname, { all }, callback) => {
    this.#options.guard.addressesOf(hostname).then((addresses) => {
      const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
        .sort((a, b) => a.family - b.family);
      if (all) callback(null, found);
      else callback(null, found[0]!.address, found[0]!.family);
    }, (error) => callback(error, []));
  };

  /** Looked up once in a while, where a name is in use beside its requests, which do not wait. */
  async #refusalOf({ hostname }: URL): Promise<string | undefined> {
    const { now = Date.now } = this.#options;
    const known = this.#looked.get(hostname);
    const age = known ? now() - known.at : Infinity;
    // One that was not found is looked up with each request: only the proxy may know it.
    if (known?.isSure && age < KNOWN_MS) return known.refusal;
    let looking = this.#looking.get(hostname);
    if (!looking) {
      looking = this.#look(hostname).finally(() => this.#looking.delete(hostname));
      this.#looking.set(hostname, looking);
    }
    return known && age < OLD_MS ? known.refusal : await looking;
  }

  async #look(hostname: string): Promise<string | undefined> {
    const { guard, now = Date.now } = this.#options;
    const looked: Looked = { at: now(), isSure: true, refusal: undefined };
    try {
      await guard.addressesOf(hostname);
    } catch (error) {
      if (error instanceof AddressRefused) looked.refusal = error.message;
      // The connection reports it.
      else looked.isSure = false;
    }
    const known = this.#looked.get(hostname);
    // Not to be found says nothing against what was found a moment ago.
    if (!looked.isSure && known && looked.at - known.at < OLD_MS) return known.refusal;
    if (!known && this.#looked.size >= MAX_KNOWN) this.#looked.clear();
    this.#looked.set(hostname, looked);
    return looked.refusal;
  }
}
