import { Client, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import { DiscoverResultSchema } from "@modelcontextprotocol/core";
import { STATELESS_VERSION } from "../core/client.ts";
import { isObject } from "../core/rpc.ts";
import type { Connection } from "./connection.ts";
import { SERVER_INFO_KEY, SUBSCRIPTION_ID_KEY } from "../core/stateless.ts";
import { GATEWAY_INFO } from "./stateless_request.ts";

/**
 * The SDK's client on a stateless connection that is already open. It does what is not relayed;
 * calls pass beside it as text.
 */
export async function openSdkClient(connection: Connection): Promise<Client> {
  const { capabilities, instructions, serverInfo } = connection.info;
  const discover = DiscoverResultSchema.parse({
    supportedVersions: [STATELESS_VERSION],
    capabilities,
    instructions,
    _meta: { [SERVER_INFO_KEY]: serverInfo },
  });
  const client = new Client(GATEWAY_INFO);
  const transport = new ConnectionTransport(connection);
  await client.connect(transport, { prior: { kind: "modern", discover } });
  return client;
}

type SendOptions = Parameters<Transport["send"]>[1];

/** The wire of the SDK's client: each of its requests is one that the connection holds open. */
class ConnectionTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** The end of a request's stream is what cancels it, on every wire. */
  readonly hasPerRequestStream = true;
  readonly #connection: Connection;
  readonly #closing = new AbortController();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#closing.abort();
    this.onclose?.();
    return Promise.resolve();
  }

  send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    if (!("method" in message) || !("id" in message)) return Promise.resolve();
    const { id, method, params } = message;
    const { signal } = this.#closing;
    const ended = options?.requestSignal
      ? AbortSignal.any([options.requestSignal, signal])
      : signal;
    const onMessage = (text: string) => this.#pass(text, id);
    const sent = this.#connection.hold(method, JSON.stringify(params), onMessage, ended);
    sent.then(({ text }) => this.#pass(text, id), (error) => {
      this.onerror?.(error);
      options?.onRequestStreamEnd?.();
    });
    return Promise.resolve();
  }

  /** Hands a message on under the id that the client knows, not that of the connection. */
  #pass(text: string, id: string | number): void {
    const message = JSON.parse(text);
    if ("id" in message) message.id = id;
    const meta = isObject(message.params) ? message.params._meta : undefined;
    if (isObject(meta) && SUBSCRIPTION_ID_KEY in meta) meta[SUBSCRIPTION_ID_KEY] = id;
    this.onmessage?.(message);
  }
}
