import { within } from "../core/async.ts";
import { join } from "@std/path";
import type { ReadOptions } from "../config/options.ts";
import {
  classify,
  END_CHARS,
  errorText,
  isObject,
  type MessageId,
  responseIdFromEnds,
  type RpcMessage,
} from "../core/rpc.ts";
import { endpointPathOf, type GatewayHost } from "./gateway_host.ts";
import { StdioEndpoint } from "../mcp/stdio.ts";
import { parseLocation } from "../storage/kv_client.ts";
import { signingSecret } from "../storage/secrets_repository.ts";
import { Store } from "../storage/store.ts";
import { lineFormat } from "../telemetry/log_lines.ts";
import { Logs } from "../telemetry/logs.ts";
import { Credential } from "./gateway_client.ts";
import { findGateways } from "./operation_target.ts";
import { onStopSignal } from "./serve.ts";
import { type GatewayPlace, StdioBridge } from "./stdio_bridge.ts";
import { GatewayError } from "../core/errors.ts";
import { LineSplitter, type Sink, WriteQueue } from "../servers/transports/stdio_streams.ts";

/** Clients kill what has not ended 2 to 5 s after they closed the pipe; stubborn programs take 2 s. */
const DRAIN_MS = 1_000;
const DISPOSE_MS = 3_500;

interface Answerer extends AsyncDisposable {
  take(message: RpcMessage, text: string): void;
  settled(): Promise<void>;
}

/** Speaks MCP on standard input and output until the client closes them or a signal comes. */
export async function serveStdio(host: GatewayHost): Promise<void> {
  // Only the protocol goes to stdout, whatever a dependency prints.
  // deno-lint-ignore no-console
  console.log = console.info = console.debug = console.error;
  const read = await host.options();
  const path = endpointPathOf(read.flags);
  const stop = Promise.withResolvers<void>();
  const release = onStopSignal(() => stop.resolve());
  const output = new StdioOutput(Deno.stdout.writable, stop.resolve);
  const answerer = await openBridge(read, path, output) ?? await openOwn(host, path, output);
  const reading = readMessages(Deno.stdin.readable, {
    maxBody: read.options.maxBody,
    onMessage: (message, text) => answerer.take(message, text),
    write: output.write,
    ready: output.ready,
  });
  // A pipe that breaks has ended, too.
  await Promise.race([stop.promise, reading.catch(() => {})]);
  await within(answerer.settled().then(() => output.flushed()), DRAIN_MS);
  await within(answerer[Symbol.asyncDispose](), DISPOSE_MS);
  release();
  Deno.exit(0);
}

/** A bridge to the gateway that runs on the same data, if one does and may be joined. */
async function openBridge(
  { options }: ReadOptions,
  path: string,
  output: StdioOutput,
): Promise<Answerer | undefined> {
  const { kv, dataDir } = options;
  if (options.standalone || kv === undefined || parseLocation(kv).kind === "memory") return;
  const find = async (wanted?: GatewayPlace): Promise<GatewayPlace | undefined> => {
    // Opened for each look: held open, it would stand in the way of a restore.
    await using store = await Store.open({ location: kv });
    const places = (await findGateways(store)).map(({ address, status: { pid, startedAt } }) => ({
      address,
      pid,
      startedAt,
    }));
    const isWanted = ({ pid, startedAt }: GatewayPlace) =>
      pid === wanted?.pid && startedAt === wanted.startedAt;
    return places.find(isWanted) ?? places[0];
  };
  const place = await find();
  if (!place) return;
  const logs = await Logs.open({
    level: options.logLevel,
    format: lineFormat(options.logFormat),
    development: options.development,
    keepFiles: options.logRetention,
    // Apart from the gateway's, which they would soon crowd out.
    ...(dataDir === undefined ? {} : { folder: join(dataDir, "logs", "stdio") }),
  });
  const log = logs.module("cli");
  log.info({ gateway: place.address, endpoint: path }, "Joined the running gateway");
  const { write, ready } = output;
  async function secret(): Promise<Uint8Array> {
    await using store = await Store.open({ location: kv });
    return await signingSecret(store);
  }
  const credentialAt = (gateway: GatewayPlace) =>
    new Credential({ token: options.token, owner: { gateway, secret } });
  const bridge = new StdioBridge({ place, find, path, write, ready, log, credentialAt });
  return {
    take(message, text) {
      const method = "method" in message ? message.method : undefined;
      log.debug({ kind: message.kind, method }, "Message");
      bridge.take(message, text);
    },
    settled: () => bridge.settled(),
    async [Symbol.asyncDispose]() {
      await bridge[Symbol.asyncDispose]();
      log.info("Stopped");
      await logs[Symbol.asyncDispose]();
    },
  };
}

/** A whole gateway for this client only. */
async function openOwn(host: GatewayHost, path: string, output: StdioOutput): Promise<Answerer> {
  const gateway = await host.get();
  gateway.logs.module("cli").info({ endpoint: path }, "Serving MCP over stdin and stdout");
  const endpoint = new StdioEndpoint({
    host: gateway.endpoints.host,
    open: await gateway.endpoints.opener(path),
    write: output.write,
  });
  return {
    take: (message, text) => endpoint.take(message, text),
    settled: () => endpoint.settled(),
    async [Symbol.asyncDispose]() {
      gateway.close();
      // At once: programs of the client's own and those of all may each take their time to end.
      await Promise.all([endpoint[Symbol.asyncDispose](), host[Symbol.asyncDispose]()]);
    },
  };
}

export interface StdioInputOptions {
  maxBody: number;
  onMessage(message: RpcMessage, text: string): void;
  /** Tells the client what is wrong with what it sent. */
  write(text: string): void;
  /** Asked before more is read. */
  ready(): Promise<void>;
}

export async function readMessages(
  stream: ReadableStream<Uint8Array>,
  { maxBody, onMessage, write, ready }: StdioInputOptions,
): Promise<void> {
  const splitter = new LineSplitter({
    maxBytes: maxBody,
    headBytes: END_CHARS,
    onLongLine: (head, _bytes, tail) => refuseLong(head, tail),
    onLine(text) {
      if (text.trim() !== "") takeLine(text);
    },
  });

  function refuseLong(head: string, tail: string): void {
    const message = `The message exceeds the limit of ${maxBody} bytes`;
    const error = new GatewayError("PAYLOAD_TOO_LARGE", { message });
    const { rpcCode } = error;
    const answered = responseIdFromEnds(head, tail);
    if (answered === undefined) {
      return write(errorText(requestId(head, tail), rpcCode, message, error.toBody()));
    }
    // A server waits for this answer, and has to hear that it will not come.
    const text = errorText(answered, rpcCode, message);
    onMessage({ kind: "response", id: answered, isError: true }, text);
  }

  function takeLine(text: string): void {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return write(errorText(null, -32700, "The line is not valid JSON"));
    }
    if (Array.isArray(value)) {
      return write(
        errorText(null, -32600, "Batches are not supported: send one message at a time"),
      );
    }
    const message = classify(value, text);
    if (message) return onMessage(message, text);
    // What could be an answer gets none, or two sides that misunderstand each other never stop.
    if (isObject(value) && value.method === undefined && "error" in value) return;
    write(errorText(asId(value), -32600, "The line is not a JSON-RPC 2.0 message"));
  }

  for await (const chunk of stream) {
    splitter.push(chunk);
    await ready();
  }
  splitter.end();
}

function asId(value: unknown): MessageId | null {
  if (!isObject(value)) return null;
  return typeof value.id === "string" || typeof value.id === "number" ? value.id : null;
}

/** The id of a request, read from the ends of its text, which only the envelope can fill. */
function requestId(head: string, tail: string): MessageId | null {
  const id = /^\{"jsonrpc":"2\.0","id":(\d+|"[^"\\]*"),"method":/.exec(head)?.[1] ??
    /,"id":(\d+|"[^"\\]*")\}\s*$/.exec(tail)?.[1];
  return id === undefined ? null : JSON.parse(id);
}

/** What may wait for a client that reads slowly before nothing more is taken from anybody. */
const WAITING_CHARACTERS = 4 * 1024 * 1024;
/** A client that leaves this much unread does not read at all. */
const MAX_WAITING_CHARACTERS = 256 * 1024 * 1024;

/** The way to the client: whole lines, in order, at its pace. */
export class StdioOutput {
  readonly #outbox: WriteQueue;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();
  #room = Promise.withResolvers<void>();
  #isOver = false;

  /** `onEnd` is called once, when the client takes nothing more. */
  constructor(stream: WritableStream<Uint8Array>, onEnd: () => void) {
    const writer = stream.getWriter();
    // Each write reports its own failure.
    writer.closed.catch(() => {});
    const sink: Sink = {
      write: (bytes, onWritten) => writer.write(bytes).then(() => onWritten(), onWritten),
      end: () => writer.close().catch(() => {}),
      destroy: (reason) => writer.abort(reason).catch(() => {}),
    };
    this.#outbox = new WriteQueue(sink, {
      limit: Infinity,
      full: "",
      onFail: () => {
        this.#isOver = true;
        this.#room.resolve();
        onEnd();
      },
    });
  }

  readonly write = (text: string): void => {
    if (this.#isOver) return;
    this.#waiting += text.length;
    if (this.#waiting > MAX_WAITING_CHARACTERS) {
      return this.#outbox.abort(new Error("The client is not reading its input"));
    }
    this.#last = this.#outbox.send(text).then(() => {
      this.#waiting -= text.length;
      if (this.#waiting > WAITING_CHARACTERS) return;
      this.#room.resolve();
      this.#room = Promise.withResolvers();
    }).catch(() => {});
  };

  /** Waits while the client has too much left to read. */
  readonly ready = async (): Promise<void> => {
    while (this.#waiting > WAITING_CHARACTERS && !this.#isOver) await this.#room.promise;
  };

  flushed(): Promise<void> {
    return this.#last;
  }
}
