import { Buffer } from "node:buffer";

/** The parts of a Request that an MCP endpoint reads. A Request is one. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Pick<Headers, "get" | "keys">;
  readonly body: ReadableStream<Uint8Array> | null;
  /** The text of a body that came whole with the head; a Request has none. */
  readonly wholeText?: string | undefined;
  text(): Promise<string>;
}

/** The host that a request names: in HTTP/2, `:authority`, which Deno puts into the URL, replaces `Host`. */
export function hostOf(request: Pick<HttpRequest, "url" | "headers">): string | null {
  return request.headers.get("host") ?? URL.parse(request.url)?.host ?? null;
}

const JSON_INIT: ResponseInit = { headers: { "content-type": "application/json" } };

/**
 * JSON whose text is at hand. A listener writes it in one piece, and never has to read it back
 * from a stream, which would cost more than the rest of the answer.
 */
export class JsonResponse extends Response {
  readonly content: string;
  #isPlain = true;

  constructor(content: string) {
    super(content, JSON_INIT);
    this.content = content;
  }

  override get headers(): Headers {
    this.#isPlain = false;
    return super.headers;
  }

  /** Whether nobody can have changed its headers. */
  get isPlain(): boolean {
    return this.#isPlain;
  }
}

/** The part of a connection that answers are written to. */
export interface Output {
  write(bytes: Uint8Array): Promise<number>;
  /** Called when all that was to be written has been. */
  onTaken?(): void;
}

export interface WriteOptions {
  head: Pick<RequestHead, "method" | "isOldVersion">;
  /** The idle timeout after this response; undefined if the connection closes. */
  idleMs: number | undefined;
  /** Length of the body, if it is to be sent. */
  reader?: ReadableStreamDefaultReader<Uint8Array>;
}

const encoder = new TextEncoder();
/** Headers that are the connection's business. */
const OWN = new Set(["content-length", "transfer-encoding", "connection", "keep-alive", "date"]);
const LINE_END = encoder.encode("\r\n");
const LAST_CHUNK = encoder.encode("0\r\n\r\n");

/** Room for the head before the body of a plain JSON answer. */
const HEAD_BYTES = 256;
const LARGEST_SPARE = 4 * 1024 * 1024;
let spare: Uint8Array<ArrayBuffer> | undefined;

/**
 * Sends a plain JSON answer in one write. The body is encoded once, behind the room for its head: to
 * count its bytes first and join the two would copy a long list of tools twice more.
 */
export async function writeJson(
  output: Output,
  { content }: JsonResponse,
  idleMs: number | undefined,
): Promise<void> {
  let buffer = takeBuffer(HEAD_BYTES + content.length);
  let { read, written } = encoder.encodeInto(content, buffer.subarray(HEAD_BYTES));
  if (read < content.length) {
    // Up to three bytes a character, if they are not all ASCII.
    buffer = takeBuffer(HEAD_BYTES + content.length * 3);
    ({ read, written } = encoder.encodeInto(content, buffer.subarray(HEAD_BYTES)));
  }
  const head = encoder.encode(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ndate: ${date()}\r\n` +
      `${persistence(idleMs)}\r\ncontent-length: ${written}\r\n\r\n`,
  );
  const start = HEAD_BYTES - head.byteLength;
  buffer.set(head, start);
  await writeAll(output, buffer.subarray(start, HEAD_BYTES + written));
  if (buffer.byteLength <= LARGEST_SPARE) spare = buffer;
}

/** The one that was used last if it is large enough: fresh memory costs more than the encoding. */
function takeBuffer(size: number): Uint8Array<ArrayBuffer> {
  const kept = spare;
  spare = undefined;
  return kept && kept.byteLength >= size ? kept : new Uint8Array(size);
}

/** The whole text of an answer that ends a connection. */
export function textMessage(status: number, text: string, headers: string[] = []): string {
  return [
    statusLine(status),
    "content-type: text/plain; charset=utf-8",
    `content-length: ${Buffer.byteLength(text)}`,
    `date: ${date()}`,
    persistence(undefined),
    ...headers,
    "",
    text,
  ].join("\r\n");
}

/** Sends an answer. Throws if the client is gone, or if the body is not as long as it claims. */
export async function writeResponse(
  output: Output,
  { status, headers }: Response,
  { head, idleMs, reader }: WriteOptions,
): Promise<void> {
  const isBodiless = status === 204 || status === 304 || head.method === "HEAD";
  // Without a body the next answer on the connection would be taken for it.
  const declared = reader || (isBodiless && status !== 204) ? headers.get("content-length") : null;
  const isChunked = reader !== undefined && declared === null && !head.isOldVersion;
  // Nothing is said of the length where there can be no body, and HEAD says what GET would.
  const length = isChunked
    ? ["transfer-encoding: chunked"]
    : declared !== null
    ? [`content-length: ${declared}`]
    : isBodiless || reader
    ? []
    : ["content-length: 0"];
  const lines = [
    statusLine(status),
    ...[...headers].filter(([name]) => !OWN.has(name)).map(([name, value]) => `${name}: ${value}`),
    ...length,
    `date: ${date()}`,
    persistence(idleMs),
  ];
  // Before the body, because its first part may take a while.
  // A character of a header is a byte.
  await writeAll(output, Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"));
  if (!reader) return;
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    // An empty chunk would end the body.
    if (value.byteLength === 0) continue;
    size += value.byteLength;
    if (declared !== null && size > Number(declared)) throw new Error("The body is too long");
    await writeAll(output, isChunked ? chunkOf(value) : value);
  }
  if (isChunked) await writeAll(output, LAST_CHUNK);
  else if (declared !== null && size < Number(declared)) throw new Error("The body is too short");
}

export async function writeAll(output: Output, bytes: Uint8Array): Promise<void> {
  let written = await output.write(bytes);
  while (written < bytes.byteLength) written += await output.write(bytes.subarray(written));
  output.onTaken?.();
}

function chunkOf(value: Uint8Array): Uint8Array {
  const length = encoder.encode(`${value.byteLength.toString(16)}\r\n`);
  return Buffer.concat([length, value, LINE_END]);
}

/** Only for people who read the traffic; clients use the number. */
const REASONS: Record<number, string> = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  303: "See Other",
  304: "Not Modified",
  307: "Temporary Redirect",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  408: "Request Timeout",
  409: "Conflict",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
};

function statusLine(status: number): string {
  return `HTTP/1.1 ${status} ${REASONS[status] ?? "Status"}`;
}

function persistence(idleMs: number | undefined): string {
  return idleMs === undefined
    ? "connection: close"
    : `connection: keep-alive\r\nkeep-alive: timeout=${Math.floor(idleMs / 1000)}`;
}

let second = 0;
let secondText = "";

function date(): string {
  const now = Math.floor(Date.now() / 1000);
  if (now !== second) {
    second = now;
    secondText = new Date(now * 1000).toUTCString();
  }
  return secondText;
}

/** Everything before the body of a request. */
export interface RequestHead {
  method: string;
  /** Whole, with the host that the Host header names. */
  url: string;
  /** By lowercase name; repeated ones are joined. */
  headers: Map<string, string>;
  /** Of the body in bytes, or "chunked". */
  length: number | "chunked";
  keepsAlive: boolean;
  isOldVersion: boolean;
}

/** Why a request is invalid; its status goes to the client, and the connection closes. */
export class BadRequest extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const MOST_BYTES = 32 * 1024;
/** Methods are case-sensitive, but a Request takes `head` for HEAD: only one of us would send a body. */
const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~\dA-Z]+) ([\x21-\x7e\x80-\xff]+) HTTP\/1\.([01])$/;
/** Spaces belong to one part each, so that no line takes quadratic time. */
const HEADER_LINE =
  /^([!#$%&'*+\-.^_`|~\w]+):[ \t]*(?:([\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)[ \t]*)?$/;
/** Methods that a Request cannot have. */
const UNKNOWN = /^(CONNECT|TRACE|TRACK)$/;
const BEYOND_ASCII = /[\u0080-\uffff]/;
/** Keeps a byte order mark: what begins with one is not a request. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** What was read, and how many bytes of it are the head. */
export interface ReadHead {
  head: RequestHead;
  size: number;
  /** The text after the head, if each byte is one character. */
  rest: string | undefined;
}

/**
 * Reads the heads of a connection's requests. It is strict: anything ambiguous is refused, because
 * a proxy in front might have read it differently (request smuggling).
 */
export class HeadReader {
  /**
   * Clients repeat their heads, so the last is parsed once. Only ASCII: beyond it the same text can
   * stand for more bytes, and the rest of the head would be read as the next request.
   */
  #lastText = "";
  #last: RequestHead | undefined;

  /** Undefined if the head is not complete yet; throws BadRequest. */
  read(data: Uint8Array): ReadHead | undefined {
    const text = decoder.decode(data);
    let size = text.indexOf("\r\n\r\n");
    if (size > MOST_BYTES || (size === -1 && data.byteLength > MOST_BYTES)) {
      throw new BadRequest(431, "The request's headers are too long");
    }
    if (size === -1) return undefined;
    const headText = text.slice(0, size);
    let head = headText === this.#lastText ? this.#last : undefined;
    if (!head && BEYOND_ASCII.test(headText)) {
      const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
      size = bytes.indexOf("\r\n\r\n");
      head = parseHead(bytes.toString("latin1", 0, size));
    } else if (!head) {
      head = this.#last = parseHead(headText);
      this.#lastText = headText;
    }
    const isPlain = text.length === data.byteLength;
    return { head, size: size + 4, rest: isPlain ? text.slice(size + 4) : undefined };
  }
}

function parseHead(text: string): RequestHead {
  const [first = "", ...lines] = text.split("\r\n");
  const [, method, target, minor] = REQUEST_LINE.exec(first) ?? [];
  if (method === undefined || target === undefined) {
    throw new BadRequest(400, "The request line is invalid");
  }
  if (UNKNOWN.test(method)) throw new BadRequest(501, `${method} is not supported`);
  const headers = new Map<string, string>();
  for (const line of lines) addHeader(headers, line);
  const url = targetOf(headers.get("host") ?? "", target);
  if (url === undefined) throw new BadRequest(400, "The request target is not a path");
  const isOldVersion = minor === "0";
  const connection = headers.get("connection")?.toLowerCase() ?? "";
  const keepsAlive = isOldVersion ? false : !/(^|[\s,])close($|[\s,])/.test(connection);
  return { method, url, headers, length: lengthOf(headers), keepsAlive, isOldVersion };
}

function addHeader(headers: Map<string, string>, line: string): void {
  const [, written, value = ""] = HEADER_LINE.exec(line) ?? [];
  if (written === undefined) throw new BadRequest(400, "A header line is invalid");
  const name = written.toLowerCase();
  const before = headers.get(name);
  if (before !== undefined && name === "host") {
    throw new BadRequest(400, "The request has two Host headers");
  }
  const separator = name === "cookie" ? "; " : ", ";
  headers.set(name, before === undefined ? value : `${before}${separator}${value}`);
}

function lengthOf(headers: Map<string, string>): number | "chunked" {
  const length = headers.get("content-length");
  const encoding = headers.get("transfer-encoding");
  if (encoding !== undefined) {
    if (length !== undefined) {
      throw new BadRequest(400, "The request has both Content-Length and Transfer-Encoding");
    }
    if (encoding.toLowerCase() !== "chunked") {
      throw new BadRequest(501, "The transfer encoding is not supported");
    }
    return "chunked";
  }
  if (length === undefined) return 0;
  if (!/^\d{1,15}$/.test(length)) throw new BadRequest(400, "Content-Length is not a number");
  return Number(length);
}

/** Undefined if the target is not a path of this server. */
function targetOf(host: string, target: string): string | undefined {
  const origin = URL.parse(`http://${host}`)?.origin ?? "http://invalid";
  if (target.startsWith("/")) return `${origin}${target}`;
  // A whole URL may name any host: the header is what is checked.
  const { pathname, search } = /^https?:\/\//i.test(target) && URL.parse(target) || {};
  return pathname === undefined ? undefined : `${origin}${pathname}${search}`;
}
