import assert from "node:assert/strict";
import { JsonResponse } from "./exchange.ts";
import { readBody } from "./request_body.ts";
import { IncomingBody } from "./incoming_request.ts";
import { type HttpHandler, type HttpListenOptions, listenHttp } from "./listener.ts";

function start(
  handler: HttpHandler,
  limits: NonNullable<HttpListenOptions["limits"]> = {},
) {
  const listener = listenHttp({ hostname: "127.0.0.1", port: 0, limits }, handler);
  return {
    url: `http://127.0.0.1:${listener.addr.port}`,
    port: listener.addr.port,
    [Symbol.asyncDispose]: () => listener.shutdown(),
  };
}

/** As the gateway does for its pages. */
function whole(request: Parameters<HttpHandler>[0]): Request {
  return "toRequest" in request ? request.toRequest() : request;
}

/** Sends what is written, and reads until the other side ends it. */
async function exchange(port: number, text: string): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(new TextEncoder().encode(text));
  return await new Response(connection.readable).text();
}

Deno.test("listen() hands a request over as it came, with who sent it", async () => {
  await using listener = start(async (request, { remoteAddr }) =>
    Response.json({
      method: request.method,
      url: request.url,
      host: request.headers.get("host"),
      many: request.headers.get("x-many"),
      body: await request.text(),
      from: remoteAddr.hostname,
    })
  );
  const response = await fetch(`${listener.url}/a//b?c=%20d`, {
    method: "POST",
    headers: [["x-many", "1"], ["x-many", "2"]],
    body: "grüße",
  });
  assert.deepEqual(await response.json(), {
    method: "POST",
    url: `${listener.url}/a//b?c=%20d`,
    host: `127.0.0.1:${listener.port}`,
    many: "1, 2",
    body: "grüße",
    from: "127.0.0.1",
  });
});

Deno.test("listen() takes the host only from the header, and refuses a target that is not a path", async () => {
  await using listener = start((request) => new Response(request.url));
  const asked = (target: string, host: string) =>
    exchange(
      listener.port,
      `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    );
  assert.match(
    await asked("http://evil.example/x?y", "127.0.0.1"),
    /\r\n\r\n.*http:\/\/127\.0\.0\.1\/x\?y/s,
  );
  assert.match(
    await asked("//evil.example/x", "127.0.0.1"),
    /http:\/\/127\.0\.0\.1\/\/evil\.example\/x/,
  );
  assert.match(await asked("*", "127.0.0.1"), /^HTTP\/1\.1 400 /);
});

Deno.test("listen() sends status, headers and each cookie", async () => {
  await using listener = start(() =>
    new Response(null, {
      status: 303,
      headers: [["location", "/x"], ["set-cookie", "a=1"], ["set-cookie", "b=2"]],
    })
  );
  const response = await fetch(listener.url, { redirect: "manual" });
  await response.body?.cancel();
  assert.equal(response.status, 303);
  assert.equal(response.headers.get("location"), "/x");
  assert.deepEqual(response.headers.getSetCookie(), ["a=1", "b=2"]);
});

Deno.test("listen() sends JSON of any length and script, several answers at once", async () => {
  const texts = ["{}", "a".repeat(300_000), "é".repeat(100_000), "x😀".repeat(50_000), "€"];
  await using listener = start((request) =>
    new JsonResponse(JSON.stringify(texts[Number(new URL(request.url).pathname.slice(1))]))
  );
  const asked = [0, 1, 2, 3, 4, 3, 0, 2, 1, 4];
  const answers = asked.map(async (index) => (await fetch(`${listener.url}/${index}`)).json());
  assert.deepEqual(await Promise.all(answers), asked.map((index) => texts[index]));
});

Deno.test("listen() streams an answer part by part", async () => {
  const parts = new TransformStream<Uint8Array, Uint8Array>();
  const writer = parts.writable.getWriter();
  await using listener = start(() => new Response(parts.readable));
  const response = await fetch(listener.url);
  const reader = response.body!.getReader();
  for (const text of ["one", "two"]) {
    await writer.write(new TextEncoder().encode(text));
    assert.equal(new TextDecoder().decode((await reader.read()).value), text);
  }
  await writer.close();
  assert.equal((await reader.read()).done, true);
});

Deno.test("listen() aborts the signal and the stream when a client disconnects, and only then", async () => {
  const cancelled = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  let aborts = 0;
  await using listener = start((incoming) => {
    const { signal, url } = whole(incoming);
    signal.addEventListener("abort", () => aborts++);
    if (new URL(url).pathname === "/short") return new Response("done");
    signal.addEventListener("abort", () => aborted.resolve());
    return new Response(
      new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode("begun")),
        cancel: () => cancelled.resolve(),
      }),
    );
  });
  assert.equal(await (await fetch(`${listener.url}/short`)).text(), "done");
  assert.equal(aborts, 0);
  const leave = new AbortController();
  const response = await fetch(listener.url, { signal: leave.signal });
  await response.body!.getReader().read();
  leave.abort();
  await Promise.all([cancelled.promise, aborted.promise]);
  assert.equal(aborts, 1);
});

Deno.test("listen() does not read the response for a client that has disconnected", async () => {
  const cancelled = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  let pulled = 0;
  await using listener = start(async (request) => {
    const gone = Promise.withResolvers<void>();
    whole(request).signal.addEventListener("abort", () => gone.resolve());
    arrived.resolve();
    await gone.promise;
    return new Response(
      new ReadableStream({
        pull(controller) {
          if (++pulled < 100) return controller.enqueue(new TextEncoder().encode("more"));
          cancelled.reject(new Error("It was read into nothing"));
        },
        cancel: () => cancelled.resolve(),
      }, { highWaterMark: 0 }),
    );
  });
  const leave = new AbortController();
  const asking = fetch(listener.url, { signal: leave.signal });
  await arrived.promise;
  leave.abort();
  await assert.rejects(asking, { name: "AbortError" });
  await cancelled.promise;
  assert.equal(pulled, 0);
});

Deno.test("listen() answers a client whose body is not read, then closes the connection", async () => {
  await using listener = start(async (request) => {
    await assert.rejects(readBody(request, 10), { code: "PAYLOAD_TOO_LARGE" });
    return new Response("too large", { status: 413 });
  });
  const head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n";
  const answer = await exchange(listener.port, head + "x".repeat(100));
  assert.match(answer, /^HTTP\/1\.1 413 /);
  assert.match(answer, /too large$/m);
});

Deno.test("listen() lets a client that is still sending a long body see the response", async () => {
  await using listener = start(() => new Response("too large", { status: 413 }));
  const body = new Uint8Array(8 * 1024 * 1024);
  for (let round = 0; round < 20; round++) {
    using connection = await Deno.connect({ hostname: "127.0.0.1", port: listener.port });
    const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.byteLength}\r\n\r\n`;
    await connection.write(new TextEncoder().encode(head));
    for (let sent = 0; sent < body.byteLength;) {
      sent += await connection.write(body.subarray(sent));
    }
    assert.match(await new Response(connection.readable).text(), /^HTTP\/1\.1 413 /);
  }
});

Deno.test("listen() has its refusal seen by a client that sends endless headers", async () => {
  await using listener = start(() => new Response("here"));
  const head = new TextEncoder().encode(`GET / HTTP/1.1\r\nA: ${"b".repeat(8 * 1024 * 1024)}`);
  for (let round = 0; round < 20; round++) {
    using connection = await Deno.connect({ hostname: "127.0.0.1", port: listener.port });
    for (let sent = 0; sent < head.byteLength;) {
      sent += await connection.write(head.subarray(sent));
    }
    assert.match(await new Response(connection.readable).text(), /^HTTP\/1\.1 431 /);
  }
});

Deno.test("listen() lets go who does not read its answer, and reads no more of it meanwhile", async () => {
  let left = Promise.withResolvers<void>();
  let pulled = 0;
  await using listener = start((request) => {
    whole(request).signal.addEventListener("abort", () => left.resolve());
    if (request.url.endsWith("/json")) return new JsonResponse("x".repeat(64 * 1024 * 1024));
    const chunk = new Uint8Array(64 * 1024);
    return new Response(
      new ReadableStream({
        pull(controller) {
          pulled += chunk.byteLength;
          controller.enqueue(chunk.slice());
        },
      }, { highWaterMark: 0 }),
    );
  }, { headersMs: 200, writeMs: 400 });
  for (const path of ["/stream", "/json"]) {
    using connection = await Deno.connect({ hostname: "127.0.0.1", port: listener.port });
    await connection.write(new TextEncoder().encode(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`));
    await left.promise;
    left = Promise.withResolvers();
    let received = 0;
    try {
      for await (const part of connection.readable) received += part.byteLength;
    } catch { /* it was reset */ }
    assert.ok(received < 64 * 1024 * 1024);
  }
  assert.ok(pulled < 64 * 1024 * 1024, `${pulled} bytes were read`);
});

Deno.test("listen() does not abort what was answered on a connection that ends", async () => {
  let aborts = 0;
  await using listener = start((request) => {
    whole(request).signal.addEventListener("abort", () => aborts++);
    return new Response("done");
  });
  const text = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  assert.match(await exchange(listener.port, text), / 200 .*done/s);
  assert.match(await exchange(listener.port, text.replace("1.1", "1.0")), / 200 .*done/s);
  assert.equal(aborts, 0);
});

Deno.test("listen() declares no body that it does not send, and writes headers byte by byte", async () => {
  await using listener = start((request) => {
    const status = Number(new URL(request.url).pathname.slice(1));
    return new Response(null, { status, headers: { "content-length": "5", "x-name": "gr\xfc" } });
  });
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: listener.port });
  for (const [method, status] of [["GET", 200], ["GET", 204], ["GET", 304], ["HEAD", 200]]) {
    const close = method === "HEAD" ? "Connection: close\r\n" : "";
    await connection.write(
      new TextEncoder().encode(`${method} /${status} HTTP/1.1\r\nHost: x\r\n${close}\r\n`),
    );
  }
  const bytes = new Uint8Array(await new Response(connection.readable).arrayBuffer());
  const text = new TextDecoder("latin1").decode(bytes);
  assert.deepEqual(
    text.split("\r\n\r\n").slice(0, -1).map((head) => [
      /^HTTP\/1\.1 (\d+)/.exec(head)?.[1],
      /content-length: (\d+)/.exec(head)?.[1],
      /x-name: (.*)/.exec(head)?.[1],
    ]),
    [
      ["200", "0", "gr\xfc"],
      ["204", undefined, "gr\xfc"],
      ["304", "5", "gr\xfc"],
      ["200", "5", "gr\xfc"],
    ],
  );
});

Deno.test("listen() goes on after a connection that was reset before it was accepted", async () => {
  const reset = Promise.withResolvers<void>();
  const messages: string[] = [];
  const { listen: listenTcp } = Deno;
  Deno.listen = ((options: Deno.TcpListenOptions) => {
    const listener = listenTcp(options);
    const accept = listener.accept.bind(listener);
    let isFirst = true;
    listener.accept = async () => {
      const conn = await accept();
      if (!isFirst) return conn;
      isFirst = false;
      const close = conn.close.bind(conn);
      conn.setNoDelay = () => {
        throw new Deno.errors.InvalidData("Invalid argument");
      };
      conn.close = () => {
        close();
        reset.resolve();
      };
      return conn;
    };
    return listener;
  }) as typeof Deno.listen;
  let listener;
  try {
    listener = listenHttp(
      { hostname: "127.0.0.1", port: 0, onCrowded: (message) => messages.push(message) },
      () => new Response("here"),
    );
  } finally {
    Deno.listen = listenTcp;
  }
  const { port } = listener.addr;
  using _first = await Deno.connect({ hostname: "127.0.0.1", port });
  await reset.promise;
  const answer = await exchange(port, "GET / HTTP/1.0\r\nHost: x\r\n\r\n");
  assert.match(answer, /here$/);
  assert.deepEqual(messages, []);
  await listener.shutdown();
});

Deno.test("listen() ends a connection whose handler failed, and goes on", async () => {
  let isFirst = true;
  await using listener = start(() => {
    if (!isFirst) return new Response("fine");
    isFirst = false;
    throw new Error("hunter2");
  });
  assert.equal(await exchange(listener.port, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"), "");
  assert.equal(await (await fetch(listener.url)).text(), "fine");
});

/** Tells what it was asked, in JSON; paths that end in /mcp are read by the listener itself. */
function echo() {
  return start(async (request) => {
    const { method, url } = request;
    const headers = Object.fromEntries(
      [...request.headers.keys()].sort().map((name) => [name, request.headers.get(name)]),
    );
    const { pathname, search } = new URL(url);
    const text = await request.text();
    return new JsonResponse(JSON.stringify({ method, path: pathname + search, headers, text }));
  });
}

function post(body: string, { path = "/x/mcp", headers = "" } = {}): string {
  const length = new TextEncoder().encode(body).byteLength;
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n${headers}\r\n${body}`;
}

/** The bodies of answers with a length, one after the other. */
function bodiesIn(text: string): string[] {
  return Array.from(text.matchAll(/\r\n\r\n(\{.*?\})(?=HTTP\/1\.1 |$)/gs), ([, body]) => body!);
}

const LAST = post("last", { headers: "Connection: close\r\n" });

Deno.test("listen() answers calls on one connection, whole, in pieces or several at once", async () => {
  await using listener = echo();
  const call = post('{"grüße":"\u{1F600}"}');
  const bytes = new TextEncoder().encode(call);
  for (const sizes of [[bytes.byteLength], [1], [40, 3, 100], [bytes.byteLength - 3, 3]]) {
    using connection = await Deno.connect({ hostname: "127.0.0.1", port: listener.port });
    connection.setNoDelay();
    const answers = new Response(connection.readable).text();
    const writer = connection.writable.getWriter();
    for (let round = 0; round < 2; round++) {
      for (let at = 0, turn = 0; at < bytes.byteLength; turn++) {
        const size = sizes[turn % sizes.length]!;
        await writer.write(bytes.slice(at, at += size));
      }
    }
    await writer.write(new TextEncoder().encode(LAST));
    const texts = bodiesIn(await answers).map((body) => JSON.parse(body).text);
    assert.deepEqual(texts, ['{"grüße":"\u{1F600}"}', '{"grüße":"\u{1F600}"}', "last"]);
  }
});

Deno.test("listen() answers a client that has closed its sending side, then closes the connection", async () => {
  await using listener = echo();
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: listener.port });
  await connection.write(new TextEncoder().encode(post("{}")));
  await connection.closeWrite();
  assert.match(
    await new Response(connection.readable).text(),
    /^HTTP\/1\.1 200 .*"text":"\{\}"/s,
  );
});

Deno.test("listen() refuses ambiguous requests", async () => {
  await using listener = echo();
  const refused: Record<string, number> = {
    "Host: y\r\n": 400,
    "Content-Length: 4\r\n": 400,
    "Content-Length: 3\r\n": 400,
    "Transfer-Encoding: chunked\r\n": 400,
    "Transfer-Encoding : chunked\r\n": 400,
    "A: b\r\n c\r\n": 400,
    "A: b\nB: c\r\n": 400,
    "A: b\rB: c\r\n": 400,
    "A: \0\r\n": 400,
    "A b: c\r\n": 400,
    ": c\r\n": 400,
    "A\r\n": 400,
    [`A: ${"x".repeat(40_000)}\r\n`]: 431,
    [`A: ${" ".repeat(30_000)}\0\r\n`]: 400,
    "Content-Length: 4, 4\r\n": 400,
    "Transfer-Encoding: identity\r\n": 400,
    "Transfer-Encoding:\r\n": 400,
    "\tA: b\r\n": 400,
    "A: b\x7f\r\n": 400,
    "A: b\r\r\n": 400,
  };
  for (const [headers, status] of Object.entries(refused)) {
    const said = await exchange(listener.port, post("{}{}", { headers }) + LAST);
    assert.match(said, new RegExp(`^HTTP/1\\.1 ${status} `), headers.slice(0, 40));
    assert.doesNotMatch(said, /HTTP.*HTTP/s);
  }
  for (
    const text of [
      "POST /mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
      "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\n1",
      "POST /mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n",
      "POST /mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
      "POST /mcp HTTP/2.0\r\nHost: x\r\n\r\n",
      "POST  /mcp HTTP/1.1\r\nHost: x\r\n\r\n",
      "POST /m cp HTTP/1.1\r\nHost: x\r\n\r\n",
      "TRACE / HTTP/1.1\r\nHost: x\r\n\r\n",
      ...[
        "chunked, identity",
        "identity",
        "\x0bchunked",
        "xchunked",
        "chunked\r\nTransfer-Encoding: chunked",
      ].map((encoding) =>
        `POST /mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: ${encoding}\r\n\r\n0\r\n\r\n${LAST}`
      ),
      ...["", "-1", "0x1", "1.0", "1e1", "1 1", "1;", "9".repeat(16)].map((length) =>
        `POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n1${LAST}`
      ),
      ...[
        "\r\n",
        "-1\r\na\r\n0\r\n\r\n",
        "g\r\n\r\n",
        " 1\r\na\r\n0\r\n\r\n",
        "000000001\r\na\r\n0\r\n\r\n",
        "100000001\r\na\r\n0\r\n\r\n",
        "1\na\n0\n\n",
        "1;a\nb\r\na\r\n0\r\n\r\n",
        "1;a\rb\r\na\r\n0\r\n\r\n",
        "1;a\0b\r\na\r\n0\r\n\r\n",
        `1;${"a".repeat(300)}\r\na\r\n0\r\n\r\n`,
        "1\r\na0\r\n\r\n",
        "0\r\nA: b\n\nGET / HTTP/1.1\r\n\r\n",
        `0\r\n${"A: b\r\n".repeat(200)}\r\n`,
      ].map((body) =>
        `POST /mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body}${LAST}`
      ),
      ...[
        "get / HTTP/1.1",
        "head / HTTP/1.1",
        "connect x:80 HTTP/1.1",
        "GET / http/1.1",
        "GET / HTTP/1.2",
        "GET / HTTP/01.1",
        "GET / HTTP/1.1 ",
        "GET /",
        "GET /\tx HTTP/1.1",
        "GET /\0 HTTP/1.1",
        "GET x HTTP/1.1",
        "GET x:80 HTTP/1.1",
        "GET javascript:/x HTTP/1.1",
        "OPTIONS * HTTP/1.1",
        "PRI * HTTP/2.0",
        " GET / HTTP/1.1",
        "GET / HTTP/1.1\r\n A: b",
        "GET / HTTP/1.1\nA: b",
      ].map((line) => `${line}\r\nHost: x\r\n\r\n${LAST}`),
      "\ufeffGET / HTTP/1.1\r\nHost: x\r\n\r\n",
      "\x16\x03\x01 hello\r\n\r\n",
    ]
  ) {
    const said = await exchange(listener.port, text);
    assert.match(said, /^(HTTP\/1\.1 (400|431|501) |$)/, text);
    assert.doesNotMatch(said, / 200 /, text);
  }
});

Deno.test("listen() joins repeated headers, and takes bytes beyond ASCII in them", async () => {
  await using listener = echo();
  const headers =
    "Accept: a\r\nAccept: b\r\nCookie: a=1\r\nCookie: b=2\r\nX-Name: gr\xfc\xdfe\r\nEmpty:\r\n";
  const bytes = Uint8Array.from(
    post("{}", { headers: `${headers}Connection: close\r\n` }),
    (character) => character.charCodeAt(0),
  );
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: listener.port });
  await connection.write(bytes);
  const [body] = bodiesIn(await new Response(connection.readable).text());
  const { headers: seen, text } = JSON.parse(body!);
  assert.deepEqual(
    [seen.accept, seen.cookie, seen["x-name"], seen.empty, text],
    ["a, b", "a=1; b=2", "gr\xfc\xdfe", "", "{}"],
  );
});

Deno.test("listen() finds the end of a head whose text was seen before in fewer bytes", async () => {
  await using listener = echo();
  // The second text, read as UTF-8, is what the first is in Latin-1.
  const heads = ["\xc3\xbc", "\xc3\x83\xc2\xbc"].map((name) =>
    `POST /x/mcp HTTP/1.1\r\nX-Name: ${name.repeat(19)}\r\n` +
    `A: GET /smuggle/mcp HTTP/1.1\r\nHost: x\r\n\r\n`
  );
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: listener.port });
  const answers = new Response(connection.readable).text();
  for (const text of [...heads, LAST]) {
    await connection.write(Uint8Array.from(text, (character) => character.charCodeAt(0)));
  }
  const paths = bodiesIn(await answers).map((body) => JSON.parse(body).path);
  assert.deepEqual(paths, ["/x/mcp", "/x/mcp", "/x/mcp"]);
});

Deno.test("listen() hands over the bytes of a body that is not text", async () => {
  await using listener = start(async (request) =>
    Response.json([...new Uint8Array(await whole(request).arrayBuffer())])
  );
  for (const bytes of [[0, 127, 128, 255], [0xef, 0xbb, 0xbf, 65], [0xc3, 0xbc, 0xff]]) {
    const answer = await fetch(listener.url, { method: "POST", body: new Uint8Array(bytes) });
    assert.deepEqual(await answer.json(), bytes);
  }
});

Deno.test("IncomingBody.read() keeps no more memory than the bytes that came", async () => {
  const length = 3;
  const body = new IncomingBody({
    source: {
      read: (buffer) => Promise.resolve(buffer.set([120]) ?? 1),
      write: ({ byteLength }) => Promise.resolve(byteLength),
    },
    head: {
      method: "POST",
      url: "http://x/",
      headers: new Map(),
      length,
      keepsAlive: true,
      isOldVersion: false,
    },
    rest: new Uint8Array(),
    onComplete: () => {},
  });
  for (let left = length; left > 0; left--) assert.equal((await body.read())?.buffer.byteLength, 1);
  assert.equal(await body.read(), null);
});

Deno.test("listen() takes bodies in chunks, long ones, and those that wait for a 100", async () => {
  await using listener = echo();
  const chunked = "POST /mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n" +
    "Connection: close\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  assert.match(await exchange(listener.port, chunked), /"text":"abcde"/);
  const long = "x".repeat(300_000);
  const answer = await fetch(`${listener.url}/mcp`, { method: "POST", body: long });
  assert.equal((await answer.json()).text.length, long.length);
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: listener.port });
  const expecting = post("ab", { headers: "Expect: 100-continue\r\nConnection: close\r\n" });
  await connection.write(new TextEncoder().encode(expecting.slice(0, -2)));
  const buffer = new Uint8Array(100);
  const count = await connection.read(buffer);
  assert.equal(
    new TextDecoder().decode(buffer.subarray(0, count ?? 0)),
    "HTTP/1.1 100 Continue\r\n\r\n",
  );
  await connection.write(new TextEncoder().encode("ab"));
  assert.match(await new Response(connection.readable).text(), / 200 .*"text":"ab"/s);
});

Deno.test("listen() answers HEAD without a body", async () => {
  await using listener = start(() => new Response("body", { headers: { "content-length": "4" } }));
  const said = await exchange(
    listener.port,
    "HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  );
  assert.match(said, /^HTTP\/1\.1 200 .*content-length: 4\r\n.*\r\n\r\n$/is);
});

Deno.test("listen() streams a call's response, continues with the next, and notices a disconnect", async () => {
  const cancelled = Promise.withResolvers<void>();
  await using listener = start(async (request) => {
    const endless = await request.text() === "endless";
    return new Response(
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode("data: 1\n\n"));
          if (!endless) controller.close();
        },
        cancel: () => cancelled.resolve(),
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
  });
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: listener.port });
  const reader = connection.readable.pipeThrough(new TextDecoderStream()).getReader();
  const writer = connection.writable.getWriter();
  const readUntil = async (mark: string) => {
    for (let text = "", tries = 0; tries < 100; tries++) {
      text += (await reader.read()).value ?? "";
      if (text.includes(mark)) return text;
    }
    throw new Error(`There was no ${JSON.stringify(mark)}`);
  };
  await writer.write(new TextEncoder().encode(post("short")));
  assert.match(
    await readUntil("0\r\n\r\n"),
    /^HTTP\/1\.1 200 OK\r\n.*event-stream.*9\r\ndata: 1\n\n\r\n0\r\n\r\n$/s,
  );
  await writer.write(new TextEncoder().encode(post("endless")));
  await readUntil("data: 1");
  await reader.cancel();
  await writer.close().catch(() => {});
  await cancelled.promise;
});

Deno.test("listen() closes the connections idle longest to make room, and refuses only if all are busy", async () => {
  const messages: string[] = [];
  const busy = Promise.withResolvers<void>();
  const listener = listenHttp({
    hostname: "127.0.0.1",
    port: 0,
    limits: { connections: 3 },
    onCrowded: (message) => messages.push(message),
  }, async (request) => {
    if (request.url.endsWith("/slow/mcp")) await busy.promise;
    return new JsonResponse("{}");
  });
  const { port } = listener.addr;
  const open: Deno.TcpConn[] = [];
  const connect = async (text: string) => {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port });
    open.push(connection);
    await connection.write(new TextEncoder().encode(text));
    return connection;
  };
  const read = async (connection: Deno.TcpConn) => {
    const buffer = new Uint8Array(1_000);
    const count = await connection.read(buffer).catch(() => null);
    return count === null ? undefined : new TextDecoder().decode(buffer.subarray(0, count));
  };
  const [first, second] = [await connect(post("1")), await connect(post("2"))];
  assert.match(await read(first) ?? "", / 200 /);
  assert.match(await read(second) ?? "", / 200 /);
  const slow = [await connect(post("3", { path: "/slow/mcp" }))];
  slow.push(await connect(post("4", { path: "/slow/mcp" })));
  assert.equal(await read(first), undefined);
  slow.push(await connect(post("5", { path: "/slow/mcp" })));
  assert.equal(await read(second), undefined);
  assert.match(await read(await connect(post("6"))) ?? "", / 503 /);
  busy.resolve();
  for (const connection of slow) assert.match(await read(connection) ?? "", / 200 /);
  assert.equal(messages.length, 1);
  assert.match(messages[0]!, /^Closed 1 idle connections \(2 open of at most 3\)/);
  for (const connection of open) connection.close();
  await listener.shutdown();
});
