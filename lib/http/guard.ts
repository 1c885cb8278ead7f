import { GatewayError } from "../core/errors.ts";
import { isLoopback } from "../config/address.ts";
import { hostOf, type HttpRequest } from "./exchange.ts";
import { bodyTooLarge } from "./request_body.ts";

export interface GuardOptions {
  /** What the gateway is bound to. */
  host: string;
  port: number;
  /** The address it is known by behind a proxy or on a platform. */
  publicUrl?: string | undefined;
  maxBody: number;
  /** Paths that take more than that: files which a person gives. */
  uploads?: ReadonlyMap<string, number>;
  /** Refuses requests without a `Host` header, also those of HTTP/2. */
  needsHostHeader?: boolean;
}

/**
 * Refuses what a web page on another site could send to a local server: without this, a name that
 * resolves to 127.0.0.1 (DNS rebinding) or a cross-site form would reach every tool of the user.
 */
export class Guard {
  readonly #hosts = new Set<string>();
  readonly #origins = new Set<string>();
  readonly #port: number;
  readonly #allowAddresses: boolean;
  readonly #maxBody: number;
  readonly #uploads: ReadonlyMap<string, number>;
  readonly #hostOf: typeof hostOf;
  #lastHost: string | undefined;

  constructor(options: GuardOptions) {
    const { host, port, publicUrl, maxBody, uploads = new Map(), needsHostHeader } = options;
    this.#hostOf = needsHostHeader ? ({ headers }) => headers.get("host") : hostOf;
    this.#port = port;
    this.#maxBody = maxBody;
    this.#uploads = uploads;
    // Rebinding needs a name, so a literal address is as good as ours once we listen beyond loopback.
    this.#allowAddresses = !isLoopback(host);
    for (const name of new Set(["localhost", "127.0.0.1", "[::1]", bracketed(host)])) {
      this.#allow(new URL(`http://${name}:${port}`));
    }
    if (publicUrl !== undefined) this.#allow(new URL(publicUrl));
  }

  /** Throws FOREIGN_HOST, FOREIGN_ORIGIN or PAYLOAD_TOO_LARGE. */
  check(request: HttpRequest): void {
    const host = this.#hostOf(request);
    if (host === null || !this.#allowsHost(host)) {
      throw new GatewayError("FOREIGN_HOST", {
        message: `Host ${quote(host)} is not a host name of this gateway`,
      });
    }
    const origin = request.headers.get("origin");
    if (origin !== null && !this.#allowsOrigin(origin, host)) {
      throw new GatewayError("FOREIGN_ORIGIN", {
        message: `Origin ${quote(origin)} may not use this gateway`,
      });
    }
    // A browser that leaves out the origin still says whose page it was.
    if (
      origin === null && request.method !== "GET" &&
      request.headers.get("sec-fetch-site") === "cross-site"
    ) {
      throw new GatewayError("FOREIGN_ORIGIN", {
        message: "A page from another site may not use this gateway",
      });
    }
    const length = Number(request.headers.get("content-length") ?? 0);
    if (!(length <= this.#maxBody)) {
      const most = Math.max(
        this.#maxBody,
        this.#uploads.get(URL.parse(request.url)?.pathname ?? "") ?? 0,
      );
      if (!(length <= most)) throw bodyTooLarge(most);
    }
  }

  #allow(url: URL): void {
    this.#hosts.add(url.host);
    this.#origins.add(url.origin);
  }

  #allowsHost(host: string): boolean {
    // Nearly all requests name the same one.
    if (host === this.#lastHost) return true;
    const normalized = host.toLowerCase();
    const isAllowed = this.#hosts.has(normalized) ||
      (this.#allowAddresses && isAddressWithPort(normalized, this.#port));
    if (isAllowed) this.#lastHost = host;
    return isAllowed;
  }

  /** The host is one that was allowed. */
  #allowsOrigin(origin: string, host: string): boolean {
    if (this.#origins.has(origin)) return true;
    // An address is ours only where the request was sent to it: a page can be at any other one.
    return this.#allowAddresses && origin === `http://${host}` &&
      isAddressWithPort(host, this.#port);
  }
}

function isAddressWithPort(host: string, port: number): boolean {
  const url = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined;
  if (!url || url.host !== host || (url.port === "" ? 80 : Number(url.port)) !== port) return false;
  return url.hostname.startsWith("[") || /^\d+\.\d+\.\d+\.\d+$/.test(url.hostname);
}

function bracketed(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}

function quote(text: string | null): string {
  return text === null ? "(none)" : JSON.stringify(text.slice(0, 200));
}

/** Headers that nearly every proxy sets. */
const USUAL = [
  "x-forwarded-for",
  "forwarded",
  "via",
  "x-real-ip",
  "x-forwarded-host",
  "x-forwarded-proto",
];

/**
 * Whether a request has one of the usual headers of a proxy. On the path of every call: they are read
 * by value, because asking whether a header exists copies all of them.
 */
export function hasForwardedHeader({ headers }: HttpRequest): boolean {
  for (const name of USUAL) if (headers.get(name) !== null) return true;
  return false;
}

/** Whether a request has any header of a proxy. */
export function isForwarded(request: HttpRequest): boolean {
  return hasForwardedHeader(request) ||
    request.headers.keys().some((name) => name.startsWith("x-forwarded"));
}

/**
 * Throws TOKEN_REQUIRED for a request through a proxy. A caller without a token is trusted because it
 * is on this machine; one behind a proxy is not, and could consent in its own client to programs that
 * it has the gateway run.
 */
export function refuseForwarded(request: HttpRequest, isRefused = isForwarded): void {
  if (!isRefused(request)) return;
  throw new GatewayError("TOKEN_REQUIRED", {
    message:
      "A token is required: this request came through a proxy, and only direct requests from the " +
      "gateway's own machine work without one",
    recoverySteps: [
      "Create a token on that machine: " +
      "`quartermaster token create --name me --rights read,call,manage`",
      "Send it as `Authorization: Bearer TOKEN`, or log in to the console with it",
      "Start the gateway with `--public-url` and the proxy's URL",
    ],
  });
}
