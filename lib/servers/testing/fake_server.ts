import pino from "pino";
import { isObject, notificationText, readMessage, resultText } from "../../core/rpc.ts";
import type { Logger } from "../../telemetry/logs.ts";
import {
  type Exchange,
  type Transport,
  TransportClosed,
  type TransportEvents,
} from "../transports/transport.ts";

/** Answers one method; what it never resolves with is never answered. */
export type Handler = (
  params: Record<string, unknown>,
  transport: FakeTransport,
  exchange: Exchange,
) => unknown;

/** A server without a wire: each transport to it is kept, and every answer can be replaced. */
export class FakeServer {
  readonly links: FakeTransport[] = [];
  readonly handlers = new Map<string, Handler>();
  tools: Record<string, unknown>[] = [{ name: "look", inputSchema: { type: "object" } }];
  /** Why a transport cannot be opened, if it cannot. */
  refusal: TransportClosed | undefined;

  readonly open = (events: TransportEvents): FakeTransport => {
    if (this.refusal) throw this.refusal;
    const transport = new FakeTransport(this, events);
    this.links.push(transport);
    return transport;
  };

  /** Links that are neither closed nor disposed. */
  get alive(): FakeTransport[] {
    return this.links.filter((transport) => !transport.isOver);
  }

  /** Never answers this method. */
  silence(method: string): void {
    this.handlers.set(method, () => new Promise(() => {}));
  }

  answer(
    method: string,
    params: Record<string, unknown>,
    transport: FakeTransport,
    exchange: Exchange,
  ) {
    const handler = this.handlers.get(method);
    if (handler) return handler(params, transport, exchange);
    switch (method) {
      case "initialize":
        return {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "fake" },
        };
      case "tools/list":
        return { tools: this.tools };
      default:
        return {};
    }
  }
}

export class FakeTransport implements Transport {
  /** The methods and notifications that came, in order. */
  readonly heard: string[] = [];
  isOver = false;
  readonly #server: FakeServer;
  readonly #events: TransportEvents;
  readonly #closed = Promise.withResolvers<never>();

  constructor(server: FakeServer, events: TransportEvents) {
    this.#server = server;
    this.#events = events;
    this.#closed.promise.catch(() => {});
  }

  async request(id: number, text: string, exchange: Exchange): Promise<string> {
    const message = readMessage(text);
    if (message?.kind !== "request") throw new Error(`No request: ${text}`);
    this.heard.push(message.method);
    const { signal } = exchange;
    const aborted = new Promise<never>((_, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
    });
    aborted.catch(() => {});
    const answering = async () =>
      await this.#server.answer(message.method, message.params, this, exchange);
    const result = await Promise.race([this.#closed.promise, aborted, answering()]);
    return resultText(id, JSON.stringify(result));
  }

  send(text: string): Promise<void> {
    const message = readMessage(text);
    if (message && message.kind !== "response") this.heard.push(message.method);
    else this.heard.push(text);
    return Promise.resolve();
  }

  setProtocolVersion(): void {}

  /** The server says something on its own. */
  tell(method: string, params: Record<string, unknown> = {}): void {
    const message = { kind: "notification", method, params } as const;
    this.#events.onMessage(notificationText(method, JSON.stringify(params)), message);
  }

  ask(id: string, method: string): void {
    const text = JSON.stringify({ jsonrpc: "2.0", id, method });
    this.#events.onMessage(text, { kind: "request", id, method, params: {} });
  }

  /** The server writes to its error output. */
  write(line: string): void {
    this.#events.onLog(line, "stderr");
  }

  /** The wire breaks. */
  close(kind: TransportClosed["kind"] = "lost", words = "the wire broke"): void {
    const reason = new TransportClosed(kind, words);
    this.isOver = true;
    this.#closed.reject(reason);
    this.#events.onClose(reason);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.isOver = true;
    this.#closed.reject(new TransportClosed("closed", "it was closed"));
    return Promise.resolve();
  }
}

export function silentLog(): Logger {
  return pino({ enabled: false });
}

export function textOfResult(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return isObject(value) ? value.result : undefined;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits until it is so, for at most a minute. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !await isSo(); tries++) {
    if (tries > 12_000) throw new Error("It did not come about within 60 s");
    await pause(5);
  }
}
