import { readMessage } from "../../core/rpc.ts";
import type { Exchange, Transport } from "./transport.ts";

export interface InProcessServer {
  handle(message: unknown): Record<string, unknown> | undefined;
}

export class InProcessTransport implements Transport {
  readonly #server: InProcessServer;

  constructor(server: InProcessServer) {
    this.#server = server;
  }

  request(_id: number, text: string, _exchange: Exchange): Promise<string> {
    return Promise.resolve(JSON.stringify(this.#server.handle(JSON.parse(text))));
  }

  send(text: string): Promise<void> {
    if (readMessage(text)?.kind === "notification") this.#server.handle(JSON.parse(text));
    return Promise.resolve();
  }

  setProtocolVersion(): void {}

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}
