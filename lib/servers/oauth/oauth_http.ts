import * as z from "zod";
import { errorMessage, GatewayError } from "../../core/errors.ts";
import { excerpt } from "../transports/messages.ts";
import { isLoopback } from "../../config/address.ts";
import { mayBeThisMachine } from "../transports/address_guard.ts";
import { isTransient } from "../transports/sse_stream.ts";
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
/** An error code of OAuth, such as `invalid_grant`: pages of proxies say "Forbidden" and the like. */
const Verdict = z.looseObject({ error: z.string().regex(/^[a-z0-9_.-]+$/) });

export interface OAuthHttpOptions {
  /** Throws where an address must not be reached; asked for each one, redirects included. */
  allowUrl?: ((url: URL) => Promise<void>) | undefined;
  fetch?: typeof fetch | undefined;
}

/** What holds for the logins to one server: where it may send us, and by what. */
export type LoginReach = (server: string) => Promise<Pick<OAuthHttpOptions, "allowUrl" | "fetch">>;

/** What a login asks of other machines: small answers, within a limit, from allowed addresses. */
export class OAuthHttp {
  readonly #options: OAuthHttpOptions;
  readonly #signal: AbortSignal;

  constructor(options: OAuthHttpOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /**
   * For the SDK. Follows redirects of a GET, each of which is checked like the first address, and
   * none of a POST: what is sent is meant for this address alone. Throws if a POST fails for a
   * reason that is not the authorization server's own.
   */
  readonly fetch = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    let url = safeUrl(String(input), "The address");
    const isPost = init.method === "POST";
    // A refresh token that is sent twice can end the login.
    const body = isPost ? sentOnce(String(init.body)) : null;
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const response = await this.#send(url, { ...init, body });
      const location = response.headers.get("location");
      if (isPost || response.status < 300 || response.status > 308 || location === null) {
        return await this.#read(response, url, isPost);
      }
      await discard(new FetchResponse(response));
      const to = URL.parse(location, url);
      url = safeUrl(to?.href ?? location, `The redirect target of ${url.host}`, url);
    }
    throw loginError(`${url.host} redirects more than ${MAX_REDIRECTS} times`);
  };

  /** The headers of a 401 to a JSON-RPC message. Its body is not read: it may be an endless stream. */
  async challenge(url: URL, message: object, headers: Headers): Promise<Headers | undefined> {
    headers.set("content-type", "application/json");
    const body = sentOnce(JSON.stringify(message));
    const response = await this.#send(url, { method: "POST", headers, body });
    await response.body?.cancel().catch(() => {});
    return response.status === 401 ? response.headers : undefined;
  }

  async #send(url: URL, init: RequestInit): Promise<Response> {
    const signal = this.#signal;
    signal.throwIfAborted();
    await this.#options.allowUrl?.(url);
    const send = this.#options.fetch ?? fetch;
    const limit = AbortSignal.timeout(LIMIT_MS);
    const ended = AbortSignal.any([signal, limit]);
    try {
      return await send(url, { ...init, redirect: "manual", signal: ended });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (limit.aborted) throw loginError(`${url.host} did not answer in time`);
      if (error instanceof TransportClosed) throw loginError(error.message);
      throw loginError(`Cannot reach ${url.host}: ${networkFailureText(error)}`);
    }
  }

  async #read(response: Response, url: URL, isPost: boolean): Promise<Response> {
    const { status, headers, ok } = response;
    const { text, isWhole } = await readStart(new FetchResponse(response), BODY_BYTES)
      .catch((error) => {
        throw loginError(`Cannot read the response from ${url.host}: ${networkFailureText(error)}`);
      });
    if (isPost && !ok && (isTransient(status) || !isVerdict(text))) {
      throw loginError(`${url.host} refused the request: HTTP ${status}`);
    }
    if (!isWhole && ok) throw loginError(`The response from ${url.host} is too large`);
    return new Response(text || null, { status, headers });
  }
}

function isVerdict(text: string): boolean {
  try {
    return Verdict.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}

export function loginError(message: string, steps: string[] = []): GatewayError {
  return new GatewayError("LOGIN_FAILED", {
    message,
    ...(steps.length === 0 ? {} : { recoverySteps: steps }),
  });
}

/** What a person is told of a failure in the SDK; `invalid` where an answer was not as it must be. */
export function asLoginError(error: unknown, invalid: string): GatewayError {
  if (error instanceof GatewayError) return error;
  const isInvalid = error instanceof SyntaxError || error instanceof z.ZodError;
  return loginError(isInvalid ? invalid : errorMessage(error));
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
