import { GatewayError } from "../core/errors.ts";
import { isLoopback } from "../core/loopback.ts";
import type { TimeoutQueue } from "../core/timeout_queue.ts";

/** How long a request's body may take to arrive. */
export const BODY_MS = 30_000;
const ORDINARY_BODY = 4 * 1024 * 1024;

export interface GuardOptions {
  /** What the gateway is bound to. */
  host: string;
  port: number;
  /** The address it is known by behind a proxy or on a platform. */
  publicUrl?: string | undefined;
  maxBody: number;
  /** Paths that take more than that: files which a person gives. */
  uploads?: ReadonlyMap<string, number>;
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
  #lastHost: string | undefined;

  constructor({ host, port, publicUrl, maxBody, uploads = new Map() }: GuardOptions) {
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
  check(request: Request): void {
    const host = request.headers.get("host");
    if (host === null || !this.#allowsHost(host)) {
      throw new GatewayError("FOREIGN_HOST", {
        message: `Host ${quote(host)} is not this gateway`,
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
        message: "A page of another site may not use this gateway",
      });
    }
    const length = Number(request.headers.get("content-length") ?? 0);
    if (!(length <= this.#maxBody)) {
      const most = Math.max(
        this.#maxBody,
        this.#uploads.get(URL.parse(request.url)?.pathname ?? "") ?? 0,
      );
      if (!(length <= most)) throw tooLarge(most);
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

/**
 * The whole body; PAYLOAD_TOO_LARGE as soon as it passes the limit, whatever it had declared, and
 * REQUEST_TIMEOUT where it does not arrive in time: nobody may hold a place by sending nothing.
 */
export async function readBody(
  request: Request,
  maxBytes: number,
  limitMs = bodyLimitMs(maxBytes),
): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void reader.cancel().catch(() => {});
  }, limitMs);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (isLate) throw tooLate(limitMs);
      if (done) break;
      size += value.byteLength;
      if (size > maxBytes) throw tooLarge(maxBytes);
      chunks.push(value);
    }
  } catch (error) {
    void reader.cancel().catch(() => {});
    throw isLate ? tooLate(limitMs) : error;
  } finally {
    clearTimeout(timer);
  }
  return chunks.length === 1
    ? chunks[0]!
    : new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
}

/** A body of a declared length as text, by a clock that many share; throws REQUEST_TIMEOUT. */
export function readTextInTime(request: Request, clock: TimeoutQueue): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const wait = clock.add(() => reject(tooLate(BODY_MS)));
  request.text().then((text) => {
    clock.delete(wait);
    resolve(text);
  }, (error) => {
    clock.delete(wait);
    reject(error);
  });
  return promise;
}

/** A file may take longer: a second for each quarter of a megabyte over what others may send. */
function bodyLimitMs(maxBytes: number): number {
  return BODY_MS + Math.max(0, maxBytes - ORDINARY_BODY) / 256 / 1024 * 1000;
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

function tooLate(limitMs: number): GatewayError {
  return new GatewayError("REQUEST_TIMEOUT", {
    message: `The request's body did not arrive within ${Math.round(limitMs / 1000)} s`,
  });
}

function tooLarge(limit: number): GatewayError {
  return new GatewayError("PAYLOAD_TOO_LARGE", {
    message: `The request's body is over the limit of ${limit} bytes`,
  });
}
