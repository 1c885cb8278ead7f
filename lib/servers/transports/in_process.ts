// @ts-types="@modelcontextprotocol/sdk/inMemory"
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp";
import { classify } from "../../core/rpc.ts";
import { type Transport, TransportClosed, type TransportEvents } from "./transport.ts";

/** The wire to an SDK server that runs in this process. */
export class InProcessTransport implements Transport {
  readonly #wire: InMemoryTransport;
  readonly #waiters = new Map<unknown, PromiseWithResolvers<string>>();

  private constructor(wire: InMemoryTransport, events: TransportEvents) {
    this.#wire = wire;
    wire.onmessage = (value) => {
      const message = classify(value);
      if (message === undefined) return;
      const text = JSON.stringify(value);
      if (message.kind === "response") this.#take(message.id)?.resolve(text);
      else events.onMessage(text, message);
    };
  }

  static async open(server: McpServer, events: TransportEvents): Promise<InProcessTransport> {
    const [near, far] = InMemoryTransport.createLinkedPair();
    const transport = new InProcessTransport(near, events);
    await server.connect(far);
    return transport;
  }

  async request(id: number, text: string): Promise<string> {
    const waiter = Promise.withResolvers<string>();
    this.#waiters.set(id, waiter);
    await this.send(text);
    return await waiter.promise;
  }

  abandon(id: number, reason: unknown): void {
    this.#take(id)?.reject(reason);
  }

  async send(text: string): Promise<void> {
    await this.#wire.send(JSON.parse(text));
  }

  setProtocolVersion(): void {}

  async [Symbol.asyncDispose](): Promise<void> {
    const reason = new TransportClosed("closed", "The demo server was stopped");
    for (const id of [...this.#waiters.keys()]) this.abandon(Number(id), reason);
    await this.#wire.close();
  }

  #take(id: unknown): PromiseWithResolvers<string> | undefined {
    const waiter = this.#waiters.get(id);
    this.#waiters.delete(id);
    return waiter;
  }
}
