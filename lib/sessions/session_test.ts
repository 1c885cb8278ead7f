import assert from "node:assert/strict";
import type { Surface } from "../surfaces/surface.ts";
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
  assert.equal(session.askedAs(7), first.id);
});

Deno.test("Session.cancel() tells the number 1 from the text 1", () => {
  const session = open();
  const [number, text] = [new AbortController(), new AbortController()];
  session.inFlight.set(JSON.stringify(1), number);
  session.inFlight.set(JSON.stringify("1"), text);
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
