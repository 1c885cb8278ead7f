import { GatewayError } from "../../core/errors.ts";
import { excerpt } from "../transports/messages.ts";
import { isLoopback } from "../../config/address.ts";
import { mayBeThisMachine } from "../transports/address_guard.ts";
import { TransportClosed } from "../transports/transport.ts";
import {
  discard,
  FetchResponse,
  networkFailureText,
  readStart,
  sentOnce,
} from "../transports/http_response.ts";

const BODY_BYTES = 256 * 1024;
const MAX_REDIRECTS = 3;
const LIMIT_MS = 10_000;

export interface OAuthHttpOptions {
  /** Throws where an address must not be reached; asked for each one, redirects included. */
  allowUrl?: ((url: URL) => Promise<void>) | undefined;
  fetch?: typeof fetch | undefined;
  limitMs?: number | undefined;
}

/** What holds for the logins to one server: where it may send us, and by what. */
export type LoginReach = (server: string) => Promise<Pick<OAuthHttpOptions, "allowUrl" | "fetch">>;

export interface OAuthResponse {
  status: number;
  headers: Headers;
  body: unknown;
}

/** What a login asks of other machines: small answers, within a limit, from allowed addresses. */
export class OAuthHttp {
  readonly #options: OAuthHttpOptions;

  constructor(options: OAuthHttpOptions = {}) {
    this.#options = options;
  }

  /** Follows redirects, each of which is checked like the first address. */
  async get(url: URL, signal: AbortSignal): Promise<OAuthResponse> {
    let at = url;
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const response = await this.#send(at, { headers: { accept: "application/json" } }, signal);
      const location = response.headers.get("location");
      if (response.status < 300 || response.status > 308 || location === null) {
        return await this.#read(response, at);
      }
      await discard(new FetchResponse(response));
      const to = URL.parse(location, at);
      at = safeUrl(to?.href ?? location, `The redirect target of ${at.host}`, at);
    }
    throw loginError(`${url.host} redirects more than ${MAX_REDIRECTS} times`);
  }

  /** Follows no redirect: what is sent is meant for this address alone. */
  async post(
    url: URL,
    body: URLSearchParams | object,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<OAuthResponse> {
    const isForm = body instanceof URLSearchParams;
    const init = {
      method: "POST",
      headers: {
        accept: "application/json",
        ...headers,
        "content-type": isForm ? "application/x-www-form-urlencoded" : "application/json",
      },
      // A refresh token that is sent twice can end the login.
      body: sentOnce(isForm ? body.toString() : JSON.stringify(body)),
    };
    return await this.#read(await this.#send(url, init, signal), url);
  }

  /** What a JSON-RPC message is answered with, but for its body: that may be a stream without end. */
  async probe(
    url: URL,
    message: object,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Omit<OAuthResponse, "body">> {
    const init = {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: sentOnce(JSON.stringify(message)),
    };
    const response = await this.#send(url, init, signal);
    await response.body?.cancel().catch(() => {});
    return { status: response.status, headers: response.headers };
  }

  async #send(url: URL, init: RequestInit, signal: AbortSignal): Promise<Response> {
    signal.throwIfAborted();
    await this.#options.allowUrl?.(url);
    const send = this.#options.fetch ?? fetch;
    const limit = AbortSignal.timeout(this.#options.limitMs ?? LIMIT_MS);
    try {
      return await send(url, {
        ...init,
        redirect: "manual",
        signal: AbortSignal.any([signal, limit]),
      });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (limit.aborted) throw loginError(`${url.host} did not answer in time`);
      if (error instanceof TransportClosed) throw loginError(error.message);
      throw loginError(`Cannot reach ${url.host}: ${networkFailureText(error)}`);
    }
  }

  async #read(response: Response, url: URL): Promise<OAuthResponse> {
    const { status, headers } = response;
    let text: string;
    try {
      const start = await readStart(new FetchResponse(response), BODY_BYTES);
      text = start.isWhole ? start.text : "";
    } catch (error) {
      throw loginError(`Cannot read the response from ${url.host}: ${networkFailureText(error)}`);
    }
    try {
      return { status, headers, body: JSON.parse(text) };
    } catch {
      return { status, headers, body: undefined };
    }
  }
}

export function loginError(message: string, steps: string[] = []): GatewayError {
  return new GatewayError("LOGIN_FAILED", {
    message,
    ...(steps.length === 0 ? {} : { recoverySteps: steps }),
  });
}

/** A foreign text inside a sentence of ours: short, on one line, in quotes. */
export function quoted(text: string): string {
  return JSON.stringify(excerpt(text));
}

/**
 * An address that a login may use: https, or http on this machine. Anything else would send
 * credentials in the clear, or have a browser run what a server wrote (`javascript:`). Only one who
 * is on this machine, `near`, may name others here: else a server could have us reach into it.
 */
export function safeUrl(text: string, what: string, near?: URL): URL {
  const url = URL.parse(text);
  if (url === null) throw loginError(`${what} is not a valid URL: ${quoted(text)}`);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw loginError(`${what} is neither https nor http: ${quoted(text)}. It is not opened`);
  }
  if (near !== undefined && mayBeThisMachine(url.hostname) && !isLoopback(near.hostname)) {
    throw loginError(
      `${what} is on this machine, but ${near.host} is not: the request was not sent`,
    );
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw loginError(
      `${what} is not https: ${quoted(url.origin)}. Data sent there could be intercepted`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw loginError(
      `${what} contains a user name or password, which can disguise its destination`,
    );
  }
  return url;
}
