import assert from "node:assert/strict";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { GatewayError } from "../../core/errors.ts";
import type { TransportClosed } from "./transport.ts";
import { HttpTransport } from "./http.ts";
import {
  event,
  json,
  KeptEvents,
  keptExchange,
  Loopback,
  note,
  rejects,
  request,
  result,
  streamed,
  STRICT,
  until,
} from "./testing/loopback.ts";

const SECRET = "tok-5f3a9c";

function open(url: string, events = new KeptEvents()) {
  const headers = { authorization: `Bearer ${SECRET}` };
  return new HttpTransport({ url, headers, serverName: "weather" }, events);
}

/** How a request to a server that answers like this fails. */
async function failure(
  answer: (body: string) => Response,
  kind: TransportClosed["kind"],
  words: RegExp,
): Promise<void> {
  await using server = new Loopback(({ body }) => answer(body));
  await using transport = open(server.url);
  const { message } = await rejects(transport.request(1, request(1), keptExchange()), kind, words);
  assert.ok(!message.includes(SECRET), message);
}

Deno.test(
  "HttpTransport.request() says what a server that is no MCP server answered",
  STRICT,
  async () => {
    const html = { "content-type": "text/html" };
    const page = `<html><body>${"Sign in to the proxy. ".repeat(50)}</body></html>`;
    await failure(
      () => new Response(page, { headers: html }),
      "refused",
      /^HTTP 200 from [\d.:]+ with text\/html, which is not an MCP response: <html><body>Sign.{170,200}\.\.\.$/,
    );
    await failure(
      () => new Response("plain"),
      "refused",
      /with text\/plain;charset=UTF-8, which is not an MCP response: plain$/,
    );
    await failure(
      () => new Response(Uint8Array.of(1, 2, 3), { headers: { "content-type": "image/png" } }),
      "refused",
      /with image\/png, which is not an MCP response$/,
    );
    await failure(
      () => new Response(null, { status: 202 }),
      "refused",
      /^HTTP 202 from [\d.:]+ with no content type/,
    );
    await failure(() => json(""), "refused", /did not answer the request, but sent nothing$/);
    await failure(() => json("{"), "refused", /did not answer the request, but sent {$/);
    await failure(
      () => json(result(2)),
      "refused",
      /did not answer the request, but sent {"jsonrpc/,
    );
  },
);

Deno.test(
  "HttpTransport.request() tells login, refusal and failure apart by the status",
  STRICT,
  async () => {
    const challenge = 'Bearer realm="mcp", error="invalid_token", ' +
      'resource_metadata="https://example.com/.well-known/oauth-protected-resource"';
    await failure(
      () => new Response("no", { status: 401, headers: { "www-authenticate": challenge } }),
      "login",
      /^HTTP 401 from [\d.:]+ \(realm mcp, error invalid_token, resource_metadata https:\/\/example/,
    );
    await failure(() => new Response(null, { status: 401 }), "login", /^HTTP 401 from [\d.:]+$/);
    await failure(
      () => new Response("not you", { status: 403 }),
      "refused",
      /^HTTP 403 from [\d.:]+: not you$/,
    );
    await failure(
      () => new Response("Cannot POST /mcp", { status: 404 }),
      "refused",
      /^HTTP 404 from [\d.:]+ \(check the url of "weather"\): Cannot POST \/mcp$/,
    );
    await failure(
      () => new Response("oops", { status: 502 }),
      "refused",
      /^HTTP 502 from .*: oops$/,
    );
    await failure(
      () =>
        json('{"jsonrpc":"2.0","error":{"code":-32000,"message":"No init"},"id":null}', {
          status: 400,
        }),
      "refused",
      /^HTTP 400 from [\d.:]+: No init$/,
    );
  },
);

Deno.test(
  "HttpTransport.request() takes a JSON-RPC error to its id as the answer, whatever the status",
  STRICT,
  async () => {
    const answer = '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Bad"}}';
    for (const status of [400, 422, 500]) {
      await using server = new Loopback(() => json(answer, { status }));
      await using transport = open(server.url);
      assert.equal(await transport.request(1, request(1), keptExchange()), answer);
    }
  },
);

Deno.test(
  "HttpTransport never repeats the secrets that it sent, even where the server does",
  STRICT,
  async () => {
    await using server = new Loopback(({ headers, path }) =>
      new Response(`${headers.get("authorization")} at ${path} ${"x".repeat(180)}${SECRET}`, {
        status: 500,
      })
    );
    await using transport = open(`${server.url}?key=query-secret`);
    const { message } = await rejects(transport.request(1, request(1), keptExchange()), "refused");
    assert.match(message, /\[hidden\] at \/mcp\?key=\[hidden\] x/);
    assert.ok(!message.includes(SECRET.slice(0, 6)) && !message.includes("query-secret"), message);
  },
);

Deno.test(
  "HttpTransport.request() ends the transport when the server has forgotten its session",
  STRICT,
  async () => {
    const events = new KeptEvents();
    let isKnown = true;
    await using server = new Loopback(({ id, method }) => {
      if (method === "DELETE" || isKnown) {
        return json(result(id), { headers: { "mcp-session-id": "s" } });
      }
      if (id === 2) {
        const error =
          '{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found"}}';
        return json(error, { status: 404 });
      }
      return json('{"jsonrpc":"2.0","error":{"code":-32001,"message":"?"},"id":null}', {
        status: 404,
      });
    });
    const transport = open(server.url, events);
    await transport.request(0, request(0, "initialize"), keptExchange());
    isKnown = false;
    // A method that is not there is no lost session.
    assert.match(await transport.request(2, request(2), keptExchange()), /Method not found/);
    await rejects(transport.request(3, request(3), keptExchange()), "session", /no longer knows/);
    const requests = server.received.length;
    await rejects(transport.request(4, request(4), keptExchange()), "session");
    await rejects(transport.send(note("x")), "session");
    assert.deepEqual(events.closed.map(({ kind }) => kind), ["session"]);
    await transport[Symbol.asyncDispose]();
    assert.equal(server.received.length, requests);
  },
);

Deno.test(
  "HttpTransport follows redirects within the origin only, and sends its headers nowhere else",
  STRICT,
  async () => {
    await using foreign = new Loopback(({ id }) => json(result(id)));
    await using server = new Loopback(({ id, path }) => {
      const to = (status: number, location: string) =>
        new Response(null, { status, headers: { location } });
      if (path === "/away") return to(307, `${foreign.origin}/mcp?token=x`);
      if (path === "/loop") return to(302, "/loop");
      if (path === "/see") return to(303, "/mcp");
      if (path === "/nowhere") return new Response(null, { status: 307 });
      if (path === "/temporary") return to(307, "/mcp/");
      return path === "/moved" ? to(308, "/mcp/") : json(result(id));
    });
    const fails = async (path: string, words: RegExp) => {
      await using transport = open(server.origin + path);
      await rejects(transport.request(1, request(1), keptExchange()), "refused", words);
    };
    await fails(
      "/away",
      /redirects to another origin, http:\/\/127[\d.:]+, to which .* change the url of "weather"$/,
    );
    await fails("/loop", /redirects more than 3 times$/);
    await fails("/see", /^HTTP 303 /);
    await fails("/nowhere", /^HTTP 307 /);
    assert.deepEqual(foreign.received, []);
    const paths = async (path: string) => {
      server.received.length = 0;
      await using transport = open(server.origin + path);
      for (const id of [1, 2]) {
        assert.equal(await transport.request(id, request(id), keptExchange()), result(id));
      }
      assert.ok(
        server.received.every(({ method, headers, body }) =>
          method === "POST" && body !== "" && headers.get("authorization") === `Bearer ${SECRET}`
        ),
      );
      return server.received.map(({ path }) => path);
    };
    assert.deepEqual(await paths("/moved"), ["/moved", "/mcp/", "/mcp/"]);
    assert.deepEqual(await paths("/temporary"), ["/temporary", "/mcp/", "/temporary", "/mcp/"]);
  },
);

Deno.test(
  "HttpTransport.request() says in plain words why nothing can be reached",
  STRICT,
  async () => {
    const closed = Deno.listen({ port: 0, hostname: "127.0.0.1" });
    const { port } = closed.addr;
    closed.close();
    await using plain = new Loopback(() => new Response("x"));
    const cases: [string, RegExp][] = [
      [
        `http://127.0.0.1:${port}/${SECRET}`,
        /^Cannot reach 127.0.0.1:\d+: the connection was refused$/,
      ],
      [
        `http://quartermaster.invalid/?k=${SECRET}`,
        /^Cannot reach quartermaster.invalid: its name/,
      ],
      [plain.origin.replace("http:", "https:"), /: it does not speak TLS as expected/],
      [
        "http://127.0.0.1:6666/mcp",
        /: port 6666 is blocked by the Fetch standard/,
      ],
    ];
    for (const [url, words] of cases) {
      await using transport = open(url);
      const { message } = await rejects(
        transport.request(1, request(1), keptExchange()),
        "lost",
        words,
      );
      assert.ok(!message.includes(SECRET), message);
      await rejects(transport.send(note("x")), "lost", words);
    }
  },
);

Deno.test(
  "HttpTransport.request() is lost with a connection that breaks, and with a server that is none",
  STRICT,
  async () => {
    const answers = [
      "",
      "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
      "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: beat\n\n",
      "SSH-2.0-OpenSSH_9.2\r\n",
    ];
    const words = [/broke off/, /broke off/, /ended its stream before the answer/, /speak HTTP$/];
    for (const [index, answer] of answers.entries()) {
      using listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
      const serving = (async () => {
        using connection = await listener.accept();
        await connection.read(new Uint8Array(4096));
        await connection.write(new TextEncoder().encode(answer));
      })();
      await using transport = open(`http://127.0.0.1:${listener.addr.port}/`);
      await rejects(transport.request(1, request(1), keptExchange()), "lost", words[index]);
      await serving;
    }
  },
);

Deno.test(
  "HttpTransport.request() names a header that cannot be sent, and not its value",
  STRICT,
  async () => {
    for (
      const [name, value] of [["x-a", `${SECRET}\nb`], ["x b", SECRET], ["x-c", "\u20ac"]] as const
    ) {
      await using transport = new HttpTransport(
        { url: "http://127.0.0.1:1234/", headers: { [name]: value }, serverName: "weather" },
        new KeptEvents(),
      );
      const error = await rejects(transport.request(1, request(1), keptExchange()), "refused");
      assert.ok(error.message.includes(`"${name}"`) && !error.message.includes(SECRET));
    }
  },
);

Deno.test(
  "HttpTransport.request() says LIMIT_EXCEEDED to an answer over 16 MiB, and the transport lives on",
  STRICT,
  async () => {
    const piece = "x".repeat(1024 * 1024);
    let sent = 0;
    function* endless(start: string) {
      yield start;
      for (;; sent++) yield piece;
    }
    const jsonType = { "content-type": "application/json" };
    const gzip = { ...jsonType, "content-encoding": "gzip" };
    const large = result(1, piece.repeat(20));
    const answers: Record<string, () => Response> = {
      "/length": () => json(large),
      "/chunked": () => streamed(endless("{"), jsonType),
      "/event": () => streamed(endless("data: ")),
      "/lines": () =>
        streamed(function* () {
          for (;; sent++) yield `data: ${piece}\n`;
        }()),
      "/bomb": () => new Response(new Uint8Array(gzipSync(large)), { headers: gzip }),
    };
    await using server = new Loopback(({ path, id }) =>
      id === 2 ? json(result(2)) : answers[path]?.() ?? new Response()
    );
    for (const path of Object.keys(answers)) {
      sent = 0;
      const events = new KeptEvents();
      await using transport = open(server.origin + path, events);
      await assert.rejects(
        transport.request(1, request(1), keptExchange()),
        (error) =>
          error instanceof GatewayError && error.code === "LIMIT_EXCEEDED" &&
          /"weather" sent a response that exceeds the limit of 16 MiB/.test(error.message),
      );
      assert.ok(sent < 40, `${path}: ${sent} MiB were sent`);
      assert.equal(await transport.request(2, request(2), keptExchange()), result(2));
      assert.deepEqual(events.closed, []);
    }
  },
);

Deno.test(
  "HttpTransport.request() closes an endless stream without messages",
  STRICT,
  async () => {
    const floods: Record<string, string> = {
      "/comments": `: ${"x".repeat(100)}\n`,
      "/blank": "\n",
      "/ids": "id: 1\n\n",
    };
    await using server = new Loopback(({ path, id }) =>
      id === 2 ? json(result(2)) : streamed(function* () {
        for (;;) yield floods[path]!.repeat(1000);
      }())
    );
    for (const path of Object.keys(floods)) {
      await using transport = open(server.origin + path);
      await assert.rejects(
        transport.request(1, request(1), keptExchange()),
        (error) =>
          error instanceof GatewayError && error.code === "LIMIT_EXCEEDED" &&
          /"weather" sent endless comments/.test(error.message),
      );
      assert.equal(await transport.request(2, request(2), keptExchange()), result(2));
    }
  },
);

Deno.test("HttpTransport.request() reads an answer just under the limit", STRICT, async () => {
  const answer = result(1, "x".repeat(16 * 1024 * 1024 - 100));
  await using server = new Loopback(({ path }) => {
    const halves = [answer.slice(0, 9_000_000), answer.slice(9_000_000)];
    if (path === "/length") return json(answer);
    return path === "/sse"
      ? streamed(["data: ", ...halves, "\n\n"])
      : streamed(halves, { "content-type": "application/json" });
  });
  for (const path of ["/length", "/chunked", "/sse"]) {
    await using transport = open(server.origin + path);
    assert.ok(await transport.request(1, request(1), keptExchange()) === answer, path);
  }
});

Deno.test(
  "HttpTransport can be ended in the middle of any answer after a garbage collection",
  STRICT,
  async () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage: () => void = runInNewContext("gc");
    let unfinished = 0;
    async function* silent(start: string) {
      yield start;
      await new Promise(() => {});
    }
    const starts: Record<string, string> = {
      "/json": "{",
      "/length": "{",
      "/sse": event(note("a")),
      "/answered": event(result(1)),
    };
    await using server = new Loopback(({ path }) => {
      unfinished++;
      const headers = {
        "content-type": starts[path] === "{" ? "application/json" : "text/event-stream",
        ...(path === "/length" ? { "content-length": "100" } : {}),
      };
      return streamed(silent(starts[path] ?? ""), headers, () => unfinished--);
    });
    for (const path of Object.keys(starts)) {
      const transport = open(server.origin + path);
      const answer = transport.request(1, request(1), keptExchange());
      const outcome = path === "/answered" ? answer : rejects(answer, "closed");
      await until(() => unfinished === 1, "the answer has begun");
      await new Promise((resolve) => setTimeout(resolve, 20));
      collectGarbage();
      void transport[Symbol.asyncDispose]();
      await until(() => unfinished === 0, "the server sees it go");
      await outcome;
      await transport[Symbol.asyncDispose]();
    }
  },
);

Deno.test("HttpTransport logs what is no message and goes on", STRICT, async () => {
  const events = new KeptEvents();
  await using server = new Loopback(({ id }) =>
    streamed([event("garbage"), event("{}"), event(result(99)), event(result(id))])
  );
  await using transport = open(server.url, events);
  assert.equal(await transport.request(1, request(1), keptExchange()), result(1));
  assert.deepEqual(events.log, [
    "Ignored an unexpected message: garbage",
    "Ignored an unexpected message: {}",
    `Ignored an unexpected message: ${result(99)}`,
  ]);
});
