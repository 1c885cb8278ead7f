import assert from "node:assert/strict";
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

function open(url: string, headers: Record<string, string> = {}, events = new KeptEvents()) {
  return new HttpTransport({ url, headers, serverName: "weather" }, events);
}

Deno.test(
  "HttpTransport.request() sends the protocol's headers, and the entry's where they do not clash",
  STRICT,
  async () => {
    await using server = new Loopback(({ id }) =>
      json(result(id), { headers: { "mcp-session-id": "s-1" } })
    );
    await using transport = open(server.url, {
      Authorization: "Bearer secret",
      "Content-Type": "text/plain",
      ACCEPT: "text/html",
      "MCP-Session-Id": "mine",
    });
    await transport.request(0, request(0, "initialize"), keptExchange());
    transport.setProtocolVersion("2025-11-25");
    await transport.request(1, request(1), keptExchange());
    const [first, second] = server.received;
    assert.equal(first?.headers.get("accept"), "application/json, text/event-stream");
    assert.equal(first?.headers.get("content-type"), "application/json");
    assert.equal(first?.headers.get("authorization"), "Bearer secret");
    assert.equal(first?.headers.get("mcp-session-id"), null);
    assert.equal(first?.headers.get("mcp-protocol-version"), null);
    assert.equal(second?.headers.get("mcp-session-id"), "s-1");
    assert.equal(second?.headers.get("mcp-protocol-version"), "2025-11-25");
    assert.equal(second?.body, request(1));
  },
);

Deno.test("HttpTransport.request() takes no session from the response to a probe", async () => {
  await using server = new Loopback(({ id }) =>
    json(result(id), { headers: { "mcp-session-id": `s-${id}` } })
  );
  await using transport = open(server.url);
  await transport.request(1, request(1, "server/discover"), { ...keptExchange(), isProbe: true });
  await transport.request(0, request(0, "initialize"), keptExchange());
  await transport.request(3, request(3), keptExchange());
  const sessions = server.received.map(({ headers }) => headers.get("mcp-session-id"));
  assert.deepEqual(sessions, [null, null, "s-0"]);
});

Deno.test(
  "HttpTransport.request() gives a JSON answer as the text that came, on one line",
  STRICT,
  async () => {
    const texts = [
      '{"jsonrpc":"2.0","id":1,"result":{"n":12345678901234567890,"2":1,"1":2}}',
      '{"result":{"id":7},"jsonrpc":"2.0","id":2}',
      '{\n  "id": 3,\n  "result": "\\n",\n  "jsonrpc": "2.0"\n}\n',
    ];
    await using server = new Loopback(({ id = 1 }) => json(texts[id - 1] ?? ""));
    await using transport = open(server.url);
    assert.equal(await transport.request(1, request(1), keptExchange()), texts[0]);
    assert.equal(await transport.request(2, request(2), keptExchange()), texts[1]);
    const third = await transport.request(3, request(3), keptExchange());
    assert.ok(!third.includes("\n"));
    assert.equal(JSON.parse(third).result, "\n");
  },
);

Deno.test(
  "HttpTransport.request() delivers what an SSE answer brings before it, in order",
  STRICT,
  async () => {
    await using server = new Loopback(({ id }) =>
      streamed([
        ": beat\n\nevent: ping\ndata: x\n\n",
        event(note("a")) + event(note("b")),
        event(note("c")) + event(result(id)) + event(note("late")),
      ])
    );
    const events = new KeptEvents();
    await using transport = open(server.url, {}, events);
    for (const streams of [false, true]) {
      const exchange = keptExchange({ streams });
      assert.equal(await transport.request(1, request(1), exchange), result(1));
      assert.deepEqual(exchange.messages, [note("a"), note("b"), note("c")]);
    }
    assert.deepEqual(events.messages, []);
    assert.deepEqual(events.log, []);
  },
);

Deno.test(
  "HttpTransport.request() takes answers with the id as text, or in an array, as JSON and as a stream",
  STRICT,
  async () => {
    await using server = new Loopback(({ id, path }) => {
      const asText = result(id).replace(`"id":${id}`, `"id":"${id}"`);
      const answer = id === 1 ? asText : `[${note("a")}, ${id === 2 ? asText : result(id)}]`;
      return path === "/json" ? json(answer) : streamed([event(answer)]);
    });
    for (const path of ["/json", "/sse"]) {
      await using transport = open(server.origin + path);
      for (const streams of [false, true]) {
        for (const id of [1, 2, 3]) {
          const exchange = keptExchange({ streams });
          const answer = await transport.request(id, request(id), exchange);
          assert.equal(answer.replace(`"${id}"`, `${id}`), result(id));
          assert.deepEqual(exchange.messages, id === 1 ? [] : [note("a")]);
        }
      }
    }
  },
);

Deno.test(
  "HttpTransport.request() puts together what a slow server drips byte by byte",
  STRICT,
  async () => {
    const answer = result(1, "gr\u{fc}\u{df}e \u{1F326} ");
    async function* drip(text: string) {
      for (const byte of new TextEncoder().encode(text)) {
        yield Uint8Array.of(byte);
        await Promise.resolve();
      }
    }
    await using server = new Loopback(({ path }) =>
      path.endsWith("json")
        ? streamed(drip(answer), { "content-type": "application/json; charset=utf-8" })
        : streamed(drip(event(note("ä")) + event(answer)))
    );
    for (const kind of ["json", "sse"]) {
      await using transport = open(`${server.origin}/${kind}`);
      const exchange = keptExchange();
      assert.equal(await transport.request(1, request(1), exchange), answer);
      assert.deepEqual(exchange.messages, kind === "sse" ? [note("ä")] : []);
    }
  },
);

Deno.test(
  "HttpTransport.request() lets a server ask in mid-call, and send() carries the reply",
  STRICT,
  async () => {
    const reply = Promise.withResolvers<string>();
    const question = '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}';
    await using server = new Loopback(({ id, body }) => {
      if (!body.includes("tools/call")) {
        reply.resolve(body);
        return new Response(null, { status: 202 });
      }
      return streamed(async function* () {
        yield event(question);
        yield event(result(id, JSON.parse(await reply.promise).result));
      }());
    });
    await using transport = open(server.url);
    const answer = await transport.request(1, request(1), {
      streams: true,
      onMessage: (text) => {
        assert.equal(text, question);
        void transport.send('{"jsonrpc":"2.0","id":"q","result":{"action":"accept"}}');
      },
    });
    assert.deepEqual(JSON.parse(answer).result, { action: "accept" });
  },
);

Deno.test(
  "HttpTransport.request() does not wait for the end of a stream that has given the answer",
  STRICT,
  async () => {
    let open = 0;
    await using server = new Loopback(({ id }) => {
      open++;
      return streamed(
        async function* () {
          yield event(result(id));
          await new Promise(() => {});
        }(),
        {},
        () => open--,
      );
    });
    {
      await using transport = new HttpTransport(
        { url: server.url, headers: {}, serverName: "weather" },
        new KeptEvents(),
      );
      for (let id = 0; id < 12; id++) await transport.request(id, request(id), keptExchange());
      await until(() => open === 0, "streams that do not end after their answer are closed");
      await transport.request(12, request(12), keptExchange());
    }
    await until(() => open === 0, "all streams are closed with the transport");
  },
);

Deno.test(
  "HttpTransport.request() uses one connection again and again, for JSON and for SSE",
  STRICT,
  async () => {
    await using server = new Loopback(({ id, path }) =>
      path === "/json" ? json(result(id)) : streamed([event(result(id))])
    );
    for (const path of ["/json", "/sse"]) {
      await using transport = open(server.origin + path);
      const ports = () =>
        server.received.filter((received) => received.path === path).map(({ port }) => port);
      // The end of a stream comes after its answer: until it is read, its connection is in use.
      let inRow = 0;
      for (let id = 0; id < 500 && inRow < 5; id++) {
        await transport.request(id, request(id), keptExchange());
        await new Promise((resolve) => setTimeout(resolve, 5));
        const [last, before] = ports().toReversed();
        inRow = last === before ? inRow + 1 : 0;
      }
      assert.equal(inRow, 5, `${path}: ${ports()}`);
      if (path === "/json") assert.equal(new Set(ports()).size, 1, String(ports()));
    }
  },
);

Deno.test(
  "HttpTransport.request() ends with its signal, before and in the middle of the answer",
  STRICT,
  async () => {
    let [begun, gone] = [0, 0];
    await using server = new Loopback(({ path, request: { signal } }) => {
      begun++;
      if (path === "/silent") {
        signal.addEventListener("abort", () => gone++);
        return new Promise<Response>(() => {});
      }
      return streamed(
        function* () {
          for (;;) yield ": beat\n\n";
        }(),
        path === "/json" ? { "content-type": "application/json" } : {},
        () => gone++,
      );
    });
    for (const path of ["/silent", "/sse", "/json"]) {
      await using transport = open(server.origin + path);
      const controller = new AbortController();
      const answer = transport.request(1, request(1), keptExchange({ signal: controller.signal }));
      const reason = new Error("enough");
      const rejected = assert.rejects(answer, (error) => error === reason);
      await until(() => begun > gone, "the server has the request");
      setTimeout(() => controller.abort(reason), 50);
      await rejected;
      await until(() => begun === gone, "the server sees it go");
      await assert.rejects(
        transport.request(2, request(2), keptExchange({ signal: controller.signal })),
        (error) => error === reason,
      );
    }
    assert.deepEqual([server.received.length, gone], [3, 3]);
  },
);

Deno.test(
  "HttpTransport.send() resolves when the server has taken the message, and tells if it has not",
  STRICT,
  async () => {
    await using server = new Loopback(({ body }) => {
      if (body.includes("refused")) return new Response("no", { status: 400 });
      return body.includes("200") ? json("{}") : new Response(null, { status: 202 });
    });
    await using transport = open(server.url);
    await transport.send(note("202"));
    await transport.send(note("200"));
    await rejects(
      transport.send(note("refused")),
      "refused",
      /^HTTP 400 from 127\.0\.0\.1:\d+: no$/,
    );
  },
);

Deno.test(
  "HttpTransport hears the server's own stream after the handshake, and reopens it where it was cut",
  STRICT,
  async () => {
    const events = new KeptEvents();
    await using server = new Loopback(({ method, id, headers }) => {
      if (method === "POST") {
        return id === undefined
          ? new Response(null, { status: 202 })
          : json(result(id), { headers: { "mcp-session-id": "s" } });
      }
      if (method === "DELETE") return new Response(null, { status: 204 });
      const from = headers.get("last-event-id");
      if (from === null) return streamed([event(note("one"), "id: 1\nretry: 1\n")]);
      return from === "1"
        ? streamed([event(note("two"), "id: 2\n")])
        : json('{"jsonrpc":"2.0","error":{"code":-32001,"message":"?"},"id":null}', {
          status: 404,
        });
    });
    await using transport = open(server.url, {}, events);
    await transport.request(0, request(0, "initialize"), keptExchange());
    transport.setProtocolVersion("2025-11-25");
    assert.equal(server.byMethod("GET").length, 0);
    await transport.send(note("notifications/initialized"));
    await until(() => events.closed.length > 0, "the loss of the session is noticed");
    assert.deepEqual(events.messages, [note("one"), note("two")]);
    assert.deepEqual(events.closed.map(({ kind }) => kind), ["session"]);
    const get = server.byMethod("GET")[0];
    assert.equal(get?.headers.get("accept"), "text/event-stream");
    assert.equal(get?.headers.get("mcp-session-id"), "s");
    assert.equal(get?.headers.get("mcp-protocol-version"), "2025-11-25");
  },
);

Deno.test(
  "HttpTransport asks once for the server's own stream where there is none",
  STRICT,
  async () => {
    const events = new KeptEvents();
    await using server = new Loopback(({ method, id }) => {
      if (method === "GET") return new Response("Method Not Allowed", { status: 405 });
      return id === undefined ? new Response(null, { status: 202 }) : json(result(id));
    });
    await using transport = open(server.url, {}, events);
    await transport.request(0, request(0, "initialize"), keptExchange());
    transport.setProtocolVersion("2025-11-25");
    await transport.send(note("notifications/initialized"));
    await transport.send(note("x"));
    await until(() => server.byMethod("GET").length === 1, "it asks");
    await transport.request(1, request(1), keptExchange());
    assert.equal(server.byMethod("GET").length, 1);
    assert.deepEqual(events.closed, []);
  },
);

Deno.test(
  "HttpTransport ends with dispose: what waits, its streams and its session",
  STRICT,
  async () => {
    const events = new KeptEvents();
    await using server = new Loopback(({ method, id, path }) => {
      if (method === "DELETE") {
        return path === "/stuck" ? new Promise(() => {}) : new Response(null, { status: 204 });
      }
      if (id === 0) return json(result(id), { headers: { "mcp-session-id": "s-1" } });
      if (id === 1) return new Promise(() => {});
      if (id === undefined && method === "POST") return new Response(null, { status: 202 });
      return streamed(async function* () {
        yield event(note("hello"));
        await new Promise(() => {});
      }());
    });
    for (const path of ["/mcp", "/stuck"]) {
      const transport = open(server.origin + path, { "x-key": "k" }, events);
      await transport.request(0, request(0, "initialize"), keptExchange());
      transport.setProtocolVersion("2025-06-18");
      await transport.send(note("notifications/initialized"));
      const waiting = [
        rejects(transport.request(1, request(1), keptExchange()), "closed"),
        rejects(transport.request(2, request(2), keptExchange({ streams: true })), "closed"),
      ];
      await until(() => events.messages.length > 0, "the server's own stream is open");
      events.messages.length = 0;
      await Promise.all([transport[Symbol.asyncDispose](), transport[Symbol.asyncDispose]()]);
      await Promise.all(waiting);
      await rejects(transport.request(3, request(3), keptExchange()), "closed");
      await rejects(transport.send(note("x")), "closed");
    }
    const goodbyes = server.byMethod("DELETE");
    assert.equal(goodbyes.length, 2);
    assert.equal(goodbyes[0]?.headers.get("mcp-session-id"), "s-1");
    assert.equal(goodbyes[0]?.headers.get("x-key"), "k");
    assert.deepEqual(events.closed, []);
  },
);
