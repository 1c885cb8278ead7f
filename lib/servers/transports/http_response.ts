import { NOT_PERMITTED } from "./net_permission.ts";

/** What a server answers: its body is read piece by piece, or let go. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Pick<Headers, "get" | "has">;
  /** Whether the last bytes that were read are the end of the body, if that is known already. */
  readonly isOver?: boolean;
  /** The next bytes of the body, good until more are asked for; undefined at its end. */
  read(): Promise<Uint8Array | undefined>;
  text(): Promise<string>;
  /** Lets go of what has not been read. Never throws. */
  cancel(): Promise<void>;
}

const BUFFER_BYTES = 16 * 1024;
const utf8 = new TextDecoder();

/**
 * What the platform's fetch got. It is read through one buffer of ours: the chunks a plain reader
 * gives are allocated one by one and cost twice as much.
 */
export class FetchResponse implements HttpResponse {
  readonly status: number;
  readonly headers: HttpResponse["headers"];
  /** Kept because the platform forgets a fetch's signal once its response is garbage. */
  readonly #response: Response;
  #byob: ReadableStreamBYOBReader | undefined;
  #plain: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #buffer: ArrayBuffer | undefined;

  /** The head may be that of another response. */
  constructor(
    response: Response,
    { status, headers }: Pick<HttpResponse, "status" | "headers"> = response,
  ) {
    this.#response = response;
    this.status = status;
    this.headers = headers;
  }

  async read(): Promise<Uint8Array | undefined> {
    const { body } = this.#response;
    if (body === null) return undefined;
    if (!this.#byob && !this.#plain) this.#open(body);
    if (!this.#byob) return (await this.#plain?.read())?.value;
    const { done, value } = await this.#byob.read(
      new Uint8Array(this.#buffer ?? new ArrayBuffer(BUFFER_BYTES)),
    );
    if (done || value === undefined) return undefined;
    this.#buffer = value.buffer;
    return value;
  }

  text(): Promise<string> {
    return this.#response.text();
  }

  async cancel(): Promise<void> {
    try {
      await (this.#byob ?? this.#plain ?? this.#response.body)?.cancel();
    } catch {
      // The stream failed before; there is nothing to cancel.
    }
  }

  #open(body: ReadableStream<Uint8Array>): void {
    try {
      this.#byob = body.getReader({ mode: "byob" });
    } catch {
      // A fetch that was handed in may answer with a stream that is not made of bytes.
      this.#plain = body.getReader();
    }
  }
}

/**
 * The body of a request that must not run twice. The platform's fetch sends a text again if a reused
 * connection ends before the response, although the server may have run the request. It cannot do
 * that with a Blob.
 */
export function sentOnce(text: string): Blob {
  return new Blob([text]);
}

/** A body that is not wanted is read to its end where it is no larger than this. */
const DISCARDED_BYTES = 16 * 1024;

export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
}

/** How long one body is read before other work gets a turn. */
const TURN_MS = 2;

/** Reads a body as text, in the pieces it comes in. */
export class BodyReader {
  readonly #answer: HttpResponse;
  /** Only for a body in several pieces: one that can be continued costs as much as all else. */
  #decoder: TextDecoder | undefined;
  bytes = 0;
  #turnEnd: number | undefined;

  constructor(answer: HttpResponse) {
    this.#answer = answer;
  }

  async read(): Promise<string | undefined> {
    // Reading buffered data never yields to the event loop, so a flood would starve everything else.
    if (this.bytes > 0 && this.#isTurnOver()) {
      await new Promise((resolve) => setImmediate(resolve));
      this.#turnEnd = performance.now() + TURN_MS;
    }
    const chunk = await this.#answer.read();
    if (chunk === undefined) return undefined;
    this.bytes += chunk.byteLength;
    if (!this.#decoder && this.#answer.isOver) return utf8.decode(chunk);
    return (this.#decoder ??= new TextDecoder()).decode(chunk, { stream: true });
  }

  #isTurnOver(): boolean {
    const now = performance.now();
    this.#turnEnd ??= now + TURN_MS;
    return now > this.#turnEnd;
  }

  /** What is left of a character that was cut off. */
  end(): string {
    return this.#decoder?.decode() ?? "";
  }

  cancel(): Promise<void> {
    return this.#answer.cancel();
  }
}

/** A body's text, if it has at most `limit` bytes; the rest of a larger one is not read. */
export async function readText(answer: HttpResponse, limit: number): Promise<string> {
  // One call into the platform, at half the cost of reading.
  if (isSurelyWithin(limit, answer.headers)) return await answer.text();
  const { text, isWhole } = await readStart(answer, limit);
  if (!isWhole) throw new BodyTooLarge(`The body has more than ${limit} bytes`);
  return text;
}

export async function readStart(
  answer: HttpResponse,
  limit: number,
): Promise<{ text: string; isWhole: boolean }> {
  const reader = new BodyReader(answer);
  const parts: string[] = [];
  for (;;) {
    const part = await reader.read();
    if (part === undefined) return { text: parts.join("") + reader.end(), isWhole: true };
    parts.push(part);
    if (reader.bytes > limit) {
      await reader.cancel();
      return { text: parts.join(""), isWhole: false };
    }
  }
}

/** Lets a body go; a small one is read to its end, because the connection can then be used again. */
export async function discard(answer: HttpResponse): Promise<void> {
  try {
    if (isSurelyWithin(DISCARDED_BYTES, answer.headers)) await answer.text();
    else await answer.cancel();
  } catch {
    // It is not wanted anyway.
  }
}

/** The platform unpacks and unchunks a body, and leaves its headers as they came. */
function isSurelyWithin(limit: number, headers: HttpResponse["headers"]): boolean {
  const length = headers.get("content-length");
  return length !== null && Number(length) <= limit && !headers.has("content-encoding") &&
    !headers.has("transfer-encoding");
}

const FAILURES: [RegExp, string][] = [
  [/connection refused/i, "the connection was refused"],
  // The last is what a tunnel says of it.
  [/dns error|failed to lookup|not known|: host unreachable/i, "its name was not found"],
  [/corrupt message|tls|handshake/i, "it does not speak TLS as expected (is it http, not https?)"],
  [/invalid HTTP|parse|h2 protocol/i, "it does not speak HTTP"],
  [/reset by peer|broken pipe/i, "the connection was reset"],
  [/closed before|reading a body|unexpected eof|end of file/i, "the connection broke off"],
  [/timed out/i, "the connection timed out"],
  [/unreachable/i, "the network cannot reach it"],
  [/are blocked/i, "the platform refuses to connect to this port"],
  [/requires net access/i, NOT_PERMITTED],
];

/**
 * Why nothing came, in plain words. The platform's own text names the whole URL, and with it what
 * may be a secret, so none of it is passed on.
 */
export function networkFailureText(error: unknown): string {
  const text = errorText(error);
  const certificate =
    /invalid peer certificate: (?:certificate )?(not valid for name|not valid yet|\w+)/i.exec(text);
  if (certificate) return `its TLS certificate was not accepted (${certificate[1]})`;
  return FAILURES.find(([pattern]) => pattern.test(text))?.[1] ?? "the request failed";
}

function errorText(error: unknown): string {
  if (!(error instanceof Error)) return "";
  // The URL could hold any word that is looked for.
  const own = error.message.replaceAll(/\bhttps?:\/\/\S*/g, "");
  return `${own} ${errorText(error.cause)}`;
}
