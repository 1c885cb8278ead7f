import assert from "node:assert/strict";
import { ManagedServer } from "../servers/server.ts";
import { FakeServer, silentLog } from "../servers/testing/fake_server.ts";
import { callConnected } from "./connected_call.ts";

Deno.test("callConnected() waits for a server that takes longer to start than a client's call waits", async () => {
  const fake = new FakeServer();
  const { promise: started, resolve: letStart } = Promise.withResolvers<void>();
  fake.handlers.set("initialize", async (params, link, exchange) => {
    await started;
    fake.handlers.delete("initialize");
    return await fake.answer("initialize", params, link, exchange);
  });
  fake.handlers.set("tools/call", () => ({ content: [{ type: "text", text: "done" }] }));
  await using server = new ManagedServer({
    server: {
      name: "fake",
      spec: { type: "http", url: "http://fake.example/", headers: {} },
      source: { kind: "store" },
    },
    log: silentLog(),
    openTransport: (_, events) => fake.open(events),
    onStatus: () => {},
    knownTools: () => Promise.resolve([]),
    onTools: (_, tools) => Promise.resolve(tools.length),
    timings: { startWait: 10 },
  });
  server.start();
  const { signal } = new AbortController();
  const call = { server: "fake", tool: "look", args: {}, signal, onProgress: () => {} };
  const calling = callConnected(server, call);
  await assert.rejects(server.connection(), { code: "SERVER_STARTING" });
  letStart();
  assert.deepEqual((await calling).content, [{ type: "text", text: "done" }]);
});
