import assert from "node:assert/strict";
import type { CancelSignal } from "../core/async.ts";
import { GatewayError } from "../core/errors.ts";
import type { RpcMessage } from "../core/rpc.ts";
import { type Call, Connection, type ConnectionOptions } from "./connection.ts";
import { TransportClosed } from "./transports/transport.ts";
import { FakeServer, pause, textOfResult, until } from "./testing/fake_server.ts";

function open(server: FakeServer, options: Partial<ConnectionOptions> = {}) {
  return Connection.open({
    serverName: "fake",
    openTransport: server.open,
    capabilities: {},
    startTimeoutMs: 5_000,
    events: { onMessage: () => {}, onClose: () => {}, onLog: () => {} },
    ...options,
  });
}

function call(more: Partial<Call> = {}): Call {
  return { method: "tools/call", params: "{}", timeoutMs: 5_000, streams: true, ...more };
}

function isTimeout(error: unknown): boolean {
  return error instanceof GatewayError && error.code === "TIMEOUT";
}

Deno.test("Connection.open() gives up on a server that does not complete the handshake, and closes the transport", async () => {
  const server = new FakeServer();
  server.silence("initialize");
  await assert.rejects(
    open(server, { startTimeoutMs: 50 }),
    /Server "fake" did not complete the MCP handshake within 50 ms/,
  );
  assert.deepEqual(server.alive, []);
});

Deno.test("Connection.open() closes the transport when it is no longer wanted", async () => {
  const server = new FakeServer();
  server.silence("initialize");
  const stop = new AbortController();
  const opening = open(server, { signal: stop.signal });
  await until(() => server.links.length === 1);
  stop.abort(new Error("not wanted"));
  await assert.rejects(opening, /not wanted/);
  assert.deepEqual(server.alive, []);
  await assert.rejects(open(server, { signal: stop.signal }), /not wanted/);
  assert.equal(server.links.length, 1);
});

Deno.test("Connection.call() cancels a call past its time, downstream and on the transport", async () => {
  const server = new FakeServer();
  await using connection = await open(server);
  let signal: CancelSignal | undefined;
  server.handlers.set("tools/call", (_, __, exchange) => {
    signal = exchange.signal;
    return new Promise(() => {});
  });
  await assert.rejects(connection.call(call({ timeoutMs: 30 })), isTimeout);
  assert.equal(server.links[0]?.heard.at(-1), "notifications/cancelled");
  assert.equal(signal?.aborted, true, "a transport that goes on waiting would leak");
  assert.equal(connection.inFlight, 0);
});

Deno.test("Connection passes over progress under what is no token", async () => {
  const server = new FakeServer();
  await using connection = await open(server);
  server.handlers.set("tools/call", (_params, transport) => {
    // Nothing that a number could be made of.
    transport.tell("notifications/progress", { progressToken: { toString: 1 }, progress: 0 });
    return "done";
  });
  const heard: unknown[] = [];
  const { text } = await connection.call(call({
    params: '{"_meta":{"progressToken":"mine"}}',
    progressToken: "mine",
    onMessage: (text) => heard.push(text),
  }));
  assert.match(text, /"done"/);
  assert.deepEqual(heard, []);
});

Deno.test("Connection.call() starts the time anew with each progress, under the caller's token", async () => {
  const server = new FakeServer();
  await using connection = await open(server);
  server.handlers.set("tools/call", async ({ _meta }, transport) => {
    const { progressToken } = _meta as { progressToken: number };
    for (let progress = 1; progress <= 5; progress++) {
      await pause(40);
      transport.tell("notifications/progress", { progressToken, progress });
    }
    return "done";
  });
  const heard: unknown[] = [];
  const params = '{"_meta":{"progressToken":"mine"}}';
  const { text } = await connection.call(call({
    params,
    progressToken: "mine",
    timeoutMs: 100,
    onMessage: (text) => heard.push(JSON.parse(text).params),
  }));
  assert.equal(textOfResult(text), "done");
  assert.deepEqual(heard, [1, 2, 3, 4, 5].map((progress) => ({ progressToken: "mine", progress })));
  await assert.rejects(
    connection.call(call({ params: '{"_meta":{}}', timeoutMs: 100 })),
    isTimeout,
  );
});

Deno.test("Connection.call() ends a call at its longest time, whatever progress comes", async () => {
  const server = new FakeServer();
  await using connection = await open(server);
  let isOver = false;
  server.handlers.set("tools/call", async ({ _meta }, transport) => {
    const { progressToken } = _meta as { progressToken: number };
    for (let progress = 1; !isOver; progress++) {
      await pause(10);
      transport.tell("notifications/progress", { progressToken, progress });
    }
    return "late";
  });
  const endless = connection.call(call({
    params: '{"_meta":{"progressToken":"mine"}}',
    progressToken: "mine",
    timeoutMs: 5_000,
    maxTimeoutMs: 100,
  }));
  await assert.rejects(
    Promise.race([endless, pause(4_000)]).finally(() => isOver = true),
    (error) => isTimeout(error) && /within 100 ms in all/.test(String(error)),
  );
});

Deno.test("Connection.call() ends a silent call at its longest time, if that is shorter", async () => {
  const server = new FakeServer();
  await using connection = await open(server);
  server.silence("tools/call");
  await assert.rejects(
    connection.call(call({ timeoutMs: 24 * 3_600_000, maxTimeoutMs: 100 })),
    (error) => isTimeout(error) && /within 100 ms/.test(String(error)),
  );
});

Deno.test("Connection.call() sends nothing for a caller who has gone, and cancels for one who goes", async () => {
  const server = new FakeServer();
  await using connection = await open(server);
  const heard = () => server.links[0]?.heard.slice(3);
  const gone = AbortSignal.abort(new Error("gone"));
  await assert.rejects(connection.call(call({ signal: gone })), /gone/);
  assert.deepEqual(heard(), []);
  server.silence("tools/call");
  const going = new AbortController();
  const calling = connection.call(call({ signal: going.signal }));
  going.abort(new Error("going"));
  await assert.rejects(calling, /going/);
  assert.deepEqual(heard(), ["tools/call", "notifications/cancelled"]);
});

Deno.test("Connection.call() tells everybody of a changed list, whose stream it came on", async () => {
  const server = new FakeServer();
  const [all, one]: [string[], string[]] = [[], []];
  const events = {
    onMessage: (text: string) => void all.push(JSON.parse(text).method),
    onClose: () => {},
    onLog: () => {},
  };
  await using connection = await open(server, { events });
  server.handlers.set("tools/call", (_, __, { onMessage }) => {
    for (const method of ["notifications/tools/list_changed", "notifications/message"]) {
      const message = { kind: "notification", method, params: {} } as const;
      onMessage(JSON.stringify({ jsonrpc: "2.0", method }), message);
    }
    return {};
  });
  await connection.call(call({ onMessage: (text) => one.push(JSON.parse(text).method) }));
  assert.deepEqual(all, ["notifications/tools/list_changed"]);
  assert.deepEqual(one, ["notifications/message"]);
});

Deno.test("Connection hands log messages only to the caller whom they can be about", async () => {
  const server = new FakeServer();
  const [all, ann, bob]: [string[], string[], string[]] = [[], [], []];
  const events = {
    onMessage: (text: string) => void all.push(JSON.parse(text).params.data),
    onClose: () => {},
    onLog: () => {},
  };
  await using connection = await open(server, { events });
  const client = { protocolVersion: "2025-11-25", capabilities: {} };
  const callAs = (principal: string, heard: string[], more: Partial<Call> = {}) => {
    const onMessage = (text: string) => void heard.push(JSON.parse(text).params.data);
    return connection.call(call({ client, principal, onMessage, ...more }));
  };
  for (const method of ["tools/call", "prompts/list"]) {
    server.handlers.set(method, (_, link) => {
      link.tell("notifications/message", { data: "a line" });
      return {};
    });
  }
  const list = { method: "prompts/list" };
  await callAs("bob", bob, list);
  assert.deepEqual([bob.splice(0), all], [["a line"], []], "nobody has called yet");
  await callAs("ann", ann);
  // It may be late, and about what Ann called.
  await callAs("bob", bob, list);
  assert.deepEqual([bob, all.splice(0)], [[], ["a line"]]);
  await callAs("ann", ann);
  assert.deepEqual([ann, all], [["a line", "a line"], []], "lists do not silence it");
  server.silence("prompts/list");
  const stop = new AbortController();
  const listing = assert.rejects(callAs("bob", bob, { ...list, signal: stop.signal }));
  await until(() => server.links[0]!.heard.filter((name) => name === "prompts/list").length === 3);
  await callAs("ann", ann);
  assert.deepEqual([ann.splice(2), bob, all], [["a line"], [], []], "nor while they last");
  stop.abort();
  await listing;
  await callAs("bob", bob);
  await callAs("bob", bob, { logLevel: "debug" });
  assert.deepEqual([bob, all], [[], ["a line", "a line"]]);
});

Deno.test("Connection passes a log message to no client if calls of two clients of 2026-07-28 may be in flight", async () => {
  const server = new FakeServer();
  const [heard, all]: [string[], string[]] = [[], []];
  const events = { onMessage: (text: string) => void all.push(text), onClose() {}, onLog() {} };
  await using connection = await open(server, { events });
  const client = { protocolVersion: "2026-07-28", capabilities: {} };
  const waiting: (() => void)[] = [];
  server.handlers.set(
    "tools/call",
    () => new Promise((resolve) => waiting.push(() => resolve({}))),
  );
  const onMessage = (text: string) => void heard.push(text);
  const make = () => connection.call(call({ client, principal: "ann", onMessage }));
  const calls = [make(), make()];
  await until(() => waiting.length === 2);
  const [link] = server.links;
  link!.tell("notifications/message", { data: "of which call?" });
  assert.deepEqual([heard.length, all.length], [0, 1]);
  waiting.shift()!();
  await calls[0];
  link!.tell("notifications/message", { data: "of the other" });
  assert.deepEqual([heard.length, all.length], [1, 1]);
  waiting.shift()!();
  await calls[1];
});

Deno.test("Connection leaves a log message with the call on whose stream it came", async () => {
  const server = new FakeServer();
  await using connection = await open(server);
  const [ann, bob]: [string[], string[]] = [[], []];
  server.silence("tools/call");
  const stop = new AbortController();
  const waiting = connection.call(call({
    principal: "bob",
    logLevel: "debug",
    signal: stop.signal,
    onMessage: (text) => bob.push(text),
  }));
  server.handlers.set("tools/call", (_, __, { onMessage }) => {
    const method = "notifications/message";
    onMessage(JSON.stringify({ jsonrpc: "2.0", method }), {
      kind: "notification",
      method,
      params: {},
    });
    return {};
  });
  await connection.call(call({ principal: "ann", onMessage: (text) => ann.push(text) }));
  stop.abort(new Error("gone"));
  await assert.rejects(waiting, /gone/);
  assert.deepEqual([ann.length, bob.length], [1, 0]);
});

Deno.test("Connection outlives messages that nobody can read", async () => {
  const server = new FakeServer();
  const logged: string[] = [];
  const onMessage = (_: string, message: RpcMessage) => {
    if (message.kind === "notification") throw new TypeError("cannot read it");
  };
  const events = { onMessage, onClose: () => {}, onLog: (line: string) => void logged.push(line) };
  await using connection = await open(server, { events });
  server.handlers.set("tools/call", (_, link) => {
    link.tell("notifications/message", { level: "info" });
    const id = { toString: 0 };
    link.tell("notifications/x", { _meta: { "io.modelcontextprotocol/subscriptionId": id } });
    return "done";
  });
  assert.equal(textOfResult((await connection.call(call())).text), "done");
  assert.deepEqual(logged, Array(2).fill("Ignored an invalid message: cannot read it"));
});

Deno.test("Connection.call() explains a broken transport in the words it was given", async () => {
  const server = new FakeServer();
  server.silence("tools/call");
  const explain = (error: TransportClosed) => new Error(`explained: ${error.message}`);
  await using connection = await open(server, { explain });
  const calling = connection.call(call());
  server.links[0]?.close();
  await assert.rejects(calling, /explained: the wire broke/);
});

Deno.test("Connection.end() lets calls in flight finish, for a while", async () => {
  for (const [callMs, isDone] of [[60, true], [10_000, false]] as const) {
    const server = new FakeServer();
    const connection = await open(server);
    const timers: ReturnType<typeof setTimeout>[] = [];
    server.handlers.set(
      "tools/call",
      () => new Promise((resolve) => timers.push(setTimeout(resolve, callMs, "done"))),
    );
    const calling = connection.call(call()).then(() => true, () => false);
    await connection.end(200);
    assert.equal(await calling, isDone);
    assert.deepEqual(server.alive, []);
    timers.forEach(clearTimeout);
  }
});
