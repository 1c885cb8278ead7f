import assert from "node:assert/strict";
import pino from "pino";
import { TimeoutQueue } from "../core/async.ts";
import { memberText, requestText } from "../core/rpc.ts";
import { FakeServer, until } from "../servers/testing/fake_server.ts";
import { startManaged } from "../servers/testing/start_managed.ts";
import { handleMcp } from "./endpoint.ts";
import type { EndpointHost } from "./endpoint_host.ts";
import { EnvelopeReader } from "./envelope.ts";
import { HeldCalls } from "./held_calls.ts";
import { Relay } from "./relay.ts";
import { Sessions } from "./session.ts";
import type { View } from "./view.ts";

const KEY = "io.modelcontextprotocol";
const CAPABILITIES = { elicitation: { form: {} }, roots: {} };

/**
 * An older server behind an endpoint, for clients of 2026-07-28 with the same token, name, version and
 * capabilities, which the gateway cannot tell apart.
 */
async function openAlike() {
  await using stack = new AsyncDisposableStack();
  const fake = new FakeServer();
  const server = stack.use(await startManaged(fake));
  /** Keyed by tool name: the open call's link, and how to answer it. */
  const open = new Map<unknown, { token: unknown; answer(): void }>();
  fake.handlers.set("tools/call", ({ name, _meta }) => {
    const token = (_meta as Record<string, unknown> | undefined)?.progressToken;
    return new Promise((resolve) => open.set(name, { token, answer: () => resolve({ of: name }) }));
  });
  const view: View = {
    introduce: () =>
      Promise.resolve({ capabilities: { resources: { subscribe: true } }, serverInfo: {} }),
    open(client) {
      const relay = new Relay(server, client);
      return {
        request: async (request) => ({
          text: await relay.call(request, memberText(request.text, "params")),
        }),
        notify() {},
        [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose](),
      };
    },
  };
  const records = {
    save: () => Promise.resolve(),
    find: () => Promise.resolve(undefined),
    delete: () => Promise.resolve(),
  };
  const sessions = stack.use(new Sessions({ records, onWarning: assert.fail }));
  const host: EndpointHost = {
    sessions,
    held: stack.use(new HeldCalls()),
    envelopes: new EnvelopeReader(),
    maxBody: 100_000,
    log: pino({ enabled: false }),
    patience: stack.use(new TimeoutQueue(50)),
    onAnswered() {},
    switchProject: (principal) => principal,
  };
  /** All messages of a response, as they arrive. */
  function send(
    method: string,
    params: Record<string, unknown>,
    meta: object = {},
    principal = "token:ann",
  ) {
    const _meta = {
      [`${KEY}/protocolVersion`]: "2026-07-28",
      [`${KEY}/clientInfo`]: { name: "c", version: "1" },
      [`${KEY}/clientCapabilities`]: CAPABILITIES,
      ...meta,
    };
    const headers = new Headers({
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof params.name === "string" ? { "mcp-name": params.name } : {}),
    });
    const body = requestText(1, method, JSON.stringify({ ...params, _meta }));
    const request = new Request("http://localhost/mcp", { method: "POST", headers, body });
    const endpoint = { key: "mcp?", view };
    const heard: string[] = [];
    const reading = handleMcp(host, { endpoint, request, principal })
      .then(async (response) => {
        for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
          heard.push(...text.match(/\{"jsonrpc".*/g) ?? []);
        }
      });
    return { heard, over: reading, say: () => heard.join("\n") };
  }
  const call = (name: string, meta: object = {}, principal?: string) =>
    send("tools/call", { name }, meta, principal);
  const called = (name: string) => until(() => open.has(name));
  const parts = stack.move();
  return {
    fake,
    server,
    sessions,
    send,
    call,
    called,
    open,
    /** The connection that these clients share. */
    link: () => fake.links.at(-1)!,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

Deno.test("identical clients share a session, but not progress, log messages or results", async () => {
  await using alike = await openAlike();
  const meta = { progressToken: "same", [`${KEY}/logLevel`]: "debug" };
  const one = alike.call("one", meta);
  await alike.called("one");
  const two = alike.call("two", meta);
  await alike.called("two");
  assert.equal(alike.sessions.size, 1);
  for (const name of ["one", "two"]) {
    const progressToken = alike.open.get(name)!.token;
    alike.link().tell("notifications/progress", { progressToken, progress: 1, message: name });
  }
  alike.link().tell("notifications/message", { level: "error", data: "of whose call?" });
  await until(() => one.heard.length > 0 && two.heard.length > 0);
  for (const name of ["one", "two"]) alike.open.get(name)!.answer();
  await Promise.all([one.over, two.over]);
  assert.match(one.say(), /"message":"one"[^]*"of":"one"/);
  assert.doesNotMatch(one.say(), /two|of whose call/);
  assert.match(two.say(), /"message":"two"[^]*"of":"two"/);
  assert.doesNotMatch(two.say(), /one|of whose call/);
  assert.match(JSON.stringify(alike.server.log.last()), /of whose call/);
});

Deno.test("clients with different tokens share no session, even if their envelopes are the same text", async () => {
  await using alike = await openAlike();
  // Ann's second call comes when her envelope is known, and Bob's when it is known from hers.
  for (const [name, principal] of [["1", "token:ann"], ["2", "token:ann"], ["3", "token:bob"]]) {
    const { over, say } = alike.call(name!, {}, principal);
    await alike.called(name!);
    alike.open.get(name)!.answer();
    await over;
    assert.match(say(), new RegExp(`"of":"${name}"`));
  }
  const principals = alike.sessions.list().map(({ principal }) => principal);
  assert.deepEqual(principals, ["token:ann", "token:bob"]);
  assert.equal(alike.fake.alive.length, 3, "the shared connection, and one for each");
});

Deno.test("identical clients hear only of the resources that each subscribed to", async () => {
  await using alike = await openAlike();
  const listen = (uri: string) =>
    alike.send("subscriptions/listen", { notifications: { resourceSubscriptions: [uri] } });
  const [one, two] = [listen("a:1"), listen("a:2")];
  await until(() => /acknowledged/.test(one.say()) && /acknowledged/.test(two.say()));
  for (const uri of ["a:1", "a:2"]) alike.link().tell("notifications/resources/updated", { uri });
  await until(() => /"uri":"a:1"/.test(one.say()) && /"uri":"a:2"/.test(two.say()));
  assert.doesNotMatch(one.say(), /updated[^]*a:2/);
  assert.doesNotMatch(two.say(), /updated[^]*a:1/);
  const [session] = alike.sessions.list();
  await alike.sessions.end(session!);
  await Promise.all([one.over, two.over]);
});

Deno.test("identical clients are not asked questions that may be about the other's call", async () => {
  await using alike = await openAlike();
  const one = alike.call("one");
  await alike.called("one");
  const two = alike.call("two");
  await alike.called("two");
  alike.link().ask("q", "elicitation/create");
  await until(() =>
    alike.link().heard.some((text) => text.includes("several calls are in flight"))
  );
  for (const name of ["one", "two"]) alike.open.get(name)!.answer();
  await Promise.all([one.over, two.over]);
  assert.doesNotMatch(one.say() + two.say(), /input_required/);
});
