import assert from "node:assert/strict";
import { FallbackTransport } from "./http.ts";
import { SseTransport } from "./sse.ts";
import {
  event,
  json,
  KeptEvents,
  keptExchange,
  Loopback,
  note,
  type Received,
  rejects,
  request,
  result,
  streamed,
  STRICT,
} from "./testing/loopback.ts";

/** A server that speaks the older transport only, and says so to a POST at its stream's address. */
function oldServer(refusal: Response) {
  let say = (_text: string) => {};
  return new Loopback(({ method, path, id }: Received) => {
    if (method === "GET") {
      return streamed(
        new ReadableStream<string>({
          start(controller) {
            say = (text) => controller.enqueue(text);
            say("event: endpoint\ndata: messages\n\n");
          },
        }),
      );
    }
    if (path === "/mcp") return refusal.clone();
    if (id !== undefined) say(event(result(id)));
    return new Response(null, { status: 202 });
  });
}

function open(url: string, type: "http" | "sse" = "http", events = new KeptEvents()) {
  const options = { url, headers: {}, serverName: "weather" };
  return type === "sse"
    ? new SseTransport(options, events)
    : new FallbackTransport(options, events);
}

Deno.test("FallbackTransport speaks streamable HTTP where the server does", STRICT, async () => {
  await using server = new Loopback(({ id }) => json(result(id)));
  await using transport = open(server.url);
  for (const id of [0, 1]) {
    assert.equal(await transport.request(id, request(id), keptExchange()), result(id));
  }
  transport.setProtocolVersion("2025-11-25");
  await transport.send(note("x"));
  assert.ok(server.byMethod("POST").length === 3);
});

Deno.test(
  "FallbackTransport falls back to the older transport where the first request is refused so",
  STRICT,
  async () => {
    for (const status of [400, 404, 405]) {
      await using server = oldServer(new Response("Cannot POST", { status }));
      await using transport = open(server.url);
      for (const id of [0, 1]) {
        assert.equal(await transport.request(id, request(id), keptExchange()), result(id));
      }
      transport.setProtocolVersion("2024-11-05");
      await transport.send(note("notifications/initialized"));
      assert.deepEqual(server.received.map(({ method, path }) => `${method} ${path}`), [
        "POST /mcp",
        "GET /mcp",
        "POST /messages",
        "POST /messages",
        "POST /messages",
      ]);
    }
  },
);

Deno.test(
  "FallbackTransport opens the older transport at once where the entry says so",
  STRICT,
  async () => {
    await using server = oldServer(new Response(null, { status: 404 }));
    await using transport = open(server.url, "sse");
    assert.equal(await transport.request(0, request(0), keptExchange()), result(0));
    assert.deepEqual(server.received.map(({ method }) => method), ["GET", "POST"]);
  },
);

Deno.test(
  "FallbackTransport gives the first refusal where there is no older transport either",
  STRICT,
  async () => {
    const events = new KeptEvents();
    await using server = new Loopback(({ method }) =>
      new Response(`Cannot ${method} /mcp`, { status: 404 })
    );
    await using transport = open(server.url, "http", events);
    await rejects(
      transport.request(0, request(0), keptExchange()),
      "refused",
      /: Cannot POST \/mcp$/,
    );
    assert.deepEqual(events.closed, []);
  },
);

Deno.test(
  "FallbackTransport does not look for the older transport after any other failure",
  STRICT,
  async () => {
    for (const [status, kind] of [[401, "login"], [403, "refused"], [500, "refused"]] as const) {
      await using server = new Loopback(() => new Response(null, { status }));
      await using transport = open(server.url);
      await rejects(transport.request(0, request(0), keptExchange()), kind);
      assert.equal(server.byMethod("GET").length, 0);
    }
  },
);

Deno.test(
  "FallbackTransport tells that a login is needed where only the older transport says so",
  STRICT,
  async () => {
    await using server = new Loopback(({ method }) =>
      new Response(null, { status: method === "GET" ? 401 : 405 })
    );
    await using transport = open(server.url);
    await rejects(transport.request(0, request(0), keptExchange()), "login");
  },
);

Deno.test(
  "FallbackTransport can be ended while it looks for the older transport",
  STRICT,
  async () => {
    await using server = new Loopback(({ method }) =>
      method === "GET"
        ? streamed(new ReadableStream<string>())
        : new Response(null, { status: 405 })
    );
    const transport = open(server.url);
    const controller = new AbortController();
    const reason = new Error("enough");
    setTimeout(() => controller.abort(reason), 40);
    await assert.rejects(
      transport.request(0, request(0), keptExchange({ signal: controller.signal })),
      (error) => error === reason,
    );
    const waiting = rejects(transport.request(0, request(0), keptExchange()), "closed");
    setTimeout(() => void transport[Symbol.asyncDispose](), 40);
    await waiting;
    await transport[Symbol.asyncDispose]();
  },
);
