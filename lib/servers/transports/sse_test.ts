import assert from "node:assert/strict";
import { createServer } from "node:http";
import { Server } from "@modelcontextprotocol/sdk/server";
// @ts-types="@modelcontextprotocol/sdk/server/sse"
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { GatewayError } from "../../core/errors.ts";
import { requestText } from "../../core/rpc.ts";
import { SseTransport } from "./sse.ts";
import {
  event,
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

/** An old server by hand: what is said on its stream is up to the test. */
class OldServer implements AsyncDisposable {
  readonly loopback: Loopback;
  postStatus = 202;
  #stream: ReadableStreamDefaultController<string> | undefined;

  constructor(address = "/messages?sessionId=1", onPost: (server: OldServer) => void = () => {}) {
    this.loopback = new Loopback(({ method, id }) => {
      if (method === "GET") {
        const stream = new ReadableStream<string>({
          start: (controller) => {
            this.#stream = controller;
            controller.enqueue(`: hello\n\nevent: endpoint\ndata: ${address}\n\n`);
          },
        });
        return streamed(stream);
      }
      onPost(this);
      if (id !== undefined && this.postStatus === 202) this.say(event(result(id)));
      return new Response("Accepted", { status: this.postStatus });
    });
  }

  open(events = new KeptEvents()): SseTransport {
    const headers = { authorization: "Bearer secret-1" };
    const url = `${this.loopback.origin}/sse`;
    return new SseTransport({ url, headers, serverName: "old" }, events);
  }

  say(text: string): void {
    this.#stream?.enqueue(text);
  }

  hangUp(): void {
    this.#stream?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.loopback[Symbol.asyncDispose]();
  }
}

Deno.test(
  "SseTransport posts to the address that the stream names, and finds answers by their id",
  STRICT,
  async () => {
    const events = new KeptEvents();
    await using server = new OldServer("/messages?sessionId=1", (old) => old.say(event(note("a"))));
    await using transport = server.open(events);
    assert.equal(server.loopback.received.length, 0);
    const exchanges = [1, 2, 3].map(() => keptExchange());
    const answers = await Promise.all(
      exchanges.map((exchange, index) => transport.request(index, request(index), exchange)),
    );
    assert.deepEqual(answers, [result(0), result(1), result(2)]);
    transport.setProtocolVersion("2025-03-26");
    await transport.send(note("notifications/initialized"));
    assert.deepEqual(events.messages, [note("a"), note("a"), note("a"), note("a")]);
    assert.ok(exchanges.every(({ messages }) => messages.length === 0));
    const { received } = server.loopback;
    assert.deepEqual(received.map(({ method, path }) => `${method} ${path}`), [
      "GET /sse",
      ...Array.from({ length: 4 }, () => "POST /messages?sessionId=1"),
    ]);
    assert.ok(received.every(({ headers }) => headers.get("authorization") === "Bearer secret-1"));
    assert.equal(received.at(-1)?.headers.get("mcp-protocol-version"), "2025-03-26");
  },
);

Deno.test(
  "SseTransport.request() takes answers with the id as text, or in an array",
  STRICT,
  async () => {
    const asText = (id: number) => result(id).replace(`"id":${id}`, `"id":"${id}"`);
    const answers = [
      [asText(0)],
      [`[${note("a")}, ${result(1)}]`],
      [`[${asText(2)}]`],
      // The answers of two requests at once.
      [],
      [`[${result(4)}, ${asText(3)}]`],
    ];
    await using server = new OldServer("/messages", (old) => {
      old.postStatus = 200;
      for (const answer of answers.shift() ?? []) old.say(event(answer));
    });
    const events = new KeptEvents();
    await using transport = server.open(events);
    const ask = (id: number) => transport.request(id, request(id), keptExchange());
    assert.equal(await ask(0), asText(0));
    assert.equal(await ask(1), result(1));
    assert.equal(await ask(2), asText(2));
    const third = ask(3);
    await until(() => answers.length === 1, "the fourth request is sent");
    assert.deepEqual([await ask(4), await third], [result(4), asText(3)]);
    assert.deepEqual(events.messages, [note("a")]);
    assert.deepEqual(events.log, []);
  },
);

Deno.test(
  "SseTransport.request() refuses an address of another origin, and sends nothing there",
  STRICT,
  async () => {
    await using foreign = new Loopback(() => new Response());
    await using server = new OldServer(`${foreign.origin}/messages`);
    const events = new KeptEvents();
    await using transport = server.open(events);
    await rejects(transport.request(1, request(1), keptExchange()), "refused", /another origin/);
    assert.deepEqual(foreign.received, []);
    assert.deepEqual(events.closed, []);
  },
);

Deno.test(
  "SseTransport ends with its stream: what waits is lost, and onClose tells once",
  STRICT,
  async () => {
    const events = new KeptEvents();
    await using server = new OldServer("/messages", (old) => {
      old.postStatus = 200;
      old.hangUp();
    });
    await using transport = server.open(events);
    await rejects(transport.request(1, request(1), keptExchange()), "lost", /ended its stream$/);
    await rejects(transport.request(2, request(2), keptExchange()), "lost");
    assert.deepEqual(events.closed.map(({ kind }) => kind), ["lost"]);
  },
);

Deno.test(
  "SseTransport tells a forgotten session, a login and a wrong address apart",
  STRICT,
  async () => {
    const events = new KeptEvents();
    await using server = new OldServer();
    await using transport = server.open(events);
    await transport.request(1, request(1), keptExchange());
    server.postStatus = 404;
    await rejects(transport.request(2, request(2), keptExchange()), "session");
    assert.deepEqual(events.closed.map(({ kind }) => kind), ["session"]);
    for (const [status, kind] of [[401, "login"], [404, "refused"], [200, "refused"]] as const) {
      await using other = new Loopback(() => new Response("<html>", { status }));
      await using otherLink = new SseTransport(
        { url: other.url, headers: {}, serverName: "old" },
        events,
      );
      await rejects(otherLink.request(1, request(1), keptExchange()), kind);
    }
  },
);

Deno.test(
  "SseTransport fails what the server took before it forgot the session as lost",
  STRICT,
  async () => {
    await using server = new OldServer();
    await using transport = server.open();
    await transport.request(1, request(1), keptExchange());
    server.postStatus = 200;
    const taken = rejects(transport.request(2, request(2), keptExchange()), "lost");
    await until(() => server.loopback.received.length === 3, "the second request is taken");
    server.postStatus = 404;
    await rejects(transport.request(3, request(3), keptExchange()), "session");
    await taken;
    await rejects(transport.request(4, request(4), keptExchange()), "session");
  },
);

Deno.test(
  "SseTransport.request() ends with its signal and with its transport",
  STRICT,
  async () => {
    const events = new KeptEvents();
    await using server = new OldServer();
    server.postStatus = 200;
    const transport = server.open(events);
    const controller = new AbortController();
    const reason = new Error("enough");
    const answer = transport.request(1, request(1), keptExchange({ signal: controller.signal }));
    const aborted = assert.rejects(answer, (error) => error === reason);
    await until(() => server.loopback.received.length === 2, "the first request is sent");
    controller.abort(reason);
    await aborted;
    const waiting = rejects(transport.request(2, request(2), keptExchange()), "closed");
    await until(() => server.loopback.received.length === 3, "the second request is sent");
    await transport[Symbol.asyncDispose]();
    await waiting;
    await rejects(transport.send(note("x")), "closed");
    assert.deepEqual(events.closed, []);
  },
);

Deno.test(
  "SseTransport skips a message over 16 MiB, and only its own call fails",
  STRICT,
  async () => {
    let posts = 0;
    await using server = new OldServer("/messages", (old) => {
      old.postStatus = 200;
      if (++posts === 3) return old.say(event(result(3)));
      if (posts !== 2) return;
      old.say('data: {"result":{"text":"');
      for (let mib = 0; mib < 17; mib++) old.say("x".repeat(1024 * 1024));
      old.say('"},"jsonrpc":"2.0","id":1}\n\n');
      old.say(event(result(2)));
    });
    const events = new KeptEvents();
    await using transport = server.open(events);
    const large = assert.rejects(transport.request(1, request(1), keptExchange()), (error) => {
      return error instanceof GatewayError && error.code === "LIMIT_EXCEEDED";
    });
    assert.equal(await transport.request(2, request(2), keptExchange()), result(2));
    await large;
    assert.equal(await transport.request(3, request(3), keptExchange()), result(3));
    assert.deepEqual(events.closed, []);
  },
);

Deno.test("SseTransport speaks with the SDK's older server", STRICT, async () => {
  const server = new Server({ name: "old", version: "1" }, { capabilities: {} });
  let older: SSEServerTransport | undefined;
  const http = createServer(async (incoming, outgoing) => {
    if (incoming.method === "POST") return await older?.handlePostMessage(incoming, outgoing);
    older = new SSEServerTransport("/messages", outgoing);
    await server.connect(older);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const address = http.address();
  assert.ok(address !== null && typeof address === "object");
  const transport = new SseTransport(
    { url: `http://127.0.0.1:${address.port}/sse`, headers: {}, serverName: "old" },
    new KeptEvents(),
  );
  const answer = await transport.request(1, requestText(1, "ping"), keptExchange());
  assert.deepEqual(JSON.parse(answer).result, {});
  await transport[Symbol.asyncDispose]();
  await server.close();
  await new Promise((resolve) => http.close(resolve));
});
