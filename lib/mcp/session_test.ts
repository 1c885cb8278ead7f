import type { MessageId } from "../core/rpc.ts";
import assert from "node:assert/strict";
import { mock } from "node:test";
import { GatewayError } from "../core/errors.ts";
import { FakeServer } from "../servers/testing/fake_server.ts";
import { startManaged } from "../servers/testing/start_managed.ts";
import { Relay } from "./relay.ts";
import type { Client } from "../core/client.ts";
import type { View } from "./view.ts";
import { parseEventId } from "./event_stream.ts";
import { Session } from "./session.ts";

const view: View = {
  introduce: () => Promise.resolve({}),
  open: () => ({
    request: () => Promise.resolve({ text: "" }),
    notify: () => {},
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }),
};

function open(): Session {
  const profile = { protocolVersion: "2025-11-25", capabilities: {} };
  return new Session({ id: "id", endpoint: "mcp?", principal: "anyone", profile }, view);
}

Deno.test("Session.ask() gives two servers' equal ids different ones, and routes each answer back", () => {
  const session = open();
  const answers: string[] = [];
  const question = '{"jsonrpc":"2.0","id":7,"method":"roots/list"}';
  const first = JSON.parse(session.ask(question, 7, (text) => answers.push(`a ${text}`)));
  const second = JSON.parse(session.ask(question, 7, (text) => answers.push(`b ${text}`)));
  assert.notEqual(first.id, second.id);
  const answer = (id: MessageId, result: object) =>
    session.answer(id, JSON.stringify({ jsonrpc: "2.0", id, result }));
  assert.equal(answer(second.id, { roots: [] }), true);
  assert.equal(answer(second.id, { again: 1 }), false);
  assert.equal(answer(999, {}), false);
  assert.deepEqual(answers, ['b {"jsonrpc":"2.0","id":7,"result":{"roots":[]}}']);
});

Deno.test("Session.ask() gives ids that no other instance of the same session gives", () => {
  const question = '{"jsonrpc":"2.0","id":1,"method":"roots/list"}';
  const ids = [open(), open()].flatMap((session) =>
    [1, 2, 3].map(() => JSON.parse(session.ask(question, 1, () => {})).id)
  );
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) assert.match(id, /^[0-9a-f-]{36}$/);
});

Deno.test("Session.cancel() tells the number 1 from the text 1", () => {
  const session = open();
  const [number, text] = [new AbortController(), new AbortController()];
  session.inFlight.set(1, number);
  session.inFlight.set("1", text);
  session.cancel("1", "enough");
  assert.equal(number.signal.aborted, false);
  assert.equal(text.signal.aborted, true);
});

Deno.test("Session.openStream() forgets streams of ended requests in the end", () => {
  const session = open();
  const first = session.openStream();
  first.finish();
  for (let count = 0; count < 50; count++) session.openStream().finish();
  assert.equal(session.findStream(first.id), undefined);
  assert.ok(session.findStream(51));
});

Deno.test("Session.openStream() keeps a large result for seconds only, a small one for longer", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const session = open();
  const [small, large] = [session.openStream(), session.openStream()];
  small.send("x".repeat(1_000));
  large.send("x".repeat(1_000_000));
  small.finish();
  large.finish();
  assert.ok(session.findStream(large.id), "a client that lost the response comes back");
  mock.timers.tick(5_000);
  mock.timers.reset();
  assert.equal(session.findStream(large.id), undefined);
  assert.ok(session.findStream(small.id));
});

const ANN = "oauth:ann#1";

/** A session of Ann's, with the ports of what it has open, and whose of these were closed. */
function openAnns() {
  const ports = new Map<string, Client>();
  const closed: string[] = [];
  const profile = { protocolVersion: "2025-06-18", capabilities: {} };
  const session = new Session({ id: "id", endpoint: "mcp?", principal: ANN, profile }, {
    introduce: () => Promise.resolve({}),
    open(client) {
      ports.set(client.principal, client);
      return {
        request: () => Promise.resolve({ text: "" }),
        notify: () => {},
        [Symbol.asyncDispose]: () => Promise.resolve(void closed.push(client.principal)),
      };
    },
  });
  return { session, ports, closed };
}

Deno.test("Session.viewAs() says nothing to a listener that came with a token of other rights", async () => {
  const { session, ports } = openAnns();
  for (const other of ["oauth:ann#2", "oauth:ann#2@web", `${ANN}@web`]) session.viewAs(other);
  const heard = new Response(session.common.attach()).text();
  for (const [principal, client] of ports) client.push(`"for ${principal}"`);
  await session[Symbol.asyncDispose]();
  const said = (await heard).match(/(?<=^data: ).*$/gm);
  assert.deepEqual(said, [`"for ${ANN}"`, `"for ${ANN}@web"`]);
});

Deno.test("Session.viewAs() has a question withdrawn that was asked there, though there are others of the same id", async () => {
  const server = new FakeServer();
  await using managed = await startManaged(server);
  const profile = { protocolVersion: "2025-06-18", capabilities: { elicitation: {} } };
  const session = new Session({ id: "id", endpoint: "mcp?", principal: ANN, profile }, {
    introduce: () => Promise.resolve({}),
    open(client) {
      const relay = new Relay(managed, client);
      return {
        async request(request) {
          return { text: await relay.call(request, "{}") };
        },
        notify: () => {},
        [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose](),
      };
    },
  });
  const heard = new Response(session.common.attach()).text();
  const { signal } = new AbortController();
  const request = { id: 1, method: "tools/call", params: {}, text: "{}", signal, send: () => {} };
  await session.view.request(request);
  await session.viewAs(`${ANN}@web`).request(request);
  const [, first, second] = server.links;
  for (const link of [first, second]) link?.ask("q", "elicitation/create");
  first?.tell("notifications/cancelled", { requestId: "q" });
  second?.tell("notifications/cancelled", { requestId: "q" });
  first?.tell("notifications/cancelled", { requestId: "q" });
  await session[Symbol.asyncDispose]();
  const said = (await heard).match(/(?<=^data: ).*$/gm)?.map((text) => JSON.parse(text));
  const [one, two, ...withdrawn] = said ?? [];
  assert.notEqual(one.id, two.id);
  assert.deepEqual(withdrawn.map(({ params }) => params.requestId), [one.id, two.id]);
});

Deno.test("Session.resume() gives a request's stream to the token that it was made with alone", async () => {
  const { session } = openAnns();
  const stream = session.openStream("oauth:ann#2");
  const body = stream.attach();
  stream.send('"answer"');
  stream.finish();
  const [id = ""] = (await new Response(body).text()).match(/(?<=^id: ).*$/m) ?? [];
  const seen = { ...parseEventId(id)!, event: 0 };
  assert.equal(session.resume(seen), undefined);
  assert.equal(session.resume(seen, "oauth:ann#3"), undefined);
  assert.match(await new Response(session.resume(seen, "oauth:ann#2")).text(), /"answer"/);
  const common = { ...seen, stream: 0 };
  assert.equal(session.resume(common, "oauth:ann#2"), undefined);
  assert.equal(session.resume({ ...common, life: "00000000" }, "oauth:ann#2"), undefined);
  assert.ok(session.resume(common, ANN));
});

Deno.test("Session.release() ends the streams of tokens that have ended, and keeps what comes for a later one", async () => {
  const { session } = openAnns();
  const calls = [session.openStream(), session.openStream("oauth:ann#2")];
  const left: number[] = [];
  for (const stream of calls) stream.onDetach = () => left.push(stream.id);
  const [own, other] = calls.map((stream) => new Response(stream.attach()).text());
  const listening = new Response(session.common.attach()).text();
  await session.release((principal) => principal === ANN);
  assert.equal(await listening, "");
  assert.equal(await own, "");
  assert.deepEqual(left, [calls[0]!.id]);
  assert.ok(calls[1]!.isAttached);
  session.push('"later"');
  const again = new Response(session.common.attach()).text();
  await session[Symbol.asyncDispose]();
  assert.match(await again, /"later"/);
  await other;
});

Deno.test("Session.release() makes room for other tokens where those before have ended", async () => {
  const { session, closed } = openAnns();
  const others = Array.from({ length: 8 }, (_, index) => `oauth:ann#${index + 2}`);
  for (const other of others) session.viewAs(other);
  const isFull = (error: unknown) =>
    error instanceof GatewayError && /8 projects or tokens/.test(error.message);
  assert.throws(() => session.viewAs("oauth:ann#99"), isFull);
  await session.release((principal) => others.slice(0, 2).includes(principal));
  assert.deepEqual(closed, others.slice(0, 2));
  for (const other of [others[2]!, "oauth:ann#98", "oauth:ann#99"]) session.viewAs(other);
  assert.throws(() => session.viewAs(others[0]!), isFull);
});
