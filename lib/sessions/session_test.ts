import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { FakeServer } from "../downstream/testing/fake_server.ts";
import { startManaged } from "../downstream/testing/start_managed.ts";
import { Relay } from "../surfaces/relay.ts";
import type { ClientPort, Surface } from "../surfaces/surface.ts";
import { parseEventId } from "./event_stream.ts";
import { Session } from "./session.ts";

const surface: Surface = {
  introduce: () => Promise.resolve({}),
  open: () => ({
    request: () => Promise.resolve(""),
    notify: () => {},
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }),
};

function open(): Session {
  const client = { protocolVersion: "2025-11-25", capabilities: {} };
  return new Session({ id: "id", door: "door", principal: "anyone", client }, surface);
}

Deno.test("Session.ask() gives two servers' equal ids different ones, and routes each answer back", () => {
  const session = open();
  const answers: string[] = [];
  const question = '{"jsonrpc":"2.0","id":7,"method":"roots/list"}';
  const first = JSON.parse(session.ask(question, 7, (text) => answers.push(`a ${text}`)));
  const second = JSON.parse(session.ask(question, 7, (text) => answers.push(`b ${text}`)));
  assert.notEqual(first.id, second.id);
  session.answer(second.id, `{"jsonrpc":"2.0","id":${second.id},"result":{"roots":[]}}`);
  session.answer(second.id, `{"jsonrpc":"2.0","id":${second.id},"result":{"again":1}}`);
  session.answer(999, '{"jsonrpc":"2.0","id":999,"result":{}}');
  assert.deepEqual(answers, ['b {"jsonrpc":"2.0","id":7,"result":{"roots":[]}}']);
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

const ANN = "oauth:ann#1";

/** A session of Ann's, with the ports of what it has open, and whose of these were closed. */
function openAnns() {
  const ports = new Map<string, ClientPort>();
  const closed: string[] = [];
  const client = { protocolVersion: "2025-06-18", capabilities: {} };
  const session = new Session({ id: "id", door: "door", principal: ANN, client }, {
    introduce: () => Promise.resolve({}),
    open(port) {
      ports.set(port.principal, port);
      return {
        request: () => Promise.resolve(""),
        notify: () => {},
        [Symbol.asyncDispose]: () => Promise.resolve(void closed.push(port.principal)),
      };
    },
  });
  return { session, ports, closed };
}

Deno.test("Session.surfaceAs() says nothing to a listener that came with a token of other rights", async () => {
  const { session, ports } = openAnns();
  for (const other of ["oauth:ann#2", "oauth:ann#2@web", `${ANN}@web`]) session.surfaceAs(other);
  const heard = new Response(session.common.attach()).text();
  for (const [principal, port] of ports) port.push(`"for ${principal}"`);
  await session[Symbol.asyncDispose]();
  const said = (await heard).match(/(?<=^data: ).*$/gm);
  assert.deepEqual(said, [`"for ${ANN}"`, `"for ${ANN}@web"`]);
});

Deno.test("Session.surfaceAs() has a question withdrawn that was asked there, though there are others of the same id", async () => {
  const server = new FakeServer();
  await using managed = await startManaged(server);
  const client = { protocolVersion: "2025-06-18", capabilities: { elicitation: {} } };
  const session = new Session({ id: "id", door: "door", principal: ANN, client }, {
    introduce: () => Promise.resolve({}),
    open(port) {
      const relay = new Relay(managed, port);
      return {
        request: (scope) => relay.call(scope, scope.method, "{}"),
        notify: () => {},
        [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose](),
      };
    },
  });
  const heard = new Response(session.common.attach()).text();
  const { signal } = new AbortController();
  const scope = { id: 1, method: "tools/call", params: {}, text: "{}", signal, send: () => {} };
  await session.surface.request(scope);
  await session.surfaceAs(`${ANN}@web`).request(scope);
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
  for (const other of others) session.surfaceAs(other);
  const isFull = (error: unknown) =>
    error instanceof GatewayError && /8 projects and tokens of other rights/.test(error.message);
  assert.throws(() => session.surfaceAs("oauth:ann#99"), isFull);
  await session.release((principal) => others.slice(0, 2).includes(principal));
  assert.deepEqual(closed, others.slice(0, 2));
  for (const other of [others[2]!, "oauth:ann#98", "oauth:ann#99"]) session.surfaceAs(other);
  assert.throws(() => session.surfaceAs(others[0]!), isFull);
});
