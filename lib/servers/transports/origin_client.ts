import { GatewayError } from "../../core/errors.ts";
import { isBlockedPort } from "../../config/address.ts";
import { TransportClosed } from "./transport.ts";
import { abortable, asAbortSignal, type CancelSignal } from "../../core/async.ts";
import {
  discard,
  FetchResponse,
  type HttpResponse,
  networkFailureText,
  sentOnce,
} from "./http_response.ts";
import { readRefusal } from "./http_errors.ts";
import { excerpt, MESSAGE_LIMIT, streamFlooded } from "./messages.ts";
import { StreamFlooded } from "./stream_budget.ts";
import { LoopbackClient } from "./loopback_client.ts";

export interface RemoteOptions {
  url: string;
  headers: Record<string, string>;
  serverName: string;
  /** The largest message that is taken, in bytes. */
  maxMessage?: number | undefined;
  fetch?: typeof fetch;
  /** What a login gave; goes where the headers go. */
  credentials?: ServerCredentials | undefined;
}

export type HeaderPair = [name: string, value: string];

export interface UpstreamRequest {
  method: "POST" | "GET" | "DELETE";
  headers: HeaderPair[];
  /** For this request only: `headers` are the same array for many, and encoded once. */
  ownHeaders?: readonly HeaderPair[] | undefined;
  body?: string;
  signal: CancelSignal;
}

const MAX_REDIRECTS = 3;
const DELIVERY_LIMIT_MS = 30_000;

/** What the protocol says itself, and what belongs to one hop: an entry's headers cannot change it. */
const PROTOCOL_HEADERS = new Set([
  ...["accept", "content-type", "mcp-session-id", "mcp-protocol-version", "last-event-id"],
  ...["content-length", "transfer-encoding", "connection", "host", "accept-encoding"],
]);

export class OriginClient implements Disposable {
  /** The address in words: no path and no query, which may hold a secret. */
  readonly host: string;
  readonly serverName: string;
  readonly maxMessage: number;
  /** Whether the server knows us: then a 404 means that it has forgotten us. */
  hasSession = false;
  sessionId: string | undefined;
  protocolVersion: string | undefined;
  readonly #headers: HeaderPair[];
  readonly #fetch: typeof fetch;
  /** Missing where fetch is needed. */
  readonly #plain: LoopbackClient | undefined;
  readonly #origin: string;
  readonly #credentials: ServerCredentials | undefined;
  readonly #ownSecrets: string[];
  #secrets: string[];
  #sent: string | undefined;
  readonly #problem: TransportClosed | undefined;
  #url: string;

  constructor(options: RemoteOptions) {
    const url = new URL(options.url);
    this.#url = url.href;
    this.#origin = url.origin;
    this.host = url.host;
    this.serverName = options.serverName;
    this.maxMessage = options.maxMessage ?? MESSAGE_LIMIT;
    this.#fetch = options.fetch ?? fetch;
    this.#plain = !options.fetch && LoopbackClient.canReach(url)
      ? new LoopbackClient(url)
      : undefined;
    this.#credentials = options.credentials;
    this.#headers = Object.entries(options.headers)
      .filter(([name]) => !PROTOCOL_HEADERS.has(name.toLowerCase()));
    const secrets = [...Object.values(options.headers), ...url.searchParams.values(), url.password];
    this.#secrets = this.#ownSecrets = longestFirst(secrets.flatMap(spellings));
    this.#problem = this.#findProblem(url);
  }

  /** Resolves an address that the server gave, which must be its own. */
  resolve(reference: string): string {
    const url = URL.parse(reference, this.#url);
    if (url?.origin === this.#origin) return url.href;
    throw new TransportClosed(
      "refused",
      `${this.host} names a message URL on another origin (${
        url?.origin ?? "not a valid URL"
      }), to which the gateway must not send its headers`,
    );
  }

  /** The configured headers, and what requests name once it is known. */
  makeHeaders(...own: HeaderPair[]): HeaderPair[] {
    const headers = [...this.#headers, ...own];
    if (this.sessionId !== undefined) headers.push(["mcp-session-id", this.sessionId]);
    if (this.protocolVersion !== undefined) {
      headers.push(["mcp-protocol-version", this.protocolVersion]);
    }
    return headers;
  }

  /** Posts a message that gets no answer of its own. */
  async deliver(
    body: string,
    headers: HeaderPair[],
    ended: CancelSignal,
    url?: string,
  ): Promise<void> {
    const limit = new AbortController();
    const timer = setTimeout(() => {
      const message = `${this.host} did not accept a message within ${DELIVERY_LIMIT_MS / 1000} s`;
      limit.abort(new TransportClosed("lost", message));
    }, DELIVERY_LIMIT_MS);
    const signal = AbortSignal.any([asAbortSignal(ended), limit.signal]);
    try {
      const response = await this.send({ method: "POST", headers, body, signal }, url);
      if (response.status >= 300) await readRefusal(this, response, signal);
      await discard(response);
    } catch (error) {
      throw this.lost(error, signal);
    } finally {
      clearTimeout(timer);
    }
  }

  [Symbol.dispose](): void {
    this.#plain?.[Symbol.dispose]();
  }

  /** Why a login is wanted though there was one, in words. */
  get loginTrouble(): string | undefined {
    if (!this.#credentials) return undefined;
    const unexplained = this.#sent === undefined
      ? undefined
      : "it does not accept the token from the login";
    return this.#credentials.trouble ?? unexplained;
  }

  lacksScope(scope: string): void {
    this.#credentials?.lacksScope(scope);
  }

  /** Sends one request, with the login where there is one, and once more where that was renewed. */
  async send(request: UpstreamRequest, url = this.#url): Promise<HttpResponse> {
    if (this.#problem) throw this.#problem;
    const credentials = this.#credentials;
    if (!credentials) return await this.#sendOn(request, url);
    const authorized = await this.#authorized(credentials, request);
    const sent = this.#sent;
    const response = await this.#sendOn(authorized, url);
    if (response.status !== 401) return response;
    // Refused before it was processed: sending it again repeats nothing.
    const isRenewed = await abortable(credentials.renew(sent), request.signal)
      .catch(async (error) => {
        await discard(response);
        throw error;
      });
    if (!isRenewed) return response;
    await discard(response);
    return await this.#sendOn(await this.#authorized(credentials, request), url);
  }

  async #authorized(
    credentials: ServerCredentials,
    request: UpstreamRequest,
  ): Promise<UpstreamRequest> {
    const got = credentials.authorization();
    const value = got instanceof Promise ? await abortable(got, request.signal) : got;
    if (value !== this.#sent && value !== undefined) {
      // The one before may be answered to yet.
      const tokens = [value, this.#sent ?? ""].flatMap(spellings);
      this.#secrets = longestFirst([...this.#ownSecrets, ...tokens]);
    }
    this.#sent = value;
    if (value === undefined) return request;
    return { ...request, headers: [...request.headers, ["authorization", value]] };
  }

  async #sendOn(request: UpstreamRequest, url: string): Promise<HttpResponse> {
    for (let hops = 0;; hops++) {
      const response = await this.#sendOnce(request, url);
      if (response.status < 300 || response.status > 308) return response;
      url = await this.#follow(response, url, hops);
    }
  }

  /** What a failed request or a broken body means; the reason itself where we ended it. */
  lost(error: unknown, signal: CancelSignal): unknown {
    if (signal.aborted) return signal.reason;
    if (error instanceof TransportClosed || error instanceof GatewayError) return error;
    if (error instanceof StreamFlooded) return streamFlooded(this.serverName, error);
    return new TransportClosed("lost", `Cannot reach ${this.host}: ${networkFailureText(error)}`);
  }

  /** A text of the server's that people may read: short, and without what we sent in secret. */
  quote(text: string): string {
    // Hidden before it is cut, or the part of a secret that stays would not be recognized.
    const start = this.#secrets.reduce(
      (shown, secret) => shown.replaceAll(secret, "[hidden]"),
      text.slice(0, 10_000),
    );
    return excerpt(start);
  }

  async #sendOnce(request: UpstreamRequest, url: string): Promise<HttpResponse> {
    const { method, headers, ownHeaders = [], signal } = request;
    const send = this.#fetch;
    try {
      if (this.#plain) return await this.#plain.send(url, request);
      const body = request.body === undefined ? null : sentOnce(request.body);
      return new FetchResponse(
        await send(url, {
          method,
          headers: [...headers, ...ownHeaders],
          body,
          signal: asAbortSignal(signal),
          redirect: "manual",
        }),
      );
    } catch (error) {
      throw this.lost(error, signal);
    }
  }

  /** Where a redirect leads. A POST stays one: what a browser would make of it is not an MCP message. */
  async #follow(response: HttpResponse, from: string, hops: number): Promise<string> {
    const { status, headers } = response;
    await discard(response);
    const to = URL.parse(headers.get("location") ?? "", from);
    const refused = (message: string) => new TransportClosed("refused", message);
    if (!headers.has("location") || to === null || status === 303) {
      throw refused(`HTTP ${status} from ${this.host}, which is not an MCP response`);
    }
    if (to.origin !== this.#origin) {
      throw refused(
        `${this.host} redirects to another origin, ${to.origin}, to which the gateway must not send its headers. ` +
          `If the server has moved there, change the url of "${this.serverName}"`,
      );
    }
    if (hops === MAX_REDIRECTS) {
      throw refused(`${this.host} redirects more than ${MAX_REDIRECTS} times`);
    }
    if ((status === 301 || status === 308) && from === this.#url) this.#url = to.href;
    return to.href;
  }

  #findProblem(url: URL): TransportClosed | undefined {
    if (isBlockedPort(url)) {
      return new TransportClosed(
        "lost",
        `Cannot reach ${url.host}: port ${url.port} is blocked by the ` +
          "Fetch standard. Use another port for the server",
      );
    }
    for (const header of this.#headers) {
      try {
        new Headers([header]);
      } catch {
        return new TransportClosed(
          "refused",
          `Cannot send the header ${JSON.stringify(header[0])} to ${url.host}: its name or value ` +
            "has characters that HTTP does not allow",
        );
      }
    }
  }
}

/** A value that must not be shown, alone and without the scheme before it (`Bearer ...`). */
function spellings(value: string): string[] {
  return [value, value.replace(/^\S+\s+/, "")];
}

function longestFirst(values: string[]): string[] {
  // Shorter ones would hide letters in innocent words.
  return [...new Set(values)].filter((value) => value.length >= 4)
    .sort((a, b) => b.length - a.length);
}

/** What is sent to a server so that it lets us in; handed in, because it changes while a transport lasts. */
export interface ServerCredentials {
  /** The value of the authorization header. A promise only where it has to be fetched first. */
  authorization(): string | undefined | Promise<string | undefined>;
  /** The server refused what was sent (401): true where there is something else to try. */
  renew(sent: string | undefined): Promise<boolean>;
  lacksScope(scope: string): void;
  /** Why there is nothing that the server accepts, in words, where that is known. */
  readonly trouble: string | undefined;
}
