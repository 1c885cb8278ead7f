import { asAbortSignal, Cancellation, type CancelSignal, TimeoutQueue } from "../../core/async.ts";
import { isStateless } from "../../core/client.ts";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Exchange,
  type Transport,
  TransportClosed,
  type TransportEvents,
} from "./transport.ts";
import {
  excerpt,
  messagesIn,
  messageTooLarge,
  RepeatedWarning,
  sizeText,
  streamFlooded,
} from "./messages.ts";
import {
  type BodyReader,
  BodyTooLarge,
  discard,
  type HttpResponse,
  readText,
} from "./http_response.ts";
import { type HeaderPair, OriginClient, type RemoteOptions } from "./origin_client.ts";
import {
  EventTooLarge,
  hasType,
  isEventStream,
  isTransient,
  ResumableStream,
} from "./sse_stream.ts";
import { StreamBudget, StreamFlooded } from "./stream_budget.ts";
import { HttpRefusal, readRefusal } from "./http_errors.ts";
import { SseTransport } from "./sse.ts";
import { echoedId, messageLine, responseId } from "../../core/rpc.ts";

const GOODBYE_LIMIT_MS = 500;
/** Tries to resume a cut stream with nothing coming. */
const MAX_RESUMES = 5;
/** How many streams may be read on after their answer, and for how long. */
const MAX_ENDING = 64;
const ENDING_MS = 1_000;
const ENDING_BYTES = 64 * 1024;
/** Tries with nothing coming before the server's own stream, if it never worked, is given up. */
const MAX_TRIES = 5;
/** However eagerly a server ends its own stream, it is not opened more often. */
const SHORTEST_WAIT_MS = 1000;
/** After each flood, the server's own stream is opened again after twice as long. */
const FLOOD_WAIT_MS = 10_000;

export class HttpTransport implements Transport {
  readonly takesHeaders = true;
  readonly #endpoint: OriginClient;
  readonly #events: TransportEvents;
  readonly #unexpected = new RepeatedWarning(
    (text) => this.#events.onLog(text, "warning"),
    (count) => `Ignored ${count} more unexpected messages`,
  );
  readonly #running = new Set<Cancellation>();
  readonly #ending = new Map<Cancellation, Promise<void>>();
  readonly #endingLimits = new TimeoutQueue(ENDING_MS);
  #postHeaders: HeaderPair[];
  #listening: Promise<void> | undefined;
  #ended: TransportClosed | undefined;
  #disposal: Promise<void> | undefined;

  constructor(options: RemoteOptions, events: TransportEvents) {
    this.#endpoint = new OriginClient(options);
    this.#events = events;
    this.#postHeaders = this.#makePostHeaders();
  }

  async request(id: number, text: string, exchange: Exchange): Promise<string> {
    const signal = this.#begin();
    const outer = exchange.signal;
    const abort = () => signal.abort(outer?.reason);
    if (outer) {
      if (outer.aborted) abort();
      outer.addEventListener("abort", abort);
    }
    try {
      const response = await this.#endpoint.send({
        method: "POST",
        headers: this.#postHeaders,
        ownHeaders: exchange.headers,
        body: text,
        signal,
      });
      // A probe begins no session, whatever the response says.
      if (response.status === 200 && this.#isHandshaking && !exchange.isProbe) {
        this.#adoptSession(response);
      }
      if (response.status === 200 && hasType(response, "application/json")) {
        return this.#answerIn(await readText(response, this.#endpoint.maxMessage), id, exchange);
      }
      if (isEventStream(response)) {
        return await this.#streamedAnswer(response, id, exchange, signal);
      }
      return messageLine(await readRefusal(this.#endpoint, response, signal, id));
    } catch (error) {
      throw this.#explain(error, signal);
    } finally {
      this.#running.delete(signal);
      outer?.removeEventListener("abort", abort);
    }
  }

  async send(text: string): Promise<void> {
    const signal = this.#begin();
    try {
      await this.#endpoint.deliver(text, this.#postHeaders, signal);
    } catch (error) {
      throw this.#explain(error, signal);
    } finally {
      this.#running.delete(signal);
    }
    // The server takes the first message after the handshake: now it may have things to say.
    const { protocolVersion } = this.#endpoint;
    if (protocolVersion !== undefined && !isStateless({ protocolVersion }) && !this.#ended) {
      this.#listening ??= this.#listen();
    }
  }

  setProtocolVersion(version: string): void {
    this.#endpoint.protocolVersion = version;
    this.#postHeaders = this.#makePostHeaders();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#disposal ??= this.#dispose();
  }

  async #dispose(): Promise<void> {
    const hasSession = this.#endpoint.hasSession && this.#ended === undefined;
    const message = `The connection to ${this.#endpoint.host} was closed`;
    const reason = new TransportClosed("closed", message);
    this.#ended ??= reason;
    const ending = [...this.#ending.values()];
    for (const signal of [...this.#running, ...this.#ending.keys()]) signal.abort(reason);
    await Promise.all([...ending, this.#listening, hasSession ? this.#sayGoodbye() : undefined]);
    this.#endingLimits[Symbol.dispose]();
    this.#endpoint[Symbol.dispose]();
  }

  async #sayGoodbye(): Promise<void> {
    const headers = this.#endpoint.makeHeaders();
    const signal = AbortSignal.timeout(GOODBYE_LIMIT_MS);
    try {
      await discard(await this.#endpoint.send({ method: "DELETE", headers, signal }));
    } catch {
      // The server forgets us by itself.
    }
  }

  get #isHandshaking(): boolean {
    return this.#endpoint.protocolVersion === undefined;
  }

  #begin(): Cancellation {
    if (this.#ended) throw this.#ended;
    const signal = new Cancellation();
    this.#running.add(signal);
    return signal;
  }

  #get(lastEventId: string | undefined, signal: CancelSignal): Promise<HttpResponse> {
    const headers = this.#endpoint.makeHeaders(["accept", "text/event-stream"]);
    if (lastEventId !== undefined) headers.push(["last-event-id", lastEventId]);
    return this.#endpoint.send({ method: "GET", headers, signal });
  }

  #makePostHeaders(): HeaderPair[] {
    return this.#endpoint.makeHeaders(
      ["accept", "application/json, text/event-stream"],
      ["content-type", "application/json"],
    );
  }

  #adoptSession(response: HttpResponse): void {
    const id = response.headers.get("mcp-session-id");
    if (id === null) return;
    if (!/^[\x21-\x7e]+$/.test(id)) {
      return this.#events.onLog("The server sent a session id with invalid characters", "warning");
    }
    this.#endpoint.sessionId = id;
    this.#endpoint.hasSession = true;
    this.#postHeaders = this.#makePostHeaders();
  }

  #answerIn(text: string, id: number, exchange: Exchange): string {
    const answer = this.#take(text, id, exchange);
    if (answer !== undefined) return answer;
    const received = text.trim() === "" ? "nothing" : this.#endpoint.quote(text);
    throw new HttpRefusal(
      200,
      `${this.#endpoint.host} did not answer the request, but sent ${received}`,
    );
  }

  /** Hands on what a text holds, and returns the answer to `id` if it is there. */
  #take(text: string, id: number | undefined, hearer: Pick<Exchange, "onMessage">) {
    if (id !== undefined && responseId(text) === id) return messageLine(text);
    let answer: string | undefined;
    for (const { text: one, message } of messagesIn(text)) {
      if (message?.kind === "response" && echoedId(message.id) === id) answer = one;
      else if (message && message.kind !== "response") hearer.onMessage(one, message);
      else this.#unexpected.report(`Ignored an unexpected message: ${excerpt(one)}`);
    }
    return answer;
  }

  async #streamedAnswer(
    first: HttpResponse,
    id: number,
    exchange: Exchange,
    signal: Cancellation,
  ): Promise<string> {
    const { host } = this.#endpoint;
    let answer: string | undefined;
    const stream = new ResumableStream(this.#endpoint.maxMessage, new StreamBudget(), (text) => {
      answer ??= this.#take(text, id, exchange);
    });
    for (let response = first;; response = await this.#resume(stream, signal)) {
      try {
        const rest = await stream.read(response, () => answer !== undefined);
        if (answer !== undefined) {
          if (rest) this.#letEnd(rest, signal);
          return answer;
        }
      } catch (error) {
        // A stream that breaks can be resumed like one that ends.
        if (signal.aborted || isForGood(error)) throw error;
      }
      if (stream.lastEventId === undefined) {
        throw new TransportClosed("lost", `${host} ended its stream before the answer`);
      }
    }
  }

  async #resume(stream: ResumableStream, signal: CancelSignal): Promise<HttpResponse> {
    const { host } = this.#endpoint;
    while (stream.failures < MAX_RESUMES) {
      stream.failures++;
      await sleep(stream.waitMs(), undefined, { signal: asAbortSignal(signal) });
      const response = await this.#get(stream.lastEventId, signal).catch((error) => {
        if (signal.aborted) throw error;
      });
      if (!response) continue;
      if (isEventStream(response)) return response;
      const isForgotten = response.status === 404;
      if (!isForgotten && !isTransient(response.status)) {
        await readRefusal(this.#endpoint, response, signal);
      }
      await discard(response);
      // Not that of a session: the server has taken the request, and nobody may repeat it.
      if (isForgotten) {
        throw new TransportClosed(
          "lost",
          `${host} ended its stream before the answer, and no longer knows it (HTTP 404)`,
        );
      }
    }
    throw new TransportClosed(
      "lost",
      `${host} ended its stream before the answer, and ${MAX_RESUMES} attempts to resume it failed`,
    );
  }

  /** Reads on to the end of an answered stream: only then can its connection be reused. */
  #letEnd(reader: BodyReader, signal: Cancellation): void {
    const limit = reader.bytes + ENDING_BYTES;
    const timeout = this.#endingLimits.add(() => signal.abort(undefined));
    const readOn = async () => {
      try {
        while (reader.bytes < limit && await reader.read() !== undefined);
        await reader.cancel();
      } catch {
        // It is over, if not well.
      } finally {
        this.#endingLimits.delete(timeout);
        this.#ending.delete(signal);
      }
    };
    const [oldest] = this.#ending.keys();
    if (this.#ending.size >= MAX_ENDING) oldest?.abort(undefined);
    this.#ending.set(signal, readOn());
  }

  /** Hears what the server says on its own, for as long as it keeps a stream for that. */
  async #listen(): Promise<void> {
    const signal = this.#begin();
    const { maxMessage } = this.#endpoint;
    const stream = new ResumableStream(maxMessage, new StreamBudget(), (text) => {
      this.#take(text, undefined, this.#events);
    });
    let hasWorked = false;
    let floods = 0;
    while (!signal.aborted && (hasWorked || stream.failures < MAX_TRIES)) {
      try {
        const response = await this.#get(stream.lastEventId, signal);
        if (isEventStream(response)) {
          hasWorked = true;
          await stream.read(response, () => false);
        } else {
          await discard(response);
          const { status } = response;
          if (hasWorked && status === 404 && this.#endpoint.hasSession) this.#loseSession();
          if (!isTransient(status)) break;
        }
      } catch (error) {
        if (isForGood(error)) {
          const isFlood = error instanceof StreamFlooded;
          if (isFlood) floods++;
          const why = isFlood
            ? `Closed a stream of ${error.message}`
            : `Skipped a message over ${sizeText(maxMessage)}`;
          this.#events.onLog(why, "warning");
          // To resume would bring it again.
          stream.lastEventId = undefined;
        }
      }
      stream.failures++;
      const afterFlood = floods === 0 ? 0 : FLOOD_WAIT_MS * 2 ** Math.min(floods - 1, 10);
      const wait = Math.max(SHORTEST_WAIT_MS, stream.waitMs(), afterFlood);
      await sleep(wait, undefined, { signal: asAbortSignal(signal) }).catch(() => {});
    }
    this.#running.delete(signal);
  }

  #explain(error: unknown, signal: CancelSignal): unknown {
    if (error instanceof BodyTooLarge || error instanceof EventTooLarge) {
      return messageTooLarge(this.#endpoint.serverName, this.#endpoint.maxMessage);
    }
    if (error instanceof StreamFlooded) return streamFlooded(this.#endpoint.serverName, error);
    const explained = this.#endpoint.lost(error, signal);
    if (explained instanceof TransportClosed && explained.kind === "session") this.#loseSession();
    return explained;
  }

  /** Nothing can be said any more under a session that the server has forgotten. */
  #loseSession(): void {
    if (this.#ended) return;
    this.#ended = new TransportClosed(
      "session",
      `${this.#endpoint.host} no longer knows the session (HTTP 404)`,
    );
    this.#events.onClose(this.#ended);
  }
}

/** Resuming the stream would cause the same error again. */
function isForGood(error: unknown): error is EventTooLarge | StreamFlooded {
  return error instanceof EventTooLarge || error instanceof StreamFlooded;
}

/** Streamable HTTP, or the older transport where the first request shows that only that is there. */
export class FallbackTransport implements Transport {
  readonly takesHeaders = true;
  readonly #options: RemoteOptions;
  readonly #events: TransportEvents;
  #inner: Transport;
  #isSettled = false;
  #isDisposed = false;

  constructor(options: RemoteOptions, events: TransportEvents) {
    this.#options = options;
    this.#events = events;
    this.#inner = new HttpTransport(options, events);
  }

  request(id: number, text: string, exchange: Exchange): Promise<string> {
    return this.#isSettled || exchange.isProbe
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

  async #fallBack(refusal: HttpRefusal, signal: CancelSignal | undefined): Promise<void> {
    const http = this.#inner;
    const sse = new SseTransport(this.#options, this.#events);
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
      const isTelling = error instanceof TransportClosed &&
        (error.kind === "login" || error.kind === "closed");
      throw isTelling ? error : refusal;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }
}

/** What the specification names as the signs of a server that speaks HTTP+SSE only. */
function isSignOfOlderTransport(error: unknown): error is HttpRefusal {
  return error instanceof HttpRefusal && [400, 404, 405].includes(error.status);
}
