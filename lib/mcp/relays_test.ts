import assert from "node:assert/strict";
import { notificationText, requestText } from "../core/rpc.ts";
import { ManagedServer } from "../servers/server.ts";
import { FakeServer, until } from "../servers/testing/fake_server.ts";
import { startManaged } from "../servers/testing/start_managed.ts";
import { ClientRelays } from "./relays.ts";
import type { Client, McpRequest } from "../core/client.ts";

const PROGRESS = "notifications/progress";
const ROOTS = "notifications/roots/list_changed";

async function startServer(name: string) {
  const fake = new FakeServer();
  const managed = await startManaged(fake, { name });
  return { fake, managed, [Symbol.asyncDispose]: () => managed[Symbol.asyncDispose]() };
}

function scopeOf(signal = new AbortController().signal): McpRequest {
  return { id: 1, method: "tools/call", params: {}, text: "{}", signal, send: () => {} };
}

/** The lines of a client that can be asked, and its answers to what it is asked. */
function openLines(known: Map<string, ManagedServer>) {
  const answers: ((text: string) => void)[] = [];
  const pushed: string[] = [];
  const client: Client = {
    profile: { protocolVersion: "2025-11-25", capabilities: { elicitation: {}, roots: {} } },
    principal: "Ada",
    push: (text) => void pushed.push(JSON.parse(text).method),
    ask(text, _, onAnswer) {
      answers.push(onAnswer);
      return text;
    },
  };
  const lines = new ClientRelays({
    findServer: (name) => known.get(name),
    clientFor: () => client,
  });
  return {
    lines,
    answers,
    pushed,
    call: (server: ManagedServer) => lines.to(server, scopeOf()).call(scopeOf(), "{}"),
    [Symbol.asyncDispose]: () => lines[Symbol.asyncDispose](),
  };
}

/** Has a server ask something in each call, to hear of its progress under this token. */
function asking({ fake }: { fake: FakeServer }, progressToken: number): void {
  fake.handlers.set("tools/call", (_, __, exchange) => {
    const params = { message: "?", _meta: { progressToken } };
    const method = "elicitation/create";
    const text = requestText("q", method, JSON.stringify(params));
    exchange.onMessage(text, { kind: "request", id: "q", method, params });
    return {};
  });
}

Deno.test("CombinedLines.notify() tells progress to the server that asked, and changed roots to all", async () => {
  await using one = await startServer("one");
  await using two = await startServer("two");
  const known = new Map([one, two].map(({ managed }) => [managed.name, managed]));
  await using client = openLines(known);
  asking(one, 7);
  asking(two, 8);
  await client.call(one.managed);
  await client.call(two.managed);
  const heard = ({ fake }: typeof one, method: string) =>
    fake.links[1]!.heard.filter((other) => other === method).length;
  const report = (progressToken: unknown) => {
    const params = { progressToken, progress: 1 };
    client.lines.notify(PROGRESS, params, notificationText(PROGRESS, JSON.stringify(params)));
  };
  /** Whoever has heard this has heard all before. */
  const settled = async (times: number) => {
    client.lines.notify(ROOTS, {}, notificationText(ROOTS));
    await until(() => heard(one, ROOTS) === times && heard(two, ROOTS) === times);
  };
  report(7);
  report(9);
  report({ progressToken: 7 });
  client.lines.notify("notifications/made_up", {}, notificationText("notifications/made_up"));
  await settled(1);
  assert.deepEqual([heard(one, PROGRESS), heard(two, PROGRESS)], [1, 0]);
  assert.equal(heard(one, "notifications/made_up"), 0);

  asking(two, 7);
  await client.call(two.managed);
  report(7);
  await settled(2);
  assert.deepEqual([heard(one, PROGRESS), heard(two, PROGRESS)], [1, 0], "both have asked with it");

  client.answers[0]!('{"jsonrpc":"2.0","id":"one/string/q","result":{}}');
  report(7);
  await settled(3);
  assert.deepEqual([heard(one, PROGRESS), heard(two, PROGRESS)], [1, 1]);
});

Deno.test("CombinedLines.notify() tells the status of a client's task to the server that it runs for", async () => {
  const STATUS = "notifications/tasks/status";
  await using one = await startServer("one");
  await using two = await startServer("two");
  const known = new Map([one, two].map(({ managed }) => [managed.name, managed]));
  await using client = openLines(known);
  asking(one, 7);
  asking(two, 8);
  await client.call(one.managed);
  await client.call(two.managed);
  client.answers[1]!('{"jsonrpc":"2.0","id":"q","result":{"task":{"taskId":"t"}}}');
  for (const taskId of ["t", "other"]) {
    const params = { taskId, status: "working" };
    client.lines.notify(STATUS, params, notificationText(STATUS, JSON.stringify(params)));
  }
  client.lines.notify(ROOTS, {}, notificationText(ROOTS));
  const heard = ({ fake }: typeof one) => fake.links[1]!.heard;
  await until(() => heard(one).includes(ROOTS) && heard(two).includes(ROOTS));
  assert.deepEqual(
    [heard(one), heard(two)].map((all) => all.filter((method) => method === STATUS).length),
    [0, 1],
  );
});

Deno.test("CombinedLines closes its line to a server that was removed, whatever has its name now", async () => {
  await using old = await startServer("git");
  await using next = await startServer("git");
  const known = new Map([["git", old.managed]]);
  await using client = openLines(known);
  await client.call(old.managed);
  assert.equal(old.fake.alive.length, 2);
  known.set("git", next.managed);
  await client.call(next.managed);
  await until(() => old.fake.alive.length === 1);
  assert.deepEqual(client.lines.connected(), [next.managed]);
  old.fake.links[0]!.tell("notifications/resources/list_changed");
  assert.deepEqual(client.pushed, [], "what it tells is nothing to the client any more");
});

Deno.test("CombinedLines.to() opens nothing for a request that nobody waits for", async () => {
  await using git = await startServer("git");
  const client = openLines(new Map([["git", git.managed]]));
  await client.lines[Symbol.asyncDispose]();
  assert.throws(() => client.lines.to(git.managed, scopeOf(AbortSignal.abort())), /abort/i);
  git.fake.links[0]!.tell("notifications/resources/list_changed");
  assert.deepEqual(client.pushed, []);
});
