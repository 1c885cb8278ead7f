import { LinkClosed } from "../link.ts";
import { discard, readStart } from "../remote/body_reader.ts";
import { networkFailureWords } from "../remote/network_failure.ts";
import { FetchedAnswer } from "../remote/remote_answer.ts";
import { loginError } from "./login_error.ts";
import { safeUrl } from "./safe_url.ts";

const BODY_BYTES = 256 * 1024;
const MAX_REDIRECTS = 3;
const LIMIT_MS = 10_000;

export interface LoginHttpOptions {
  /** Throws where an address must not be reached; asked for each one, redirects included. */
  allowUrl?: ((url: URL) => Promise<void>) | undefined;
  fetch?: typeof fetch | undefined;
  limitMs?: number | undefined;
}

/** What holds for the logins to one server: where it may send us, and by what. */
export type LoginReach = (server: string) => Promise<Pick<LoginHttpOptions, "allowUrl" | "fetch">>;

export interface Answer {
  status: number;
  headers: Headers;
  /** Undefined where it is no JSON. */
  body: unknown;
}

/** What a login asks of other machines: small answers, within a limit, from allowed addresses. */
export class LoginHttp {
  readonly #options: LoginHttpOptions;

  constructor(options: LoginHttpOptions = {}) {
    this.#options = options;
  }

  /** Follows redirects, each of which is checked like the first address. */
  async get(url: URL, signal: AbortSignal): Promise<Answer> {
    let at = url;
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const response = await this.#send(at, { headers: { accept: "application/json" } }, signal);
      const location = response.headers.get("location");
      if (response.status < 300 || response.status > 308 || location === null) {
        return await this.#read(response, at);
      }
      await discard(new FetchedAnswer(response));
      const to = URL.parse(location, at);
      at = safeUrl(to?.href ?? location, `What ${at.host} redirects to`, at);
    }
    throw loginError(`${url.host} redirects more than ${MAX_REDIRECTS} times`);
  }

  /** Follows no redirect: what is sent is meant for this address alone. */
  async post(
    url: URL,
    body: URLSearchParams | object,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Answer> {
    const isForm = body instanceof URLSearchParams;
    const init = {
      method: "POST",
      headers: {
        accept: "application/json",
        ...headers,
        "content-type": isForm ? "application/x-www-form-urlencoded" : "application/json",
      },
      body: isForm ? body.toString() : JSON.stringify(body),
    };
    return await this.#read(await this.#send(url, init, signal), url);
  }

  /** What a JSON-RPC message is answered with, but for its body: that may be a stream without end. */
  async probe(
    url: URL,
    message: object,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Omit<Answer, "body">> {
    const init = {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(message),
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
      throw this.#explain(error, url, signal, limit);
    }
  }

  async #read(response: Response, url: URL): Promise<Answer> {
    const { status, headers } = response;
    let text: string;
    try {
      const start = await readStart(new FetchedAnswer(response), BODY_BYTES);
      text = start.isWhole ? start.text : "";
    } catch (error) {
      throw loginError(`Cannot read what ${url.host} answers: ${networkFailureWords(error)}`);
    }
    try {
      return { status, headers, body: JSON.parse(text) };
    } catch {
      return { status, headers, body: undefined };
    }
  }

  #explain(error: unknown, url: URL, signal: AbortSignal, limit: AbortSignal): unknown {
    if (signal.aborted) return signal.reason;
    if (limit.aborted) return loginError(`${url.host} did not answer in time`);
    if (error instanceof LinkClosed) return loginError(error.message);
    return loginError(`Cannot reach ${url.host}: ${networkFailureWords(error)}`);
  }
}
