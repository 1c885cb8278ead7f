import assert from "node:assert/strict";
import type { RpcMessage } from "../../../core/rpc.ts";
import { type Exchange, TransportClosed, type TransportEvents } from "../transport.ts";

/** Deno checks for leaks only where it is told to. */
export const STRICT = { sanitizeOps: true, sanitizeResources: true } as const;

const encoder = new TextEncoder();

/** One request as a test's server got it. */
export interface Received {
  method: string;
  path: string;
  headers: Headers;
  body: string;
  /** The id of the JSON-RPC request in the body, if it holds one. */
  id: number | undefined;
  port: number;
  request: Request;
}

/** A server on loopback that keeps what it got. */
export class Loopback implements AsyncDisposable {
  readonly received: Received[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #abort = new AbortController();

  constructor(answer: (received: Received) => Response | Promise<Response>) {
    this.#server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", signal: this.#abort.signal, onListen() {} },
      async (request, info) => {
        const body = await request.text();
        const { pathname, search } = new URL(request.url);
        const id = /"id":(\d+)/.exec(body)?.[1];
        const received = {
          method: request.method,
          path: pathname + search,
          headers: request.headers,
          body,
          id: id === undefined ? undefined : Number(id),
          port: info.remoteAddr.port,
          request,
        };
        this.received.push(received);
        return await answer(received);
      },
    );
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  byMethod(method: string): Received[] {
    return this.received.filter((received) => received.method === method);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#server.finished;
  }
}

export function json(body: string, init: ResponseInit = {}): Response {
  const headers = { "content-type": "application/json", ...init.headers };
  return new Response(body, { ...init, headers });
}

export function result(id: number | undefined, value: unknown = {}): string {
  return `{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(value)}}`;
}

export function note(method: string): string {
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)}}`;
}

export function event(data: string, fields = ""): string {
  return `${fields}event: message\ndata: ${data}\n\n`;
}

/** A response whose pieces are written as they come, each in a chunk of its own. */
export function streamed(
  pieces: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  headers: Record<string, string> = {},
  onCancel: () => void = () => {},
): Response {
  const iterator = Symbol.asyncIterator in pieces
    ? pieces[Symbol.asyncIterator]()
    : pieces[Symbol.iterator]();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await iterator.next();
        if (done) controller.close();
        else controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
      } catch (error) {
        controller.error(error);
      }
    },
    cancel: onCancel,
  });
  return new Response(body, { headers: { "content-type": "text/event-stream", ...headers } });
}

/** The events of a transport, kept. */
export class KeptEvents implements TransportEvents {
  readonly messages: string[] = [];
  readonly closed: TransportClosed[] = [];
  readonly log: string[] = [];

  onMessage(text: string, _message: RpcMessage): void {
    this.messages.push(text);
  }

  onClose(reason: TransportClosed): void {
    this.closed.push(reason);
  }

  onLog(line: string): void {
    this.log.push(line);
  }
}

/** An exchange that keeps what comes before the answer. */
export function keptExchange(
  options: { streams?: boolean; signal?: AbortSignal } = {},
): Exchange & { messages: string[] } {
  const messages: string[] = [];
  return { streams: false, ...options, messages, onMessage: (text) => messages.push(text) };
}

export function request(id: number, method = "tools/call"): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}"}`;
}

export async function rejects(
  promise: Promise<unknown>,
  kind: TransportClosed["kind"],
  words = /./,
): Promise<TransportClosed> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof TransportClosed, `not a TransportClosed: ${error}`);
    assert.equal(error.kind, kind, error.message);
    assert.match(error.message, words);
    return error;
  }
  assert.fail("it did not reject");
}

export async function until(condition: () => boolean, what: string): Promise<void> {
  for (const end = Date.now() + 60_000; !condition();) {
    assert.ok(Date.now() < end, `waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Answers one request per connection, then closes it: at once, or when the next request arrives. */
export class OneAnswer implements AsyncDisposable {
  readonly bodies: string[] = [];
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #open: Promise<void>[] = [];
  readonly #accepting = this.#accept();
  readonly #closesIdle: boolean;
  closed = 0;

  constructor({ closesIdle }: { closesIdle: boolean }) {
    this.#closesIdle = closesIdle;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#listener.addr.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    await this.#accepting;
    await Promise.all(this.#open);
  }

  async #accept(): Promise<void> {
    for await (const connection of this.#listener) this.#open.push(this.#serve(connection));
  }

  async #serve(connection: Deno.TcpConn): Promise<void> {
    try {
      const body = await this.#read(connection);
      if (body === undefined) return;
      const answer = result(Number(/"id":(\d+)/.exec(body)?.[1]));
      await connection.write(encoder.encode(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n" +
          `content-length: ${answer.length}\r\n\r\n${answer}`,
      ));
      if (this.#closesIdle) await connection.closeWrite();
      await this.#read(connection);
    } catch {
      // The client reset the connection.
    } finally {
      connection.close();
      this.closed++;
    }
  }

  async #read(connection: Deno.TcpConn): Promise<string | undefined> {
    const buffer = new Uint8Array(4096);
    let text = "";
    while (!text.endsWith("}")) {
      const read = await connection.read(buffer);
      if (read === null) return undefined;
      text += new TextDecoder().decode(buffer.subarray(0, read));
    }
    const body = text.slice(text.indexOf("\r\n\r\n") + 4);
    this.bodies.push(body);
    return body;
  }
}
