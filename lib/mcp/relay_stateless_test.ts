import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { fromFileUrl } from "@std/path";
import { TEST_LOCK } from "../../tests/packages.ts";
import type { Client, McpRequest } from "../core/client.ts";
import { memberText } from "../core/rpc.ts";
import { ManagedServer } from "../servers/server.ts";
import { silentLog, until } from "../servers/testing/fake_server.ts";
import { serveStateless } from "../servers/testing/stateless_server.ts";
import { FallbackTransport } from "../servers/transports/http.ts";
import { StdioTransport } from "../servers/transports/stdio.ts";
import { ownerOf } from "../servers/transports/testing/transport_harness.ts";
import type { TransportEvents } from "../servers/transports/transport.ts";
import { Relay } from "./relay.ts";

type Answers = Record<string, (params: Record<string, unknown>) => object>;

/** A client that began a session, with its relay to the server. */
function connect(
  server: ManagedServer,
  answers: Answers = {},
  capabilities: object = ALL,
  { protocolVersion = "2025-11-25", deferral }: {
    protocolVersion?: string;
    deferral?: McpRequest["deferral"];
  } = {},
) {
  const pushed: string[] = [];
  const asked: string[] = [];
  const waiting = new Map<string, (text: string) => void>();
  const client: Client = {
    principal: "anyone",
    profile: { protocolVersion, capabilities: { ...capabilities } },
    push: (text) => void pushed.push(text),
    ask(text, id, onAnswer) {
      const own = crypto.randomUUID();
      waiting.set(
        own,
        (result) => onAnswer(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${result}}`),
      );
      return JSON.stringify({ ...JSON.parse(text), id: own });
    },
  };
  const relay = new Relay(server, client);
  async function request(method: string, params: Record<string, unknown>, signal?: AbortSignal) {
    const sent: string[] = [];
    const send = (text: string) => {
      sent.push(text);
      const message = JSON.parse(text);
      const answer = waiting.get(message.id);
      if (!answer) return;
      asked.push(message.method);
      const reply = answers[message.method]?.(message.params ?? {});
      if (reply) answer(JSON.stringify(reply).slice(1, -1));
    };
    const scope = {
      id: "r1",
      method,
      params,
      text: "",
      signal: signal ?? new AbortController().signal,
      deferral,
      send,
    };
    const text = await relay.call(scope, JSON.stringify(params));
    const { id, result, error } = JSON.parse(text);
    assert.equal(id, "r1");
    return { result, error, sent };
  }
  return {
    pushed,
    asked,
    request,
    callTool: (name: string, more: object = {}) => request("tools/call", { name, ...more }),
    [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose](),
  };
}

const ALL = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

function manage(openTransport: (events: TransportEvents) => unknown): ManagedServer {
  const server = new ManagedServer({
    server: {
      name: "test",
      spec: { type: "http", url: "http://unused.example/", headers: {} },
      source: { kind: "store" },
    },
    log: silentLog(),
    openTransport: (_, events) => openTransport(events) as FallbackTransport,
    onStatus: () => {},
    knownTools: () => Promise.resolve([]),
    onTools: (_, tools) => Promise.resolve(tools.length),
  });
  server.start();
  return server;
}

/** The same with the server over HTTP and as a program. */
function overBoth(name: string, run: (server: ManagedServer) => Promise<void>): void {
  Deno.test(`${name}, over HTTP`, async () => {
    await using http = serveStateless();
    const options = { url: http.url, headers: {}, serverName: "test" };
    await using server = manage((events) => new FallbackTransport(options, events));
    await run(server);
    assert.ok(!http.methods.includes("notifications/cancelled"));
  });
  Deno.test(`${name}, over stdio`, async () => {
    const path = fromFileUrl(new URL("../servers/testing/stateless_server.ts", import.meta.url));
    const program = {
      name: "test",
      command: Deno.execPath(),
      args: ["run", "-A", "-q", "--lock", TEST_LOCK, path],
      env: {},
      baseEnv: Deno.env.toObject(),
      owner: ownerOf(crypto.randomUUID()),
    };
    await using server = manage((events) => StdioTransport.open(program, events));
    await run(server);
  });
}

overBoth(
  "Relay asks a client with a session what a stateless server wants to know",
  async (server) => {
    await using client = connect(server, {
      "elicitation/create": ({ mode }) =>
        mode === "url"
          ? { result: { action: "accept" } }
          : { result: { action: "accept", content: { color: "blue" } } },
      "roots/list": () => ({ result: { roots: [{ uri: "file:///a" }] } }),
      "sampling/createMessage": () => ({
        result: { model: "m", role: "assistant", content: { type: "text", text: "Hi" } },
      }),
    });
    const { result } = await client.callTool("ask");
    assert.equal(result.content[0].text, 'blue, state "1"');
    const all = await client.callTool("ask-all");
    const answers = JSON.parse(all.result.content[0].text);
    assert.deepEqual(answers.roots, { roots: [{ uri: "file:///a" }] });
    assert.equal(answers.page.action, "accept");
    assert.equal(answers.model.content.text, "Hi");
    const page = all.sent.map((text) => JSON.parse(text)).find(({ params }) =>
      params?.mode === "url"
    );
    assert.match(page.params.elicitationId, /^[0-9a-f-]{36}$/);
    const refusing = connect(server, {
      "elicitation/create": () => ({ error: { code: -1, message: "The user left" } }),
    });
    assert.deepEqual((await refusing.callTool("ask")).error, {
      code: -1,
      message: "The user left",
    });
    const { error } = await client.callTool("ask-forever");
    assert.match(error.message, /still requires input for tools\/call after 10 rounds/);
  },
);

overBoth("Relay tells a client which capability a stateless server requires", async (server) => {
  await using client = connect(server, {}, {});
  const { error } = await client.callTool("ask");
  assert.equal(error.code, -32021);
  assert.deepEqual(client.asked, []);
});

overBoth(
  "Relay asks the client of a task, but leaves other questions to the client",
  async (server) => {
    const answers: Answers = {
      "elicitation/create": () => ({ result: { action: "accept", content: { color: "blue" } } }),
    };
    const protocolVersion = "2026-07-28";
    for (const isDeferred of [false, true]) {
      const deferral = { isDeferred, forbid: assert.fail, note: assert.fail };
      await using client = connect(server, answers, ALL, { protocolVersion, deferral });
      const { result } = await client.callTool("ask");
      assert.equal(result.resultType, isDeferred ? "complete" : "input_required");
      assert.deepEqual(client.asked, isDeferred ? ["elicitation/create"] : []);
    }
  },
);

Deno.test("Relay needs few streams for many subscriptions, and leaves no listeners behind", async () => {
  await using http = serveStateless();
  const options = { url: http.url, headers: {}, serverName: "test" };
  await using server = manage((events) => new FallbackTransport(options, events));
  const { over } = await server.connection();
  await until(() => http.methods.includes("subscriptions/listen"));
  await using client = connect(server);
  const before = getEventListeners(over, "abort").length;
  const subscribe = (uri: string) => client.request("resources/subscribe", { uri });
  const uris = Array.from({ length: 50 }, (_, nth) => `test://${nth}`);
  const answers = await Promise.all([...uris, "test://notes"].map(subscribe));
  for (const { result } of answers) assert.deepEqual(result, {});
  const listens = () => http.methods.filter((method) => method === "subscriptions/listen").length;
  assert.ok(listens() <= 3, `${listens()} streams`);
  for (const uri of uris.slice(0, 5)) await client.request("resources/unsubscribe", { uri });
  await client.callTool("touch");
  await until(() => client.pushed.some((text) => text.includes("test://notes")));
  await until(() => getEventListeners(over, "abort").length <= before + 2);
});

overBoth("Relay withdraws a question whose call was cancelled", async (server) => {
  await using client = connect(server);
  const stop = new AbortController();
  const calling = client.request("tools/call", { name: "ask" }, stop.signal);
  await until(() => client.asked.length === 1);
  stop.abort(new Error("gone"));
  await assert.rejects(calling, /gone/);
  assert.match(client.pushed.join(), /notifications\/cancelled/);
});

overBoth(
  "Relay passes on progress, log messages and cancellation of a stateless server",
  async (server) => {
    await using client = connect(server);
    const { sent } = await client.callTool("count", { _meta: { progressToken: "t" } });
    assert.equal(sent.filter((text) => text.includes('"progressToken":"t"')).length, 3);
    await until(() => sent.some((text) => text.includes('"counted"')));
    assert.deepEqual((await client.request("logging/setLevel", { level: "error" })).result, {});
    const quiet = await client.callTool("count");
    assert.deepEqual(quiet.sent, []);
    const stop = new AbortController();
    const calling = client.request("tools/call", { name: "wait" }, stop.signal);
    calling.catch(() => {});
    await client.callTool("echo");
    stop.abort(new Error("gone"));
    await assert.rejects(calling, /gone/);
    for (let tries = 0;; tries++) {
      assert.ok(tries < 1_000, "the server was not told");
      const { result } = await client.callTool("cancelled");
      if (result.content[0].text === "1") break;
    }
  },
);

overBoth(
  "Relay keeps a client's subscriptions to resources of a stateless server",
  async (server) => {
    await using client = connect(server);
    const uri = "test://notes";
    assert.deepEqual((await client.request("resources/subscribe", { uri })).result, {});
    await client.callTool("touch");
    await until(() => client.pushed.some((text) => text.includes("resources/updated")));
    assert.equal(memberText(client.pushed.at(-1)!, "params"), `{"uri":"${uri}"}`);
    assert.deepEqual((await client.request("resources/unsubscribe", { uri })).result, {});
    client.pushed.length = 0;
    await client.callTool("touch");
    await client.callTool("echo");
    assert.deepEqual(client.pushed, []);
  },
);
