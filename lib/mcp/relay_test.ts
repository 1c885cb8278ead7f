import assert from "node:assert/strict";
import { toFileUrl } from "@std/path";
import type { ServerSpec } from "../core/server.ts";
import { FakeServer, pause, until } from "../servers/testing/fake_server.ts";
import { startManaged } from "../servers/testing/start_managed.ts";
import type { Timings } from "../servers/shared_connection.ts";
import { ConnectionState } from "./connection_state.ts";
import { Relay } from "./relay.ts";
import { GatewayError } from "../core/errors.ts";
import { TransportClosed } from "../servers/transports/transport.ts";

const SPEC: ServerSpec = { type: "http", url: "http://fake.example/", headers: {} };
const ENTRY = { name: "fake", spec: SPEC, source: { kind: "store" } } as const;

async function start(options: { maxOwn?: number; timings?: Partial<Timings> } = {}) {
  const server = new FakeServer();
  /** What came on which link, from the shared one (0) on. */
  const heard: string[] = [];
  const hear = (method: string, name: string) =>
    server.handlers.set(method, (params, link) => {
      heard.push(`${server.links.indexOf(link)} ${method} ${params[name]}`);
      return {};
    });
  hear("logging/setLevel", "level");
  hear("resources/subscribe", "uri");
  hear("resources/unsubscribe", "uri");
  hear("tools/call", "name");
  const managed = await startManaged(server, { server: ENTRY, ...options });

  function connect(capabilities: Record<string, unknown> = {}) {
    const pushed: string[] = [];
    /** Answer the server's questions, in the order they came in. */
    const answers: ((text: string) => void)[] = [];
    const relay = new Relay(
      managed,
      {
        principal: "anyone",
        profile: { protocolVersion: "2025-11-25", capabilities },
        push: (text) => void pushed.push(JSON.parse(text).method),
        ask(text, _, onAnswer) {
          answers.push(onAnswer);
          return text;
        },
      },
      () => {},
    );
    const request = async (
      method: string,
      params: Record<string, unknown>,
      { signal } = new AbortController(),
    ) => {
      const text = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const scope = { id: 1, method, params, text, signal, send: () => {} };
      return JSON.parse(await relay.call(scope, JSON.stringify(params)));
    };
    return {
      relay,
      pushed,
      answers,
      request,
      [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose](),
    };
  }

  return {
    server,
    managed,
    heard,
    connect,
    [Symbol.asyncDispose]: () => managed[Symbol.asyncDispose](),
  };
}

Deno.test("Relay asks for a client's log level and subscriptions again before a new connection is used", async () => {
  await using fake = await start();
  await using client = fake.connect();
  await client.request("logging/setLevel", { level: "info" });
  await client.request("logging/setLevel", { level: "debug" });
  await client.request("resources/subscribe", { uri: "a:1" });
  await client.request("resources/subscribe", { uri: "a:2" });
  await client.request("resources/unsubscribe", { uri: "a:1" });
  fake.heard.length = 0;
  fake.server.links[1]?.close();
  await client.request("tools/call", { name: "look" });
  assert.deepEqual(fake.heard, [
    "2 logging/setLevel debug",
    "2 resources/subscribe a:2",
    "2 tools/call look",
  ]);
});

Deno.test("Relay does not remember what the server refused", async () => {
  await using fake = await start();
  await using client = fake.connect({ roots: {} });
  fake.server.handlers.set("resources/subscribe", () => {
    throw new Error("no answer that counts");
  });
  await assert.rejects(client.request("resources/subscribe", { uri: "a:1" }));
  fake.server.links[1]?.close();
  fake.server.handlers.delete("resources/subscribe");
  await client.request("tools/call", { name: "look" });
  assert.ok(!fake.server.links[2]?.heard.includes("resources/subscribe"));
});

Deno.test("Relay wins a lost connection back by itself where its client waits for news", async () => {
  await using fake = await start();
  await using client = fake.connect();
  await client.request("resources/subscribe", { uri: "a:1" });
  fake.server.links[1]?.close();
  await until(() => fake.heard.length === 2);
  assert.equal(fake.heard[1], "2 resources/subscribe a:1");
  fake.server.links[2]?.tell("notifications/resources/updated", { uri: "a:1" });
  assert.deepEqual(client.pushed, ["notifications/resources/updated"]);
});

Deno.test("Relay wins a connection back when the server's entry has changed", async () => {
  await using fake = await start();
  await using client = fake.connect();
  await client.request("resources/subscribe", { uri: "a:1" });
  fake.managed.update({ ...ENTRY, spec: { ...SPEC, url: "http://other.example/" } });
  await until(() => fake.heard.length === 2);
  assert.match(fake.heard[1] ?? "", /resources\/subscribe a:1/);
  assert.equal(fake.server.alive.length, 2);
});

Deno.test("Relay withdraws a lost server's open questions, but not answered ones", async () => {
  await using fake = await start();
  await using client = fake.connect({ elicitation: {} });
  await client.request("tools/call", { name: "look" });
  for (const id of ["q", "r"]) fake.server.links[1]?.ask(id, "elicitation/create");
  client.answers[0]?.('{"jsonrpc":"2.0","id":"q","result":{"action":"decline"}}');
  fake.server.links[1]?.close();
  assert.deepEqual(client.pushed, [
    "elicitation/create",
    "elicitation/create",
    "notifications/cancelled",
  ]);
});

Deno.test("Relay asks with the call in flight, not with a list that was asked for later", async () => {
  await using fake = await start();
  for (const method of ["tools/call", "prompts/list"]) fake.server.silence(method);
  await using client = fake.connect({ elicitation: {} });
  const end = new AbortController();
  const sent: string[] = [];
  const calls = ["tools/call", "prompts/list"].map((method) => {
    const text = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: {} });
    const send = () => void sent.push(method);
    return client.relay.call({ id: 1, method, params: {}, text, signal: end.signal, send }, "{}");
  });
  const ended = Promise.allSettled(calls);
  await until(() => fake.server.links[1]?.heard.includes("prompts/list") === true);
  fake.server.links[1]?.ask("q", "elicitation/create");
  assert.deepEqual(sent, ["tools/call"]);
  end.abort();
  await ended;
});

Deno.test("Relay opens nothing for a client that waits for nothing, or is gone", async () => {
  await using fake = await start();
  await using plain = fake.connect({ roots: {} });
  await using gone = fake.connect();
  await plain.request("tools/call", { name: "look" });
  await gone.request("resources/subscribe", { uri: "a:1" });
  fake.server.links[1]?.close();
  fake.server.links[2]?.close();
  await gone.relay[Symbol.asyncDispose]();
  await pause(600);
  assert.equal(fake.server.links.length, 3);
});

Deno.test("Relay opens an evicted connection again with the client's next call", async () => {
  await using fake = await start({ maxOwn: 1 });
  await using first = fake.connect();
  await using second = fake.connect({ roots: {} });
  await first.request("logging/setLevel", { level: "debug" });
  await until(() => fake.server.links[1]?.heard.at(-1) === "tools/list");
  await second.request("tools/call", { name: "second" });
  await until(() => fake.server.links[2]?.heard.at(-1) === "tools/list");
  assert.equal(first.relay.hasOwn, false);
  await first.request("tools/call", { name: "first" });
  assert.deepEqual(fake.heard, [
    "1 logging/setLevel debug",
    "2 tools/call second",
    "3 logging/setLevel debug",
    "3 tools/call first",
  ]);
  assert.equal(second.relay.hasOwn, false);
  assert.equal(fake.server.alive.length, 2);
});

Deno.test("Relay keeps a connection with a subscription or an open question, and lets an idle one go", async () => {
  await using fake = await start({ timings: { ownIdle: 20 } });
  await using watching = fake.connect();
  await using asked = fake.connect({ elicitation: {} });
  await using idle = fake.connect({ roots: {} });
  await watching.request("resources/subscribe", { uri: "a:1" });
  // In mid-call, so that the connection cannot be idle before.
  fake.server.handlers.set("resources/read", (_, link) => {
    link.ask("q", "elicitation/create");
    return {};
  });
  await asked.request("resources/read", { uri: "a:1" });
  await idle.request("tools/call", { name: "look" });
  await until(() => !idle.relay.hasOwn);
  await pause(50);
  assert.ok(watching.relay.hasOwn && asked.relay.hasOwn);
  await idle.request("tools/call", { name: "again" });
  assert.equal(fake.heard.at(-1), "4 tools/call again");
});

Deno.test("Relay answers a question on the connection it was asked on, though its client has another by then", async () => {
  await using fake = await start();
  await using client = fake.connect({ elicitation: {} });
  const work = Promise.withResolvers<object>();
  let ask = () => {};
  fake.server.handlers.set("tools/call", ({ name }, _, { onMessage }) => {
    if (name !== "slow") return {};
    const question = {
      kind: "request",
      id: "q",
      method: "elicitation/create",
      params: {},
    } as const;
    ask = () => onMessage('{"jsonrpc":"2.0","id":"q","method":"elicitation/create"}', question);
    return work.promise;
  });
  const calling = client.request("tools/call", { name: "slow" });
  calling.catch(() => {});
  await until(() => fake.server.links[1]?.heard.includes("tools/call") === true);
  fake.managed.update({ ...ENTRY, spec: { ...SPEC, url: "http://other.example/" } });
  await until(() => !client.relay.hasOwn);
  await client.request("tools/call", { name: "quick" });
  const [, old, , fresh] = fake.server.links;
  assert.ok(old && fresh);
  assert.ok(fresh.heard.includes("tools/call"));
  // As a program asks, and as a server does on the call's own stream.
  old.ask("p", "elicitation/create");
  ask();
  fresh.ask("p", "elicitation/create");
  for (const [index, answer] of client.answers.entries()) answer(`answer ${index}`);
  await until(() => fresh.heard.at(-1) === "answer 2");
  assert.deepEqual(old.heard.slice(-2), ["answer 0", "answer 1"]);
  assert.ok(!fresh.heard.includes("answer 1"));
  work.resolve({});
  await calling;
});

Deno.test("Relay[Symbol.asyncDispose]() waits for no connection that is slow to open, and lets none be opened", async () => {
  await using fake = await start({ maxOwn: 1, timings: { start: 2_000 } });
  const client = fake.connect({ roots: {} });
  fake.server.silence("initialize");
  const isAborted = (error: unknown) => error instanceof Error && error.name === "AbortError";
  const calling = assert.rejects(client.request("tools/call", { name: "look" }), isAborted);
  await until(() => fake.server.links.length === 2);
  await client.relay[Symbol.asyncDispose]();
  await calling;
  assert.equal(fake.server.alive.length, 1);
  fake.server.handlers.delete("initialize");
  await using other = fake.connect({ roots: {} });
  await other.request("tools/call", { name: "look" });
  await until(() => fake.server.links[2]?.heard.at(-1) === "tools/list");
  await assert.rejects(client.request("tools/call", { name: "look" }), isAborted);
  assert.ok(other.relay.hasOwn, "nobody has to make room for a client that is gone");
  assert.equal(fake.server.links.length, 3);
});

Deno.test("Relay.call() ends with its client's signal while the connection is being opened", async () => {
  await using fake = await start({ timings: { start: 2_000 } });
  await using client = fake.connect({ roots: {} });
  fake.server.silence("initialize");
  const controller = new AbortController();
  const reason = new Error("enough");
  const calling = client.request("tools/call", { name: "look" }, controller);
  await until(() => fake.server.links.length === 2);
  controller.abort(reason);
  await assert.rejects(calling, reason);
});

const DONE = '{"jsonrpc":"2.0","id":1,"result":{}}';
const REFUSED = '{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"No such resource"}}';

/** What it asks of a connection that answers like this. */
async function restored(
  kept: ConnectionState,
  answer = () => Promise.resolve({ id: 1, text: DONE }),
) {
  const asked: string[] = [];
  await kept.restore({
    call({ method, params }) {
      asked.push(`${method} ${params}`);
      return answer();
    },
  });
  return asked;
}

function subscribe(kept: ConnectionState, uri: string, answer = DONE): void {
  const call = { method: "resources/subscribe", params: JSON.stringify({ uri }) };
  kept.asked(call);
  kept.answered(call, answer);
}

function setLevel(kept: ConnectionState, level: string, answer = DONE): void {
  kept.answered({ method: "logging/setLevel", params: JSON.stringify({ level }) }, answer);
}

function unsubscribe(kept: ConnectionState, uri: string): void {
  kept.asked({ method: "resources/unsubscribe", params: JSON.stringify({ uri }) });
}

Deno.test("KeptState.restore() asks for the last level and each subscription that is left", async () => {
  const kept = new ConnectionState();
  assert.ok(kept.isEmpty);
  setLevel(kept, "info");
  setLevel(kept, "error");
  setLevel(kept, "loud", REFUSED);
  assert.ok(!kept.isEmpty && !kept.hasSubscriptions);
  for (const uri of ["a:1", "a:2", "a:1"]) subscribe(kept, uri);
  subscribe(kept, "a:3", REFUSED);
  unsubscribe(kept, "a:2");
  assert.deepEqual(await restored(kept), [
    'logging/setLevel {"level":"error"}',
    'resources/subscribe {"uri":"a:1"}',
  ]);
});

Deno.test("KeptState.restore() fails where the connection does, and only there", async () => {
  const kept = new ConnectionState();
  subscribe(kept, "a:1");
  await restored(kept, () => Promise.resolve({ id: 1, text: REFUSED }));
  await restored(kept, () => Promise.reject(new GatewayError("TIMEOUT")));
  const cause = new TransportClosed("session", "forgotten");
  const lost = new GatewayError("SERVER_DISCONNECTED", { cause });
  await assert.rejects(restored(kept, () => Promise.reject(lost)), lost);
  await assert.rejects(restored(kept, () => Promise.reject(cause)), cause);
});

Deno.test("KeptState.asked() has a limit of subscriptions", () => {
  const kept = new ConnectionState(2);
  subscribe(kept, "a:1");
  subscribe(kept, "a:2");
  subscribe(kept, "a:2");
  assert.throws(
    () => subscribe(kept, "a:3"),
    /subscribe to at most 2 resources/,
  );
  unsubscribe(kept, "a:1");
  subscribe(kept, "a:3");
});

Deno.test("KeptState.restore() asks a few at a time, and no more once the connection is lost", async () => {
  const kept = new ConnectionState();
  for (let count = 0; count < 100; count++) subscribe(kept, `a:${count}`);
  let [open, most, answered] = [0, 0, 0];
  const asked = await restored(kept, async () => {
    most = Math.max(most, ++open);
    await Promise.resolve();
    open--;
    return { id: 1, text: DONE };
  });
  assert.equal(new Set(asked).size, 100);
  assert.equal(most, 20);
  const lost = new TransportClosed("lost", "gone");
  const refusing = restored(kept, async () => {
    const isLost = ++answered === 5;
    await Promise.resolve();
    if (isLost) throw lost;
    return { id: 1, text: DONE };
  });
  await assert.rejects(refusing, lost);
  assert.ok(answered < 50, `${answered}`);
});

Deno.test("Relay gives each client an instance of its own where the owner wants that", async () => {
  const fake = new FakeServer();
  const server = { ...ENTRY, spec: { ...SPEC, instance: "client" as const } };
  await using managed = await startManaged(fake, { server });
  const client = {
    principal: "anyone",
    profile: { protocolVersion: "2025-11-25", capabilities: {} },
    push: () => {},
    ask: (text: string) => text,
  };
  await using first = new Relay(managed, client);
  await using second = new Relay(managed, client);
  for (const relay of [first, second, first]) await relay.call(scopeOf("tools/call"), "{}");
  assert.equal(fake.alive.length, 3, "the shared one, and one for each");
});

Deno.test("Relay starts a client's instance in the folder of its first root", async () => {
  const fake = new FakeServer();
  const folders: unknown[] = [];
  const [root, other] = [await Deno.makeTempDir(), await Deno.makeTempDir()];
  const spec = { type: "stdio" as const, command: "x", args: [], env: {}, cwd: "/" };
  await using managed = await startManaged(fake, {
    server: { ...ENTRY, spec: { ...spec, instance: "root" } },
    openTransport(server, events) {
      folders.push("cwd" in server.spec ? server.spec.cwd : undefined);
      return fake.open(events);
    },
  });
  let roots = ["https://example.com/", "file:///not/there", toFileUrl(root).href];
  await using relay = new Relay(managed, {
    principal: "anyone",
    profile: { protocolVersion: "2025-11-25", capabilities: { roots: {} } },
    push: () => {},
    ask(text, id, onAnswer) {
      const result = { roots: roots.map((uri) => ({ uri })) };
      queueMicrotask(() => onAnswer(JSON.stringify({ jsonrpc: "2.0", id, result })));
      return text;
    },
  });
  await relay.call(scopeOf("tools/call"), "{}");
  await relay.call(scopeOf("tools/call"), "{}");
  assert.deepEqual(folders, ["/", root]);
  roots = [toFileUrl(other).href];
  relay.notify("notifications/roots/list_changed", "{}");
  await until(() => !relay.hasOwn);
  await relay.call(scopeOf("tools/call"), "{}");
  assert.deepEqual(folders, ["/", root, other]);
  for (const folder of [root, other]) await Deno.remove(folder);
});

Deno.test("Relay calls the instance in the folder that a stateless client's call is made from", async () => {
  const fake = new FakeServer();
  const folders: unknown[] = [];
  const [root, other] = [await Deno.makeTempDir(), await Deno.makeTempDir()];
  const spec = { type: "stdio" as const, command: "x", args: [], env: {}, cwd: "/" };
  await using managed = await startManaged(fake, {
    server: { ...ENTRY, spec: { ...spec, instance: "root" } },
    openTransport(server, events) {
      folders.push("cwd" in server.spec ? server.spec.cwd : undefined);
      return fake.open(events);
    },
  });
  const called: number[] = [];
  fake.handlers.set("tools/call", (_, link) => {
    called.push(fake.links.indexOf(link));
    return {};
  });
  let folder = root;
  await using relay = new Relay(managed, {
    principal: "anyone",
    profile: { protocolVersion: "2026-07-28", capabilities: { roots: {} } },
    push: () => {},
    ask(text, id, onAnswer) {
      const result = { roots: [{ uri: toFileUrl(folder).href }] };
      queueMicrotask(() => onAnswer(JSON.stringify({ jsonrpc: "2.0", id, result })));
      return text;
    },
  });
  for (folder of [root, other, root]) await relay.call(scopeOf("tools/call"), "{}");
  await relay.call(scopeOf("prompts/list"), "{}");
  assert.deepEqual(folders, ["/", root, other]);
  assert.deepEqual(called, [1, 2, 1]);
  assert.equal(fake.links[1]?.heard.at(-1), "prompts/list");
  assert.equal(relay.hasOwn, true);
  for (const folder of [root, other]) await Deno.remove(folder);
});

Deno.test("Relay does not guess which of several stateless calls a question belongs to", async () => {
  const fake = new FakeServer();
  fake.silence("tools/call");
  await using managed = await startManaged(fake, { server: ENTRY });
  await using relay = new Relay(managed, {
    principal: "anyone",
    profile: { protocolVersion: "2026-07-28", capabilities: { elicitation: {} } },
    push: () => {},
    ask: (text) => text,
  });
  const end = new AbortController();
  const sent: string[] = [];
  const call = () => {
    const send = (text: string) => void sent.push(text);
    const calling = relay.call({ ...scopeOf("tools/call"), signal: end.signal, send }, "{}");
    calling.catch(() => {});
  };
  const callsOn = (link: number) =>
    fake.links[link]?.heard.filter((method) => method === "tools/call").length;
  call();
  call();
  await until(() => callsOn(1) === 2);
  fake.links[1]?.ask("q", "elicitation/create");
  await until(() => fake.links[1]!.heard.some((text) => text.includes("several calls")));
  assert.equal(sent.length, 0);
  // Now it is known that the server's questions do not name their call.
  call();
  await until(() => callsOn(2) === 1);
  fake.links[2]?.ask("r", "elicitation/create");
  assert.equal(sent.length, 1);
  end.abort();
});

Deno.test("Relay asks another gateway's client during its request about a task, which ends with the relay", async () => {
  await using fake = await start();
  const { server, managed } = fake;
  server.handlers.set("tools/call", () => ({ task: { taskId: "7" } }));
  server.silence("tasks/result");
  await using client = fake.connect({ elicitation: {} });
  await client.request("tools/call", { name: "slow", task: {} });
  const passed = { server: "fake", principal: "anyone", taskId: "7", method: "tasks/result" };
  const end = new AbortController();
  const sent: string[] = [];
  const exchange = { signal: end.signal, send: (text: string) => void sent.push(text) };
  const params = JSON.stringify({ taskId: "7" });
  const calling = managed.taskOwners.answer({ ...passed, params }, exchange).catch(() => {});
  await until(() => server.links[1]!.heard.includes("tasks/result"));
  server.links[1]?.ask("q", "elicitation/create");
  await until(() => sent.length === 1);
  assert.deepEqual(client.answers, []);
  const { id: question, method } = JSON.parse(sent[0]!);
  assert.equal(method, "elicitation/create");
  const text = `{"jsonrpc":"2.0","id":"${question}","result":{"action":"accept"}}`;
  const answer = { server: "fake", question, text };
  managed.taskOwners.takeAnswer({ ...answer, principal: "somebody else" });
  managed.taskOwners.takeAnswer({ ...answer, principal: "anyone" });
  managed.taskOwners.takeAnswer({ ...answer, principal: "anyone" });
  const answers = () => server.links[1]!.heard.filter((text) => text.includes("accept"));
  await until(() => answers().length > 0);
  assert.deepEqual(answers(), ['{"jsonrpc":"2.0","id":"q","result":{"action":"accept"}}']);
  end.abort();
  await calling;
  await client.relay[Symbol.asyncDispose]();
  await assert.rejects(managed.taskOwners.answer({ ...passed, params }, exchange), /has stopped/);
});

function scopeOf(method: string) {
  const { signal } = new AbortController();
  return { id: 1, method, params: {}, text: "", signal, send: () => {} };
}

Deno.test("Relay has a client that offers only extensions use its own connection, which offers them", async () => {
  await using fake = await start();
  const offered: unknown[] = [];
  fake.server.handlers.set("initialize", ({ capabilities }) => {
    offered.push(capabilities);
    return {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "fake" },
    };
  });
  const extensions = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html"] } };
  await using app = fake.connect({ extensions });
  await app.request("tools/call", { name: "show" });
  await using plain = fake.connect({ extensions: {} });
  await plain.request("tools/call", { name: "look" });
  assert.deepEqual(offered, [{ extensions }]);
  assert.deepEqual(fake.heard, ["1 tools/call show", "0 tools/call look"]);
});

Deno.test("Relay keeps a caller from the tasks of others on a connection that all share", async () => {
  const fake = new FakeServer();
  fake.handlers.set("server/discover", () => ({
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {} },
  }));
  fake.handlers.set("tools/call", () => ({ resultType: "task", taskId: "7" }));
  fake.handlers.set("tasks/get", ({ taskId }) => ({ taskId, status: "working" }));
  fake.handlers.set("tasks/list", () => ({ tasks: [{ taskId: "7" }] }));
  await using managed = await startManaged(fake, { server: ENTRY });
  assert.equal(managed.isStateless, true);
  const requestAs = async (principal: string, method: string, params = {}) => {
    await using relay = new Relay(managed, {
      principal,
      profile: { protocolVersion: "2026-07-28", capabilities: {} },
      push: () => {},
      ask: (text) => text,
    });
    const scope = { ...scopeOf(method), params };
    return JSON.parse(await relay.call(scope, JSON.stringify(params)));
  };
  await requestAs("token:ann", "tools/call", { name: "slow" });
  const about = { taskId: "7" };
  assert.equal((await requestAs("token:ann", "tasks/get", about)).result.status, "working");
  const [link] = fake.links;
  const asked = link!.heard.length;
  assert.deepEqual((await requestAs("token:bob", "tasks/get", about)).error, {
    code: -32602,
    message: 'Task "7" not found',
  });
  assert.equal(link!.heard.length, asked);
  assert.deepEqual((await requestAs("token:bob", "tasks/list")).result.tasks, []);
  assert.deepEqual((await requestAs("token:ann", "tasks/list")).result.tasks, [about]);
});
