import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import type { Client } from "../core/client.ts";
import { errorText, notificationText } from "../core/rpc.ts";
import { FOLLOW_TASK, SUBSCRIPTION_ID_KEY } from "../core/stateless.ts";
import { ManagedServer } from "../servers/server.ts";
import { silentLog, until } from "../servers/testing/fake_server.ts";
import { serveStateless } from "../servers/testing/stateless_server.ts";
import { FallbackTransport } from "../servers/transports/http.ts";
import { ConnectionState } from "./connection_state.ts";
import { KeptState } from "./kept_state.ts";

/** A server that announces changes of tasks on the first stream, and refuses the next ones. */
async function openAnnouncing() {
  await using stack = new AsyncDisposableStack();
  const http = stack.use(serveStateless());
  const streams: { end(): void }[] = [];
  const proxy = stack.use(
    Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
      const body = await request.clone().text();
      if (!body.includes('"taskIds"')) return await fetch(http.url, request);
      const { id } = JSON.parse(body);
      if (streams.length > 0) return Response.json(JSON.parse(errorText(id, -32601, "No more")));
      const told = { notifications: { taskIds: ["t"] }, _meta: { [SUBSCRIPTION_ID_KEY]: id } };
      const method = "notifications/subscriptions/acknowledged";
      const acknowledged = notificationText(method, JSON.stringify(told));
      const events = new ReadableStream<string>({
        start(stream) {
          stream.enqueue(`data: ${acknowledged}\n\n`);
          streams.push({ end: () => stream.close() });
        },
      });
      const headers = { "content-type": "text/event-stream" };
      return new Response(events.pipeThrough(new TextEncoderStream()), { headers });
    }),
  );
  const url = `http://127.0.0.1:${proxy.addr.port}/mcp`;
  const server = stack.use(
    new ManagedServer({
      server: {
        name: "test",
        spec: { type: "http", url, headers: {} },
        source: { kind: "store" },
      },
      log: silentLog(),
      openTransport: (_, events) =>
        new FallbackTransport({ url, headers: {}, serverName: "test" }, events),
      onStatus: () => {},
      knownTools: () => Promise.resolve([]),
      onTools: (_, tools) => Promise.resolve(tools.length),
    }),
  );
  server.start();
  const client: Client = {
    principal: "anyone",
    profile: { protocolVersion: "2026-07-28", capabilities: {} },
    push: assert.fail,
    ask: assert.fail,
  };
  const kept = stack.use(new KeptState(server, client, new ConnectionState()));
  const connection = await server.connection();
  // The connection's own, for changed lists.
  await until(() => http.methods.includes("subscriptions/listen"));
  const parts = stack.move();
  return {
    streams,
    connection,
    follow(onChange: () => void, signal?: AbortSignal) {
      const params = '{"taskId":"t"}';
      const call = { method: FOLLOW_TASK, params, timeoutMs: 10_000, streams: true };
      return kept.keep({ ...call, signal, onMessage: onChange });
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

Deno.test("KeptState ends the following of a task when the server refuses to continue it", async () => {
  await using announcing = await openAnnouncing();
  const opened = Promise.withResolvers<void>();
  const following = announcing.follow(opened.resolve);
  await opened.promise;
  announcing.streams[0]!.end();
  assert.equal((await following).text, '{"jsonrpc":"2.0","id":0,"result":{}}');
});

Deno.test("KeptState leaves no listener of a followed task on the connection", async () => {
  await using announcing = await openAnnouncing();
  const { over } = announcing.connection;
  const stop = new AbortController();
  const before = getEventListeners(over, "abort").length;
  const opened = Promise.withResolvers<void>();
  const following = announcing.follow(opened.resolve, stop.signal);
  await opened.promise;
  stop.abort(new Error("gone"));
  await assert.rejects(following, /gone/);
  await until(() => getEventListeners(over, "abort").length === before);
});
