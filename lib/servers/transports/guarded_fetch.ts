import { TransportClosed } from "./transport.ts";
import { type AddressGuard, AddressRefused, closedHost, literalAddress } from "./address_guard.ts";
import { SocksTunnel, type SocksTunnelOptions } from "./socks_tunnel.ts";

/** The platform's error for a connection that the tunnel refuses. */
const FORBIDDEN = /not allowed by ruleset/i;
/** Variables with hosts for which the platform uses no proxy, not even ours. */
const BYPASS = ["NO_PROXY", "no_proxy"];
/**
 * Shorter than the 5 s after which common servers close an idle connection: a request that is sent
 * just then fails, or the platform sends it a second time.
 */
const IDLE_MS = 4_000;

/** How long a name is known to lead out into the open where only a proxy connects to it. */
const KNOWN_MS = 60_000;
/** What is older says nothing any more, and is waited for. */
const OLD_MS = 2 * KNOWN_MS;
const MAX_KNOWN = 1_000;

const HOW = "To allow it, add the server to the config file, or start with --allow-private";

interface GuardedClientOptions extends Pick<SocksTunnelOptions, "connect" | "connectLimitMs"> {
  guard: AddressGuard;
  /** Trusted in addition to the platform's. */
  caCerts?: string[];
  idleMs?: number;
  /** Whether a proxy of the user's stands before everything: then only that one knows addresses. */
  isBehindProxy?: boolean;
  now?: () => number;
}

interface Looked {
  at: number;
  isSure: boolean;
  refusal: string | undefined;
}

/** Fetches from public addresses only. Opens nothing before the first request to a host name. */
export class GuardedClient implements AsyncDisposable {
  readonly #options: GuardedClientOptions;
  readonly #looked = new Map<string, Looked>();
  readonly #looking = new Map<string, Promise<string | undefined>>();
  #opened: { tunnel: SocksTunnel; client: Deno.HttpClient } | undefined;

  constructor(options: GuardedClientOptions) {
    this.#options = options;
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
    const checked: RequestInit & { client: Deno.HttpClient } = {
      ...init,
      redirect: "manual",
      client: (this.#opened ??= this.#open()).client,
    };
    try {
      return await fetch(input, checked);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      const refusal = await this.#options.guard.refusalOf(url);
      const message = refusal ?? `${url.hostname} resolved to an address that is not allowed`;
      throw new TransportClosed("refused", `${message}. ${HOW}`, { cause: error });
    }
  };

  async [Symbol.asyncDispose](): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    opened?.client.close();
    await opened?.tunnel[Symbol.asyncDispose]();
  }

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

  #open() {
    const { guard, connect, connectLimitMs, caCerts = [], idleMs = IDLE_MS } = this.#options;
    const tunnel = SocksTunnel.open({
      connect,
      connectLimitMs,
      addressesOf: (hostname, signal) => guard.addressesOf(hostname, signal),
    });
    const client = openClient({ proxy: tunnel.proxy, caCerts, poolIdleTimeout: idleMs });
    return { tunnel, client };
  }
}

/** Without the bypass variables, which the platform reads when it creates a client. */
function openClient(options: Deno.CreateHttpClientOptions): Deno.HttpClient {
  const variables = BYPASS.map((name) => [name, Deno.env.get(name)] as const);
  for (const name of BYPASS) Deno.env.delete(name);
  try {
    return Deno.createHttpClient(options);
  } finally {
    for (const [name, value] of variables) if (value !== undefined) Deno.env.set(name, value);
  }
}

function isForbidden(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return FORBIDDEN.test(error.message) || isForbidden(error.cause);
}
