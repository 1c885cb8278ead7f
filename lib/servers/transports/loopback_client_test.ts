import assert from "node:assert/strict";
import { networkFailureText, readStart, readText } from "./http_response.ts";
import type { UpstreamRequest } from "./origin_client.ts";
import { LoopbackClient } from "./loopback_client.ts";
import { json, Loopback, result, STRICT, until } from "./testing/loopback.ts";

const encoder = new TextEncoder();

function post(body: string, signal = new AbortController().signal): UpstreamRequest {
  return { method: "POST", headers: [["x-name", "caf\u00e9"]], body, signal };
}

/** Answers each request on each connection with the same bytes, in the pieces given, or the next. */
class Scripted implements AsyncDisposable {
  readonly requests: string[] = [];
  connections = 0;
  /** Connections that the client has closed. */
  closed = 0;
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #open = new Set<Deno.Conn>();
  readonly #serving: Promise<void>[] = [];
  readonly #accepting: Promise<void>;

  constructor(pieces: readonly string[] | { next(): string[] }, { closes = false } = {}) {
    this.#accepting = (async () => {
      for await (const conn of this.#listener) {
        this.connections++;
        this.#open.add(conn);
        const serving = this.#serve(conn, pieces, closes).catch(() => {});
        this.#serving.push(serving.then(() => this.#close(conn)));
      }
    })();
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#listener.addr as Deno.NetAddr).port}/mcp?a=b`;
  }

  async #serve(
    conn: Deno.Conn,
    script: readonly string[] | { next(): string[] },
    closes: boolean,
  ): Promise<void> {
    const buffer = new Uint8Array(65_536);
    for (let size = await conn.read(buffer); size !== null; size = await conn.read(buffer)) {
      this.requests.push(new TextDecoder("latin1").decode(buffer.subarray(0, size)));
      const pieces = "next" in script ? script.next() : script;
      for (const piece of pieces) {
        await conn.write(encoder.encode(piece));
        if (pieces.length > 1) await new Promise((resolve) => setTimeout(resolve, 1));
      }
      if (closes) await conn.closeWrite();
    }
  }

  #close(conn: Deno.Conn): void {
    this.closed++;
    if (this.#open.delete(conn)) conn.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const conn of this.#open) this.#close(conn);
    await this.#accepting;
    await Promise.all(this.#serving);
  }
}

Deno.test("LoopbackClient.canReach() means this machine alone, and nothing that fetch must do", () => {
  const reached = ["http://127.0.0.1:8080/mcp", "http://localhost/mcp", "http://[::1]:1/"];
  for (const url of reached) assert.ok(LoopbackClient.canReach(new URL(url)), url);
  for (
    const url of [
      "https://127.0.0.1/",
      "http://example.com/",
      "http://localhost.example/",
      "http://10.0.0.1/",
      "http://user:word@127.0.0.1/",
    ]
  ) assert.ok(!LoopbackClient.canReach(new URL(url)), url);
});

Deno.test("LoopbackClient.send() sends a request as HTTP has it", STRICT, async () => {
  await using server = new Scripted(["HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"]);
  using client = new LoopbackClient(new URL(server.url));
  const answer = await client.send(server.url, post("gr\u00fc"));
  assert.equal(await readText(answer, 100), "ok");
  const { host } = new URL(server.url);
  assert.equal(
    server.requests[0],
    `POST /mcp?a=b HTTP/1.1\r\nhost: ${host}\r\naccept-encoding: identity\r\n` +
      "x-name: caf\u00e9\r\ncontent-length: 4\r\n\r\ngr\u00c3\u00bc",
  );
});

Deno.test("LoopbackClient.send() refuses a header that would be two", STRICT, async () => {
  await using server = new Scripted([]);
  using client = new LoopbackClient(new URL(server.url));
  for (const value of ["b\r\nx-c: d", "b\u010d\u010ax-c: d", "\u20ac", "a\0"]) {
    const request = { ...post("{}"), headers: [["x-a", value]] as [string, string][] };
    await assert.rejects(client.send(server.url, request), TypeError);
  }
  assert.equal(server.connections, 0);
});

Deno.test(
  "LoopbackClient.send() sends each request its own headers beside the common ones",
  STRICT,
  async () => {
    await using server = new Scripted(["HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"]);
    using client = new LoopbackClient(new URL(server.url));
    const common = post("{}");
    for (const name of ["one", "another", undefined]) {
      const ownHeaders = name === undefined
        ? undefined
        : [["mcp-name", name]] as [string, string][];
      const sent = { ...common, ownHeaders };
      assert.equal(await readText(await client.send(server.url, sent), 100), "ok");
    }
    const heads = server.requests.map((request) => /identity\r\n(.*)\r\n\r\n/s.exec(request)?.[1]);
    assert.deepEqual(heads, [
      "x-name: caf\u00e9\r\nmcp-name: one\r\ncontent-length: 2",
      "x-name: caf\u00e9\r\nmcp-name: another\r\ncontent-length: 2",
      "x-name: caf\u00e9\r\ncontent-length: 2",
    ]);
    for (const value of ["b\r\nx-c: d", "caf\u00e9", "\u20ac", "a\0"]) {
      const sent = { ...common, ownHeaders: [["mcp-name", value]] as [string, string][] };
      await assert.rejects(client.send(server.url, sent), TypeError);
    }
    assert.equal(server.requests.length, 3);
  },
);

Deno.test(
  "LoopbackClient.send() reads each head for itself, however alike they are",
  STRICT,
  async () => {
    const bodies = ["a", "a", "bc", "d", "bc"];
    const answers = bodies.map((body, nth) =>
      `HTTP/1.1 200 OK\r\nx-nth: ${nth % 3}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    );
    let nth = 0;
    await using server = new Scripted({ next: () => [answers[nth++]!] });
    using client = new LoopbackClient(new URL(server.url));
    for (const [index, body] of bodies.entries()) {
      const answer = await client.send(server.url, post("{}"));
      assert.equal(answer.headers.get("x-nth"), String(index % 3));
      assert.equal(await readText(answer, 100), body);
    }
    assert.equal(server.connections, 1);
  },
);

Deno.test("LoopbackClient.send() reads a body however it is framed and cut", STRICT, async () => {
  const body = '{"text":"gr\u00fc\u00dfe \u{1F326}"}';
  const bytes = encoder.encode(body).length;
  const hex = bytes.toString(16);
  const whole: Record<string, string> = {
    length: `HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n${body}`,
    continued:
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200\r\ncontent-length:${bytes}\r\n\r\n${body}`,
    chunked: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
      `${hex.toUpperCase()};name=value\r\n${body}\r\n0\r\nTrailer: 1\r\n\r\n`,
    "two chunks": "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" +
      `5\r\n${body.slice(0, 5)}\r\n${(bytes - 5).toString(16)}\r\n${body.slice(5)}\r\n0\r\n\r\n`,
  };
  for (const [name, text] of Object.entries(whole)) {
    for (const pieces of [[text], text.match(/[\s\S]{1,7}/gu)!]) {
      await using server = new Scripted(pieces);
      using client = new LoopbackClient(new URL(server.url));
      for (let round = 0; round < 3; round++) {
        const { text } = await readStart(await client.send(server.url, post("{}")), 1_000);
        assert.equal(text, body, name);
      }
      assert.equal(server.connections, 1, `${name}: one connection for all`);
    }
  }
});

Deno.test(
  "LoopbackClient.send() reads to the end of a connection that tells no length",
  STRICT,
  async () => {
    for (const version of ["1.0", "1.1"]) {
      const head = `HTTP/${version} 200 OK\r\n\r\n`;
      await using server = new Scripted([`${head}all of it`], { closes: true });
      using client = new LoopbackClient(new URL(server.url));
      for (let round = 1; round <= 2; round++) {
        const answer = await client.send(server.url, post("{}"));
        assert.equal((await readStart(answer, 1_000)).text, "all of it");
        assert.equal(server.connections, round);
      }
    }
  },
);

Deno.test(
  "LoopbackClient.send() uses no connection again that the server closes or closed",
  STRICT,
  async () => {
    const answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n";
    for (const said of ["connection: close\r\n", "keep-alive: timeout=0\r\n", ""]) {
      await using server = new Scripted([`${answer}${said}\r\nok`], { closes: said === "" });
      using client = new LoopbackClient(new URL(server.url));
      for (let round = 1; round <= 3; round++) {
        assert.equal(await readText(await client.send(server.url, post("{}")), 10), "ok");
        if (said === "") await until(() => server.closed === round, "the client noticed it");
        assert.equal(server.connections, round, said);
      }
    }
  },
);

Deno.test(
  "LoopbackClient.send() takes nothing for an answer that was not asked for",
  STRICT,
  async () => {
    const answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    await using server = new Scripted([`${answer}${answer}`]);
    using client = new LoopbackClient(new URL(server.url));
    for (let round = 1; round <= 3; round++) {
      assert.equal(await readText(await client.send(server.url, post("{}")), 10), "ok");
      assert.equal(server.connections, round);
    }
  },
);

Deno.test(
  "LoopbackClient.send() reads what it was sent, whatever comes after it",
  STRICT,
  async () => {
    const answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    await using server = new Scripted([answer, "x".repeat(1_000)]);
    using client = new LoopbackClient(new URL(server.url));
    for (let round = 1; round <= 20; round++) {
      assert.equal(await readText(await client.send(server.url, post("{}")), 10), "ok");
      await until(() => server.closed === round, "the client noticed what it had not asked for");
    }
    assert.equal(server.connections, 20);
  },
);

Deno.test("LoopbackClient.send() says what is wrong with what is no answer", STRICT, async () => {
  const wrong: [string, RegExp][] = [
    ["SSH-2.0-OpenSSH\r\n", /speak HTTP/],
    ["HTTP/1.1 abc\r\n\r\n", /speak HTTP/],
    ["HTTP/1.1 200 OK\r\nno header\r\n\r\n", /speak HTTP/],
    ["HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", /speak HTTP/],
    ["HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n", /speak HTTP/],
    ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", /speak HTTP/],
    ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n", /speak HTTP/],
    [`HTTP/1.1 200 OK\r\nx: ${"y".repeat(70_000)}`, /speak HTTP/],
    ["HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-length: 1\r\n\r\nx", /speak HTTP/],
    ["HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf", /broke off/],
    ["HTTP/1.1 20", /broke off/],
    ["", /broke off|reset/],
  ];
  for (const [text, words] of wrong) {
    await using server = new Scripted([text], { closes: true });
    using client = new LoopbackClient(new URL(server.url));
    const error = await client.send(server.url, post("{}"))
      .then((answer) => readStart(answer, 100)).then(() => undefined, (error) => error);
    assert.match(networkFailureText(error), words, text.slice(0, 80));
  }
});

Deno.test(
  "LoopbackClient.send() takes an answer that comes before the request was read",
  STRICT,
  async () => {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const url = `http://127.0.0.1:${listener.addr.port}/`;
    using client = new LoopbackClient(new URL(url));
    const sent = client.send(url, post("x".repeat(20_000_000)));
    using conn = await listener.accept();
    await conn.read(new Uint8Array(100));
    const head = "HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno";
    await conn.write(encoder.encode(head));
    const answer = await sent;
    assert.equal(answer.status, 413);
    assert.equal(await readText(answer, 10), "no");
  },
);

Deno.test("LoopbackClient.send() ends with its signal, and with the client", STRICT, async () => {
  await using server = new Scripted(["HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"]);
  using client = new LoopbackClient(new URL(server.url));
  const aborted = new AbortController();
  const answer = await client.send(server.url, post("{}", aborted.signal));
  assert.equal((await answer.read())?.length, 4);
  const rest = assert.rejects(answer.read());
  aborted.abort(new Error("enough"));
  await rest;
  await assert.rejects(client.send(server.url, post("{}", aborted.signal)), /enough/);
  const other = await client.send(server.url, post("{}"));
  await other.read();
  const ended = assert.rejects(other.read());
  client[Symbol.dispose]();
  await ended;
  assert.equal(server.connections, 2);
});

Deno.test(
  "LoopbackClient.send() unpacks what a server packs though it was asked not to",
  STRICT,
  async () => {
    const packed = new Blob(["plain again"]).stream().pipeThrough(new CompressionStream("gzip"));
    const bytes = await new Response(packed).bytes();
    await using server = new Loopback(() =>
      new Response(bytes, { headers: { "content-encoding": "gzip" } })
    );
    using client = new LoopbackClient(new URL(server.url));
    assert.equal(await readText(await client.send(server.url, post("{}")), 100), "plain again");
  },
);

Deno.test(
  "LoopbackClient.send() finds localhost under either of its addresses",
  STRICT,
  async () => {
    await using server = new Loopback(({ id }) => json(result(id)));
    const url = server.url.replace("127.0.0.1", "localhost");
    using client = new LoopbackClient(new URL(url));
    const answer = await client.send(url, post('{"id":1}'));
    assert.equal(await readText(answer, 1_000), result(1));
    assert.match(server.received[0]?.headers.get("host") ?? "", /^localhost:/);
  },
);

Deno.test(
  "LoopbackClient.send() has many under way at once, each with its own answer",
  STRICT,
  async () => {
    await using server = new Loopback(({ id }) => json(result(id)));
    using client = new LoopbackClient(new URL(server.url));
    const asked = Array.from({ length: 100 }, (_, id) => id);
    const texts = await Promise.all(asked.map(async (id) => {
      const answer = await client.send(server.url, post(`{"id":${id}}`));
      return await readText(answer, 1_000);
    }));
    assert.deepEqual(texts, asked.map((id) => result(id)));
    await until(() => server.received.length === 100, "all came");
  },
);
