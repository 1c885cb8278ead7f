import pino from "pino";
import { isObject, notificationText, readMessage, resultText } from "../../core/rpc.ts";
import type { Logger } from "../../telemetry/logs.ts";
import { type Exchange, type Link, LinkClosed, type LinkEvents } from "../link.ts";

/** Answers one method; what it never resolves with is never answered. */
export type Handler = (
  params: Record<string, unknown>,
  link: FakeLink,
  exchange: Exchange,
) => unknown;

/** A server without a wire: each link to it is kept, and every answer can be replaced. */
export class FakeServer {
  readonly links: FakeLink[] = [];
  readonly handlers = new Map<string, Handler>();
  tools: Record<string, unknown>[] = [{ name: "look", inputSchema: { type: "object" } }];
  /** Why a link cannot be opened, if it cannot. */
  refusal: LinkClosed | undefined;

  readonly open = (events: LinkEvents): FakeLink => {
    if (this.refusal) throw this.refusal;
    const link = new FakeLink(this, events);
    this.links.push(link);
    return link;
  };

  /** Links that are neither closed nor disposed. */
  get alive(): FakeLink[] {
    return this.links.filter((link) => !link.isOver);
  }

  /** Never answers this method. */
  silence(method: string): void {
    this.handlers.set(method, () => new Promise(() => {}));
  }

  answer(method: string, params: Record<string, unknown>, link: FakeLink, exchange: Exchange) {
    const handler = this.handlers.get(method);
    if (handler) return handler(params, link, exchange);
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

export class FakeLink implements Link {
  /** The methods and notifications that came, in order. */
  readonly heard: string[] = [];
  isOver = false;
  readonly #server: FakeServer;
  readonly #events: LinkEvents;
  readonly #closed = Promise.withResolvers<never>();

  constructor(server: FakeServer, events: LinkEvents) {
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
  close(kind: LinkClosed["kind"] = "lost", words = "the wire broke"): void {
    const reason = new LinkClosed(kind, words);
    this.isOver = true;
    this.#closed.reject(reason);
    this.#events.onClose(reason);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.isOver = true;
    this.#closed.reject(new LinkClosed("closed", "it was closed"));
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

/** Waits until it is so, for at most five seconds. */
export async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo(); tries++) {
    if (tries > 1_000) throw new Error("It did not come about within 5 s");
    await pause(5);
  }
}
