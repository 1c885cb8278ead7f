import assert from "node:assert/strict";
import { EVERYONE } from "../core/access.ts";
import type { Client, McpRequest } from "../core/client.ts";
import { memberText, notificationText, requestText, resultText, withId } from "../core/rpc.ts";
import type { ServerSpec } from "../core/server.ts";
import { Mailbox } from "../storage/mailbox.ts";
import { TaskOwnersRepository } from "../storage/servers_repository.ts";
import { Store } from "../storage/store.ts";
import {
  PassedAnswer,
  PassedTask,
  requestOnTask,
  TASK_ANSWER_TOPIC,
  TASK_TOPIC,
  type TaskCarrier,
  TaskOwners,
} from "./task_owners.ts";

const CALL = { method: "tools/call" };
const [PROGRAM, ELSEWHERE]: ServerSpec[] = [
  { type: "stdio", command: "s", args: [], env: {} },
  { type: "http", url: "http://s.example/", headers: {} },
];
const alone = { server: { name: "s", isStateless: false, server: { spec: PROGRAM! } } };

function about(taskId: unknown, method = "tasks/get"): McpRequest {
  const { signal } = new AbortController();
  return { id: 1, method, params: { taskId }, text: "", signal, send() {} };
}

/** A client that nobody may ask. */
function as(principal: string): Pick<Client, "principal" | "ask"> {
  return { principal, ask: assert.fail };
}

/** Whether a request about a task is refused. */
async function isForeign(owners: TaskOwners, principal: string, request: McpRequest) {
  const diverted = await owners.divert(as(principal), request);
  if (diverted === undefined) return false;
  assert.equal(JSON.parse(diverted).error.code, -32602);
  return true;
}

Deno.test("TaskOwners keeps callers from the tasks of others, however a task was started", async () => {
  const owners = new TaskOwners(alone);
  await owners.shown("ann", CALL, resultText(1, '{"resultType":"task","taskId":"a"}'));
  await owners.shown("bob", CALL, resultText(1, '{"task":{"taskId":"b"}}'));
  // Data of a tool, not a task.
  await owners.shown("bob", CALL, resultText(1, '{"taskId":"a","content":[{"taskId":"a"}]}'));
  for (const method of ["tasks/get", "tasks/update", "tasks/cancel", "tasks/result"]) {
    assert.equal(await isForeign(owners, "ann", about("a", method)), false);
    assert.equal(await isForeign(owners, "bob", about("b", method)), false);
    assert.equal(await isForeign(owners, "bob", about("a", method)), true);
    assert.equal(await isForeign(owners, "ann@web", about("a", method)), true);
    assert.equal(await isForeign(owners, EVERYONE, about("a", method)), false);
  }
  assert.equal(await isForeign(owners, "ann", about(7)), true);
  const list = resultText(1, '{"tasks":[{"taskId":"a"}, {"taskId":"b"},3],"nextCursor":"2"}');
  const tasks = { method: "tasks/list" };
  const own = resultText(1, '{"tasks":[{"taskId":"b"}],"nextCursor":"2"}');
  assert.equal(await owners.shown("bob", tasks, list), own);
  assert.equal(await owners.shown(EVERYONE, tasks, list), list);
});

Deno.test("TaskOwners forgets tasks a day after their last use, and the oldest of very many", async () => {
  let now = 0;
  const owners = new TaskOwners({ ...alone, now: () => now });
  const start = (id: string) =>
    owners.shown("ann", CALL, resultText(1, `{"task":{"taskId":"${id}"}}`));
  await start("used");
  await start("left");
  now = 23 * 3_600_000;
  assert.equal(await isForeign(owners, "ann", about("used")), false);
  now += 2 * 3_600_000;
  assert.equal(await isForeign(owners, "ann", about("used")), false);
  assert.equal(await isForeign(owners, "ann", about("left")), true);
  for (let nth = 0; nth < 10_000; nth++) await start(`task ${nth}`);
  assert.equal(await isForeign(owners, "ann", about("used")), true);
  assert.equal(await isForeign(owners, "ann", about("task 0")), false);
});

Deno.test("TaskOwners remembers tasks over a restart, and says which ones ended with their program", async () => {
  await using store = await Store.open({ location: ":memory:" });
  let now = Date.now();
  const server = { name: "s", isStateless: true, server: { spec: ELSEWHERE! } };
  const records = new TaskOwnersRepository(store);
  const openAt = (id: string) => {
    // No other gateway is alive on a store in memory.
    const mailbox = new Mailbox(store, {
      id,
      isAlive: () => Promise.resolve(false),
      others: () => Promise.resolve([]),
    });
    return new TaskOwners({ server, shared: { records, mailbox }, now: () => now });
  };
  const started = resultText(1, '{"task":{"taskId":"a"}}');
  await openAt("before").shown("ann", CALL, started);
  const owners = openAt("after");
  for (server.isStateless of [true, false]) {
    assert.equal(
      await owners.divert(as("ann"), about("a")),
      undefined,
      "the server may still have it",
    );
    assert.match(await owners.divert(as("bob"), about("a")) ?? "", /not found/);
  }
  server.server.spec = PROGRAM!;
  const ended = await owners.divert(as("ann"), about("a")) ?? "";
  assert.match(ended, /has ended with the gateway that started it/);
  const list = resultText(1, '{"tasks":[{"taskId":"a"},{"taskId":"b"}]}');
  const own = resultText(1, '{"tasks":[{"taskId":"a"}]}');
  assert.equal(await owners.shown("ann", { method: "tasks/list" }, list), own);
  now += 26 * 3_600_000;
  assert.match(await owners.divert(as("ann"), about("a")) ?? "", /not found/);
  await records.prune(now);
  assert.deepEqual(await records.values(), []);
});

Deno.test("TaskOwners does not ask its own gateway about a task it has forgotten", async () => {
  await using store = await Store.open({ location: ":memory:" });
  await using mailbox = new Mailbox(store, {
    id: "here",
    isAlive: () => Promise.resolve(true),
    others: () => Promise.resolve([]),
  });
  const server = { name: "s", isStateless: false, server: { spec: PROGRAM! } };
  const shared = { records: new TaskOwnersRepository(store), mailbox };
  const started = resultText(1, '{"task":{"taskId":"a"}}');
  await new TaskOwners({ server, shared }).shown("ann", CALL, started);
  const added = new TaskOwners({ server, shared });
  assert.match(await added.divert(as("ann"), about("a")) ?? "", /has ended/);
  assert.match(await added.divert(as("bob"), about("a")) ?? "", /not found/);
  server.server.spec = ELSEWHERE!;
  assert.equal(
    await added.divert(as("ann"), about("a")),
    undefined,
    "the server may still have it",
  );
});

Deno.test("TaskOwners.answer() makes a request on the task's connection, for its owner only", async () => {
  const owners = new TaskOwners(alone);
  const carrier: TaskCarrier = { callOnTask: ({ method }) => Promise.resolve(method) };
  await owners.shown("ann", CALL, resultText(1, '{"task":{"taskId":"a"}}'), carrier);
  const passed = { server: "s", principal: "ann", taskId: "a", method: "tasks/get", params: "{}" };
  const exchange = { signal: new AbortController().signal, send() {} };
  assert.equal(await owners.answer(passed, exchange), "tasks/get");
  for (const other of [{ principal: "bob" }, { taskId: "b" }]) {
    await assert.rejects(owners.answer({ ...passed, ...other }, exchange), /has stopped/);
  }
  owners.release(carrier);
  assert.match(await owners.answer(passed, exchange), /has ended with the connection/);
});

Deno.test("TaskOwners relays questions and answers between a server and another gateway's client", async () => {
  await using store = await Store.open({ location: ":memory:" });
  await using stack = new AsyncDisposableStack();
  const server = { name: "s", isStateless: false, server: { spec: PROGRAM! } };
  const open = (id: string) => {
    const isAlive = () => Promise.resolve(true);
    const others = () => Promise.resolve([]);
    const mailbox = stack.use(new Mailbox(store, { id, isAlive, others }));
    mailbox.keepReading(2);
    const shared = { records: new TaskOwnersRepository(store), mailbox };
    const owners = new TaskOwners({ server, shared });
    mailbox.handle(
      TASK_TOPIC,
      (body, exchange) => owners.answer(PassedTask.parse(JSON.parse(body)), exchange),
    );
    mailbox.handle(TASK_ANSWER_TOPIC, (body) => {
      owners.takeAnswer(PassedAnswer.parse(JSON.parse(body)));
      return Promise.resolve("");
    });
    return owners;
  };
  const [here, there] = [open("here"), open("there")];
  // The server asks two things, takes back the second, and answers with what it was told.
  const carrier: TaskCarrier = {
    callOnTask: (_, { ask, send }) =>
      new Promise((resolve) => {
        const onAnswer = (text: string) => resolve(resultText(0, text));
        send(ask!(requestText("q", "elicitation/create"), "q", onAnswer));
        const other = ask!(requestText("r", "roots/list"), "r", assert.fail);
        send(other);
        const requestId = JSON.parse(memberText(other, "id")!);
        send(notificationText("notifications/cancelled", JSON.stringify({ requestId })));
      }),
  };
  await here.shown("ann", CALL, resultText(1, '{"task":{"taskId":"a"}}'), carrier);
  const sent: string[] = [];
  const answers = new Map<string, () => void>();
  const ann: Pick<Client, "principal" | "ask"> = {
    principal: "ann",
    ask(text, id, onAnswer) {
      const own = `own ${answers.size}`;
      answers.set(own, () => onAnswer(resultText(id, '{"action":"accept"}')));
      return withId(text, id, own);
    },
  };
  const send = (text: string) => {
    sent.push(text);
    if (text.includes("notifications/cancelled")) answers.get("own 0")!();
  };
  const answer = await there.divert(ann, { ...about("a", "tasks/result"), send }, '{"taskId":"a"}');
  assert.deepEqual(sent, [
    requestText("own 0", "elicitation/create"),
    requestText("own 1", "roots/list"),
    notificationText("notifications/cancelled", '{"requestId":"own 1"}'),
  ]);
  assert.equal(answer, resultText(1, resultText("q", '{"action":"accept"}')));
});

Deno.test("requestOnTask() finds the request that waits for the task of a message", () => {
  const requests = ["a", "b"].map((taskId) => ({ params: { taskId } }) as unknown as McpRequest);
  const related = { "io.modelcontextprotocol/related-task": { taskId: "b" } };
  assert.equal(requestOnTask(requests, { _meta: related }), requests[1]);
  assert.equal(requestOnTask(requests, { taskId: "a", status: "working" }), requests[0]);
  for (const params of [{}, { taskId: "c" }]) {
    assert.equal(requestOnTask(requests, params), undefined);
  }
});
