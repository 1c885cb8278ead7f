import { type Exchange, type Link, LinkClosed, type LinkEvents } from "../link.ts";
import type { RemoteOptions } from "./endpoint.ts";
import { HttpLink } from "./http_link.ts";
import { Refusal } from "./refusal.ts";
import { SseLink } from "./sse_link.ts";

/** The wire to a server at a URL. Nothing is sent before the first request. */
export function openRemote(
  { type, ...options }: RemoteOptions & { type: "http" | "sse" },
  events: LinkEvents,
): Link {
  return type === "sse" ? SseLink.open(options, events) : new RemoteLink(options, events);
}

/** Streamable HTTP, or the older transport where the first request shows that only that is there. */
class RemoteLink implements Link {
  readonly #options: RemoteOptions;
  readonly #events: LinkEvents;
  #inner: Link;
  #isSettled = false;
  #isDisposed = false;

  constructor(options: RemoteOptions, events: LinkEvents) {
    this.#options = options;
    this.#events = events;
    this.#inner = HttpLink.open(options, events);
  }

  request(id: number, text: string, exchange: Exchange): Promise<string> {
    return this.#isSettled
      ? this.#inner.request(id, text, exchange)
      : this.#requestFirst(id, text, exchange);
  }

  send(text: string): Promise<void> {
    return this.#inner.send(text);
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await this.#inner[Symbol.asyncDispose]();
  }

  async #requestFirst(id: number, text: string, exchange: Exchange): Promise<string> {
    try {
      const answer = await this.#inner.request(id, text, exchange);
      this.#isSettled = true;
      return answer;
    } catch (error) {
      if (this.#isDisposed || !isSignOfOlderTransport(error)) throw error;
      await this.#fallBack(error, exchange.signal);
    }
    return await this.#inner.request(id, text, exchange);
  }

  async #fallBack(refusal: Refusal, signal: AbortSignal | undefined): Promise<void> {
    const http = this.#inner;
    const sse = SseLink.open(this.#options, this.#events);
    this.#inner = sse;
    const abort = () => void sse[Symbol.asyncDispose]();
    signal?.addEventListener("abort", abort);
    try {
      await sse.connect();
      this.#isSettled = true;
      await http[Symbol.asyncDispose]();
    } catch (error) {
      await sse[Symbol.asyncDispose]();
      this.#inner = http;
      signal?.throwIfAborted();
      // Most often there is no MCP at all, and what the server said first is what helps.
      const isTelling = error instanceof LinkClosed &&
        (error.kind === "login" || error.kind === "closed");
      throw isTelling ? error : refusal;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }
}

/** What the specification names as the signs of a server that speaks HTTP+SSE only. */
function isSignOfOlderTransport(error: unknown): error is Refusal {
  return error instanceof Refusal && [400, 404, 405].includes(error.status);
}
