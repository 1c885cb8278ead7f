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
  waiterOf,
} from "./messages.ts";
import { BodyReader, type HttpResponse } from "./http_response.ts";
import { OriginClient, type RemoteOptions } from "./origin_client.ts";
import { isEventStream, SseParser } from "./sse_stream.ts";
import { SLICE, StreamBudget, StreamFlooded } from "./stream_budget.ts";
import { readRefusal } from "./http_errors.ts";
import { echoedId } from "../../core/rpc.ts";

const CONNECT_LIMIT_MS = 10_000;

/**
 * The wire to a server over the older HTTP+SSE transport: one stream for all that the server says,
 * and an address for what we say. When the stream ends, so does the transport.
 */
export class SseTransport implements Transport {
  readonly #endpoint: OriginClient;
  readonly #events: TransportEvents;
  readonly #unexpected = new RepeatedWarning(
    (text) => this.#events.onLog(text, "warning"),
    (count) => `Ignored ${count} more unexpected messages`,
  );
  readonly #closing = new AbortController();
  readonly #waiting = new Map<number, PromiseWithResolvers<string>>();
  readonly #budget = new StreamBudget();
  readonly #address = Promise.withResolvers<string>();
  #connecting: Promise<void> | undefined;
  #reading: Promise<void> | undefined;
  #isOpen = false;
  #ended: TransportClosed | undefined;

  constructor(options: RemoteOptions, events: TransportEvents) {
    this.#endpoint = new OriginClient(options);
    this.#events = events;
    this.#address.promise.catch(() => {});
  }

  /** Opens the stream and waits for the address; the first request does so too. */
  connect(): Promise<void> {
    return this.#connecting ??= this.#connect();
  }

  async request(id: number, text: string, exchange: Exchange): Promise<string> {
    const { signal } = exchange;
    signal?.throwIfAborted();
    const answer = Promise.withResolvers<string>();
    const abort = () => answer.reject(signal?.reason);
    signal?.addEventListener("abort", abort);
    this.#waiting.set(id, answer);
    try {
      // The answer may overtake the response to the POST.
      this.#post(text).catch((error) => {
        answer.reject(error);
        this.#endIfForgotten(error);
      });
      return await answer.promise;
    } finally {
      this.#waiting.delete(id);
      signal?.removeEventListener("abort", abort);
    }
  }

  async send(text: string): Promise<void> {
    try {
      await this.#post(text);
    } catch (error) {
      this.#endIfForgotten(error);
      throw error;
    }
  }

  async #post(text: string): Promise<void> {
    if (this.#ended) throw this.#ended;
    await this.connect();
    const url = await this.#address.promise;
    const headers = this.#endpoint.makeHeaders(["content-type", "application/json"]);
    await this.#endpoint.deliver(text, headers, this.#closing.signal, url);
  }

  setProtocolVersion(version: string): void {
    this.#endpoint.protocolVersion = version;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const message = `The connection to ${this.#endpoint.host} was closed`;
    this.#isOpen = false;
    this.#end(new TransportClosed("closed", message));
    await this.#connecting?.catch(() => {});
    await this.#reading;
    this.#endpoint[Symbol.dispose]();
  }

  async #connect(): Promise<void> {
    const { host } = this.#endpoint;
    const { signal } = this.#closing;
    const timer = setTimeout(() => {
      const seconds = CONNECT_LIMIT_MS / 1000;
      this.#end(
        new TransportClosed("refused", `${host} did not open an SSE stream within ${seconds} s`),
      );
    }, CONNECT_LIMIT_MS);
    const headers = this.#endpoint.makeHeaders(["accept", "text/event-stream"]);
    try {
      const response = await this.#endpoint.send({ method: "GET", headers, signal });
      if (!isEventStream(response)) await readRefusal(this.#endpoint, response, signal);
      this.#reading = this.#read(response);
      await this.#address.promise;
      this.#isOpen = this.#endpoint.hasSession = true;
    } catch (error) {
      const reason = this.#endpoint.lost(error, signal);
      if (reason instanceof TransportClosed) this.#end(reason);
      throw reason;
    } finally {
      clearTimeout(timer);
    }
  }

  async #read(response: HttpResponse): Promise<void> {
    const { host } = this.#endpoint;
    const { signal } = this.#closing;
    const reader = new BodyReader(response);
    const parser = new SseParser(this.#endpoint.maxMessage, (data, name) => {
      if (name === "endpoint") this.#address.resolve(this.#endpoint.resolve(data));
      else if (name === undefined || name === "message") this.#take(data);
    }, (head, tail) => this.#skip(head, tail));
    try {
      for (let text = await reader.read(); text !== undefined; text = await reader.read()) {
        if (text.length > SLICE || this.#budget.isStrained) {
          await this.#budget.pass(text, (piece) => parser.push(piece));
        } else parser.push(text);
      }
      this.#end(new TransportClosed("lost", `${host} ended its stream`));
    } catch (error) {
      await reader.cancel();
      if (error instanceof StreamFlooded) {
        const flooded = streamFlooded(this.#endpoint.serverName, error);
        for (const waiting of this.#waiting.values()) waiting.reject(flooded);
        this.#end(new TransportClosed("lost", `${host} sent ${error.message}`));
        return;
      }
      const reason = this.#endpoint.lost(error, signal);
      if (reason instanceof TransportClosed) this.#end(reason);
    }
  }

  #take(data: string): void {
    for (const { text, message } of messagesIn(data)) {
      const id = message?.kind === "response" ? echoedId(message.id) : undefined;
      const waiting = id === undefined ? undefined : this.#waiting.get(id);
      if (waiting) {
        waiting.resolve(text);
        continue;
      }
      this.#budget.count(text);
      if (message && message.kind !== "response") this.#events.onMessage(text, message);
      else this.#unexpected.report(`Ignored an unexpected message: ${excerpt(text)}`);
    }
  }

  /** The stream is everybody's: one message that is too large must not end it for all. */
  #skip(head: string, tail: string): void {
    const { serverName, maxMessage } = this.#endpoint;
    const id = waiterOf(head, tail, this.#waiting);
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (waiting) waiting.reject(messageTooLarge(serverName, maxMessage));
    else this.#events.onLog(`Skipped a message over ${sizeText(maxMessage)}`, "warning");
  }

  #endIfForgotten(error: unknown): void {
    if (error instanceof TransportClosed && error.kind === "session") this.#end(error);
  }

  #end(reason: TransportClosed): void {
    if (this.#ended) return;
    this.#ended = reason;
    // One message was refused; what the server took before may be done, and nobody may repeat it.
    const lost = reason.kind === "session" ? new TransportClosed("lost", reason.message) : reason;
    this.#closing.abort(lost);
    this.#address.reject(lost);
    for (const waiting of this.#waiting.values()) waiting.reject(lost);
    if (this.#isOpen) this.#events.onClose(reason);
  }
}
