import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import fc from "../../../tests/fast_check.ts";
import { requestText } from "../../core/rpc.ts";
import { HttpTransport } from "./http.ts";
import { LoopbackClient } from "./loopback_client.ts";
import type { UpstreamRequest } from "./origin_client.ts";
import { KeptEvents, STRICT } from "./testing/loopback.ts";

const encoder = new TextEncoder();

/** Sends the bytes it is told to, in the pieces it is told to, to whoever sends a request. */
class RawServer implements AsyncDisposable {
  pieces: Uint8Array[] = [];
  closes = true;
  connections = 0;
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #open = new Set<Deno.Conn>();
  readonly #accepting: Promise<void>;

  constructor() {
    this.#accepting = (async () => {
      for await (const conn of this.#listener) {
        this.connections++;
        this.#open.add(conn);
        void this.#serve(conn).catch(() => {}).finally(() => this.#close(conn));
      }
    })();
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#listener.addr as Deno.NetAddr).port}/mcp`;
  }

  async #serve(conn: Deno.TcpConn): Promise<void> {
    conn.setNoDelay(true);
    const buffer = new Uint8Array(65_536);
    while (await conn.read(buffer) !== null) {
      for (const piece of this.pieces) {
        for (let at = 0; at < piece.length;) at += await conn.write(piece.subarray(at));
        await new Promise((resolve) => setImmediate(resolve));
      }
      if (this.closes) return;
    }
  }

  #close(conn: Deno.Conn): void {
    if (this.#open.delete(conn)) conn.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const conn of this.#open) this.#close(conn);
    await this.#accepting;
  }
}

function post(body = "{}"): UpstreamRequest {
  return { method: "POST", headers: [], body, signal: new AbortController().signal };
}

interface Outcome {
  status: number;
  header: (name: string) => string | null;
  body: Uint8Array;
}

async function ask(client: LoopbackClient, url: string, body?: string): Promise<Outcome> {
  const response = await client.send(url, post(body));
  const pieces: Uint8Array[] = [];
  for (let piece = await response.read(); piece; piece = await response.read()) {
    pieces.push(piece.slice());
  }
  const header = (name: string) => response.headers.get(name);
  return { status: response.status, header, body: bytesOf(pieces) };
}

function bytesOf(pieces: (string | Uint8Array)[]): Uint8Array {
  return new Uint8Array(
    pieces.flatMap((piece) => [...(typeof piece === "string" ? encoder.encode(piece) : piece)]),
  );
}

function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) =>
    a - b
  );
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
    .filter((piece) => piece.length > 0);
}

const Body = fc.uint8Array({ maxLength: 3_000 });
const Cuts = fc.array(fc.nat(6_000), { maxLength: 8 });
const HeaderName = fc.stringMatching(/^x-[A-Za-z0-9!#$%&'*+.^_`|~-]{1,12}$/);
const HeaderValue = fc.stringMatching(/^[!-~]([ -~\t]{0,20}[!-~])?$/);

/** A well-formed response with the body that it carries. */
const ValidResponse = fc.record({
  status: fc.constantFrom(200, 201, 202, 400, 404, 500),
  reason: fc.constantFrom(" OK", " ", "", " Not Found At All"),
  interim: fc.constantFrom(
    "",
    "HTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/1.1 103 Hints\r\na: b\r\n\r\n",
  ),
  headers: fc.uniqueArray(fc.tuple(HeaderName, HeaderValue), {
    maxLength: 6,
    selector: ([name]) => name.toLowerCase(),
  }),
  space: fc.constantFrom("", " ", "\t ", "   "),
  body: Body,
  framing: fc.oneof(
    fc.constant({ kind: "length" as const }),
    fc.constant({ kind: "close" as const }),
    fc.record({
      kind: fc.constant("chunked" as const),
      sizes: fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 8 }),
      extension: fc.constantFrom("", ";a=b", " ; c"),
      trailer: fc.constantFrom("", "x-trailer: 1\r\n", "a: b\r\nc: d\r\n"),
      upper: fc.boolean(),
    }),
  ),
}).map(({ status, reason, interim, headers, space, body, framing }) => {
  const framed = framing.kind === "length"
    ? [`Content-Length:${space}${body.length}\r\n`]
    : framing.kind === "chunked"
    ? [`TRANSFER-ENCODING:${space}chunked\r\n`]
    : [];
  const lines = [
    ...headers.map(([name, value]) => `${name}:${space}${value}${space}\r\n`),
    ...framed,
  ];
  const head = `${interim}HTTP/1.1 ${status}${reason}\r\n${lines.join("")}\r\n`;
  const wire: (string | Uint8Array)[] = [head];
  if (framing.kind === "chunked") {
    const { sizes, extension, trailer, upper } = framing;
    for (let at = 0, index = 0; at < body.length; index++) {
      const chunk = body.subarray(at, at + sizes[index % sizes.length]!);
      const size = chunk.length.toString(16);
      wire.push(`${upper ? size.toUpperCase() : size}${extension}\r\n`, chunk, "\r\n");
      at += chunk.length;
    }
    wire.push(`0${extension}\r\n${trailer}\r\n`);
  } else wire.push(body);
  return { status, headers, body, bytes: bytesOf(wire), endsByClose: framing.kind === "close" };
});

Deno.test(
  "LoopbackClient reads every well-formed response, however it is cut",
  STRICT,
  async () => {
    await using server = new RawServer();
    await fc.assert(
      fc.asyncProperty(ValidResponse, Cuts, async (response, places) => {
        server.pieces = cut(response.bytes, places);
        server.closes = response.endsByClose;
        const before = server.connections;
        using client = new LoopbackClient(new URL(server.url));
        for (let round = 0; round < 2; round++) {
          const got = await ask(client, server.url);
          assert.equal(got.status, response.status);
          assert.deepEqual(got.body, response.body);
          for (const [name, value] of response.headers) {
            assert.equal(got.header(name.toLowerCase()), value.trim());
          }
        }
        assert.equal(server.connections - before, response.endsByClose ? 2 : 1);
      }),
      { numRuns: 150 },
    );
  },
);

Deno.test("LoopbackClient never gives a truncated response for a whole one", STRICT, async () => {
  await using server = new RawServer();
  server.closes = true;
  await fc.assert(
    fc.asyncProperty(ValidResponse, fc.nat(), Cuts, async (response, place, places) => {
      const bytes = response.bytes.subarray(0, place % response.bytes.length);
      server.pieces = cut(bytes, places);
      using client = new LoopbackClient(new URL(server.url));
      const got = await ask(client, server.url).catch((error: Error) => error);
      if (response.endsByClose && !(got instanceof Error)) {
        assert.deepEqual(got.body, response.body.subarray(0, got.body.length));
      } else {
        assert.ok(got instanceof Error, "a truncated response was accepted");
      }
    }),
    { numRuns: 150 },
  );
});

Deno.test("LoopbackClient settles on any bytes, and takes only HTTP", STRICT, async () => {
  await using server = new RawServer();
  server.closes = true;
  const Noise = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    // Close to HTTP: a valid response with some bytes replaced.
    fc.tuple(ValidResponse, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 })).map(
      ([{ bytes }, changes]) => {
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
        return bytes;
      },
    ),
  );
  await fc.assert(
    fc.asyncProperty(Noise, Cuts, async (bytes, places) => {
      server.pieces = cut(bytes, places);
      using client = new LoopbackClient(new URL(server.url));
      const got = await ask(client, server.url).catch((error: Error) => error);
      if (got instanceof Error) return;
      assert.ok(new TextDecoder().decode(bytes.subarray(0, 7)) === "HTTP/1.");
      assert.ok(got.body.length <= bytes.length);
    }),
    { numRuns: 200 },
  );
});

/** Heads that two readers could understand in two ways, and bodies that are framed wrongly. */
const AMBIGUOUS: Record<string, string> = {
  "both framings":
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  "two lengths": "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
  "a list of lengths": "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello!",
  "a signed length": "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello",
  "a hexadecimal length": "HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\nhello",
  "an empty length": "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nhello",
  "a huge length": "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nhello",
  "a space before the colon": "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nhello",
  "a folded line": "HTTP/1.1 200 OK\r\nX-A: b\r\n Content-Length: 5\r\n\r\nhello",
  "a bare LF in the head": "HTTP/1.1 200 OK\r\nX-A: b\nContent-Length: 5\r\n\r\nhello",
  "a bare CR in the head": "HTTP/1.1 200 OK\r\nX-A: b\rContent-Length: 5\r\n\r\nhello",
  "a NUL in the head": "HTTP/1.1 200 OK\r\nX-A: b\0\r\nContent-Length: 5\r\n\r\nhello",
  "a header without a name": "HTTP/1.1 200 OK\r\n: 5\r\nContent-Length: 5\r\n\r\nhello",
  "another transfer encoding":
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
  "chunked twice":
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  "a chunk size with 0x":
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n",
  "a signed chunk size":
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nhello\r\n0\r\n\r\n",
  "a chunk that is too long":
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhello\r\n0\r\n\r\n",
  "a chunk line with a bare LF":
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n",
  "HTTP/2": "HTTP/2 200 OK\r\nContent-Length: 5\r\n\r\nhello",
  "HTTP/1.10": "HTTP/1.10 200 OK\r\nContent-Length: 5\r\n\r\nhello",
  "a switch of protocols": "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\nhello",
};

Deno.test("LoopbackClient refuses what could be read in two ways", STRICT, async () => {
  await using server = new RawServer();
  const shapes = fc.constantFrom(...Object.keys(AMBIGUOUS));
  const check = async (shape: string, places: readonly number[]) => {
    server.pieces = cut(encoder.encode(AMBIGUOUS[shape]), places);
    using client = new LoopbackClient(new URL(server.url));
    await assert.rejects(ask(client, server.url), /invalid HTTP/, shape);
  };
  for (const shape of Object.keys(AMBIGUOUS)) await check(shape, []);
  await fc.assert(fc.asyncProperty(shapes, Cuts, check), { numRuns: 100 });
});

Deno.test("LoopbackClient hands no bytes behind one response to the next", STRICT, async () => {
  await using server = new RawServer();
  server.closes = false;
  const smuggled = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled";
  const honest = fc.constantFrom(
    "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhonest",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nhonest\r\n0\r\n\r\n",
    "HTTP/1.1 204 No Content\r\nContent-Length: 8\r\n\r\n",
  );
  await fc.assert(
    fc.asyncProperty(honest, async (first) => {
      server.pieces = [encoder.encode(first + smuggled)];
      using client = new LoopbackClient(new URL(server.url));
      const expected = first.includes("204") ? "" : "honest";
      for (let round = 0; round < 3; round++) {
        const { body } = await ask(client, server.url);
        assert.equal(new TextDecoder().decode(body), expected);
      }
    }),
    { numRuns: 15 },
  );
});

Deno.test("LoopbackClient limits heads, lines and trailers", STRICT, async () => {
  await using server = new RawServer();
  server.closes = true;
  const long = "a".repeat(70_000);
  const header = `x-a: ${"b".repeat(1_000)}\r\n`;
  const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const oversized = {
    "one header": `HTTP/1.1 200 OK\r\nx-a: ${long}`,
    "many headers": `HTTP/1.1 200 OK\r\n${header.repeat(80)}`,
    "interim responses": "HTTP/1.1 100 Continue\r\n\r\n".repeat(4_000),
    "a chunk extension": `${chunked}5;${long}`,
    "a trailer": `${chunked}0\r\nx-a: ${long}`,
    "many trailers": `${chunked}0\r\n${header.repeat(80)}`,
  };
  for (const [name, text] of Object.entries(oversized)) {
    for (const places of [[], [10, 5_000, 40_000]]) {
      server.pieces = cut(encoder.encode(text), places);
      using client = new LoopbackClient(new URL(server.url));
      await assert.rejects(ask(client, server.url), /invalid HTTP|endless interim responses/, name);
    }
  }
});

/** A real server, with how many connections were opened to it. */
class NodeServer implements AsyncDisposable {
  connections = 0;
  readonly #server: Server;

  constructor(listener: Parameters<typeof createServer>[1]) {
    this.#server = createServer({ keepAliveTimeout: 60_000 }, listener);
    this.#server.on("connection", () => this.connections++);
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const address = this.#server.address();
    assert.ok(address !== null && typeof address === "object");
    return `http://127.0.0.1:${address.port}/mcp`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

Deno.test("LoopbackClient gets from node:http what that was given", STRICT, async () => {
  const Answer = fc.record({
    status: fc.constantFrom(200, 202, 404, 500),
    headers: fc.dictionary(HeaderName, HeaderValue, { maxKeys: 4 }),
    pieces: fc.array(fc.uint8Array({ minLength: 1, maxLength: 20_000 }), { maxLength: 5 }),
    hasLength: fc.boolean(),
    request: fc.string({ maxLength: 2_000 }),
  });
  let answer: { status: number; headers: Record<string, string>; pieces: Uint8Array[] };
  let hasLength = false;
  let received = "";
  await using server = new NodeServer((incoming, outgoing) => {
    const parts: Uint8Array[] = [];
    incoming.on("data", (part: Uint8Array) => parts.push(part));
    incoming.on("end", () => {
      received = new TextDecoder().decode(bytesOf(parts));
      const length = answer.pieces.reduce((sum, piece) => sum + piece.length, 0);
      const framing = hasLength ? { "content-length": String(length) } : {};
      outgoing.writeHead(answer.status, { ...answer.headers, ...framing });
      for (const piece of answer.pieces) outgoing.write(piece);
      outgoing.end();
    });
  });
  const url = await server.listen();
  using client = new LoopbackClient(new URL(url));
  await fc.assert(
    fc.asyncProperty(Answer, async ({ request, ...given }) => {
      answer = given;
      hasLength = given.hasLength;
      const body = request.isWellFormed() ? request : "{}";
      const got = await ask(client, url, body);
      assert.equal(received, body);
      assert.equal(got.status, given.status);
      assert.deepEqual(got.body, bytesOf(given.pieces));
      for (const [name, value] of Object.entries(given.headers)) {
        assert.ok(got.header(name.toLowerCase())?.includes(value.trim()), name);
      }
    }),
    { numRuns: 100 },
  );
  assert.equal(server.connections, 1);
});

Deno.test("HttpTransport needs about as many connections as calls under way", STRICT, async () => {
  const CONCURRENT = 16;
  const CALLS = 2_000;
  for (const kind of ["json", "event stream"]) {
    await using server = new NodeServer((incoming, outgoing) => {
      let body = "";
      incoming.on("data", (part) => body += part);
      incoming.on("end", () => {
        if (incoming.method !== "POST") return outgoing.writeHead(405).end();
        const text = JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(body).id, result: {} });
        const isJson = kind === "json";
        const type = isJson ? "application/json" : "text/event-stream";
        outgoing.writeHead(200, { "content-type": type });
        outgoing.write(isJson ? text : `event: message\ndata: ${text}\n\n`);
        // In a packet of its own, as from another process.
        setImmediate(() => outgoing.end());
      });
    });
    const url = await server.listen();
    const options = { url, headers: {}, serverName: "real" };
    await using transport = new HttpTransport(options, new KeptEvents());
    let id = 0;
    await Promise.all(Array.from({ length: CONCURRENT }, async () => {
      while (id < CALLS) {
        const own = ++id;
        const exchange = { streams: true, onMessage: () => {} };
        const text = await transport.request(own, requestText(own, "tools/call", "{}"), exchange);
        assert.equal(JSON.parse(text).id, own);
      }
    }));
    // Streams that have given their answer may end while the next calls begin.
    assert.ok(server.connections <= 2 * CONCURRENT, `${server.connections} for ${kind}`);
  }
});
