import assert from "node:assert/strict";
import { HttpTransport } from "./http.ts";
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

/** A server whose first answer is cut, and what it says to each try to resume. */
function cutServer(first: string, resume: (received: Received, tries: number) => Response) {
  let tries = 0;
  return new Loopback((received) =>
    received.method === "POST" ? streamed([first]) : resume(received, ++tries)
  );
}

function open(url: string) {
  const headers = { "x-key": "k" };
  return new HttpTransport({ url, headers, serverName: "weather" }, new KeptEvents());
}

Deno.test(
  "HttpTransport.request() resumes a stream that ends before the answer, where it was cut",
  STRICT,
  async () => {
    await using server = cutServer(
      `id: p\nretry: 5\ndata: \n\n${event(note("a"), "id: 1\n")}id: 2\ndata: {"cut`,
      (_, tries) =>
        tries === 1
          ? streamed([event(note("b"), "id: 2\n")])
          : streamed([event(note("c"), "id: 3\n") + event(result(7), "id: 4\n")]),
    );
    await using transport = open(server.url);
    const exchange = keptExchange({ streams: true });
    assert.equal(await transport.request(7, request(7), exchange), result(7));
    assert.deepEqual(exchange.messages, [note("a"), note("b"), note("c")]);
    const gets = server.byMethod("GET");
    assert.deepEqual(gets.map(({ headers }) => headers.get("last-event-id")), ["1", "2"]);
    assert.equal(gets[0]?.headers.get("accept"), "text/event-stream");
    assert.equal(gets[0]?.headers.get("x-key"), "k");
  },
);

Deno.test(
  "HttpTransport.request() resumes a stream that only polls, as long as something comes",
  STRICT,
  async () => {
    await using server = cutServer(
      "id: 0\nretry: 1\ndata: \n\n",
      (_, tries) => streamed([tries < 12 ? `id: ${tries}\ndata: \n\n` : event(result(7))]),
    );
    await using transport = open(server.url);
    assert.equal(await transport.request(7, request(7), keptExchange()), result(7));
    assert.equal(server.byMethod("GET").length, 12);
  },
);

Deno.test(
  "HttpTransport.request() waits as long as the server says before it resumes",
  STRICT,
  async () => {
    await using server = cutServer(
      "id: 0\nretry: 120\ndata: \n\n",
      () => streamed([event(result(7))]),
    );
    await using transport = open(server.url);
    const started = performance.now();
    await transport.request(7, request(7), keptExchange());
    assert.ok(performance.now() - started >= 115);
  },
);

Deno.test(
  "HttpTransport.request() tries through passing trouble, and gives up after five tries in vain",
  STRICT,
  async () => {
    await using server = cutServer("id: 0\nretry: 2\ndata: \n\n", ({ path }, tries) => {
      if (path === "/mcp" && tries === 3) return streamed([event(result(7))]);
      return tries % 2 === 0 ? streamed([]) : new Response("busy", { status: 503 });
    });
    await using transport = open(server.url);
    assert.equal(await transport.request(7, request(7), keptExchange()), result(7));
    await using hopeless = open(`${server.origin}/hopeless`);
    await rejects(
      hopeless.request(7, request(7), keptExchange()),
      "lost",
      /ended its stream before the answer, and 5 attempts to resume it failed$/,
    );
    assert.equal(server.byMethod("GET").length, 8);
  },
);

Deno.test(
  "HttpTransport.request() is lost with a stream that cannot be resumed",
  STRICT,
  async () => {
    await using nameless = cutServer(event(note("a")), () => streamed([event(result(7))]));
    await using first = open(nameless.url);
    await rejects(first.request(7, request(7), keptExchange()), "lost", /ended its stream before/);
    assert.equal(nameless.byMethod("GET").length, 0);
    await using refusing = cutServer(
      "id: 0\nretry: 1\ndata: \n\n",
      () => json("{}", { status: 405 }),
    );
    await using second = open(refusing.url);
    await rejects(second.request(7, request(7), keptExchange()), "refused", /^HTTP 405 /);
  },
);

Deno.test(
  "HttpTransport.request() that the server took is lost with its stream, not refused for its session",
  STRICT,
  async () => {
    let isForgotten = false;
    await using server = new Loopback(({ method, id }) => {
      if (isForgotten) return json("{}", { status: 404 });
      if (id === 1) return json(result(1), { headers: { "mcp-session-id": "s" } });
      isForgotten = true;
      return method === "POST" ? streamed(["id: 0\nretry: 1\ndata: \n\n"]) : streamed([]);
    });
    await using transport = open(server.url);
    await transport.request(1, request(1, "initialize"), keptExchange());
    await rejects(
      transport.request(2, request(2), keptExchange()),
      "lost",
      /ended its stream before the answer, and no longer knows it \(HTTP 404\)$/,
    );
    await rejects(transport.request(3, request(3), keptExchange()), "session");
  },
);

Deno.test(
  "HttpTransport.request() stops resuming with its signal and with its transport",
  STRICT,
  async () => {
    await using server = cutServer("id: 0\nretry: 60000\ndata: \n\n", () => streamed([]));
    const transport = open(server.url);
    const controller = new AbortController();
    const reason = new Error("enough");
    setTimeout(() => controller.abort(reason), 50);
    await assert.rejects(
      transport.request(7, request(7), keptExchange({ signal: controller.signal })),
      (error) => error === reason,
    );
    const waiting = rejects(transport.request(8, request(8), keptExchange()), "closed");
    await new Promise((resolve) => setTimeout(resolve, 50));
    await transport[Symbol.asyncDispose]();
    await waiting;
  },
);
