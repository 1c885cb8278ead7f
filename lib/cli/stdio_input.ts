import { GatewayError } from "../core/errors.ts";
import {
  classify,
  END_CHARS,
  errorText,
  isObject,
  responseIdFromEnds,
  type RpcId,
  type RpcMessage,
} from "../core/rpc.ts";
import { LineSplitter } from "../servers/transports/stdio_streams.ts";

export interface StdioInputOptions {
  /** How many bytes a message may take. */
  maxBody: number;
  onMessage(message: RpcMessage, text: string): void;
  /** Tells the client what is wrong with what it sent. */
  write(text: string): void;
  /** Asked before more is read. */
  ready(): Promise<void>;
}

/** Reads a client's messages, one a line, to the end of the stream. */
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
    const error = tooLarge(maxBody);
    const { rpcCode, message } = error;
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
    const message = classify(value);
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

function asId(value: unknown): RpcId | null {
  if (!isObject(value)) return null;
  return typeof value.id === "string" || typeof value.id === "number" ? value.id : null;
}

/** The id of a request, told from the ends of its text, where only the envelope's own can stand. */
function requestId(head: string, tail: string): RpcId | null {
  const id = /^\{"jsonrpc":"2\.0","id":(\d+|"[^"\\]*"),"method":/.exec(head)?.[1] ??
    /,"id":(\d+|"[^"\\]*")\}\s*$/.exec(tail)?.[1];
  return id === undefined ? null : JSON.parse(id);
}

function tooLarge(limit: number): GatewayError {
  return new GatewayError("PAYLOAD_TOO_LARGE", {
    message: `The message is over the limit of ${limit} bytes`,
  });
}
