import assert from "node:assert/strict";
import { ClientLists, ListChanges, type ListeningSession, ListText } from "./list_changes.ts";

const TOOLS = "notifications/tools/list_changed";
const RESOURCES = "notifications/resources/list_changed";
const PROMPTS = "notifications/prompts/list_changed";

function openLists() {
  const current = { tools: "a", resources: "git", prompts: "git" };
  return { current, lists: new ClientLists(() => ({ ...current })) };
}

function openChanges() {
  const sessions: ListeningSession[] = [];
  let checks = 0;
  const changes = new ListChanges({ sessions: () => sessions, onCheck: () => checks++ });
  function connect() {
    const { current, lists } = openLists();
    const heard: { method: string; at: number }[] = [];
    const push = (text: string) =>
      void heard.push({ method: JSON.parse(text).method, at: performance.now() });
    sessions.push({ lists: () => [lists], push });
    return { current, lists, heard, methods: () => heard.map(({ method }) => method) };
  }
  return { changes, connect, checks: () => checks };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function until(isDone: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1_200 && !isDone(); tries++) await pause(50);
  assert.ok(isDone());
}

Deno.test("ListText.of() keeps the list whose text is the same", () => {
  const list = new ListText("[1]");
  assert.equal(ListText.of("[1]", list), list);
  const other = ListText.of("[2]", list);
  assert.notEqual(other.digest, list.digest);
});

Deno.test("ClientLists.takeChanges() gives each change once, and none that the client has", () => {
  const { current, lists } = openLists();
  assert.deepEqual(lists.takeChanges(), []);
  current.tools = "b";
  assert.deepEqual(lists.takeChanges(), ["tools"]);
  assert.deepEqual(lists.takeChanges(), []);
  current.tools = "a";
  assert.deepEqual(lists.takeChanges(), [], "the list it was last listed");
  current.tools = "b";
  current.prompts = "git docs";
  assert.deepEqual(lists.takeChanges(), ["tools", "prompts"], "it may have listed in between");
});

Deno.test("ClientLists.noteListed() has a client hear that what it saw is over", () => {
  const { current, lists } = openLists();
  current.tools = "b";
  lists.noteListed("tools");
  assert.deepEqual(lists.takeChanges(), []);
  current.tools = "a";
  assert.deepEqual(lists.takeChanges(), ["tools"]);
});

Deno.test("ListChanges.check() announces at once to clients whose list changed, and to no others", () => {
  const { changes, connect, checks } = openChanges();
  using _ = changes;
  const [one, other] = [connect(), connect()];
  one.current.tools = "b";
  changes.check();
  assert.deepEqual(one.methods(), [TOOLS]);
  assert.deepEqual(other.methods(), []);
  assert.equal(checks(), 1);
});

Deno.test("ListChanges.check() announces each kind of list by itself", () => {
  const { changes, connect } = openChanges();
  using _ = changes;
  const one = connect();
  Object.assign(one.current, { resources: "", prompts: "" });
  changes.check();
  assert.deepEqual(one.methods(), [RESOURCES, PROMPTS]);
});

Deno.test("ListChanges.check() tells a client that has listed what was there for a moment only", async () => {
  const { changes, connect } = openChanges();
  using _ = changes;
  const one = connect();
  one.current.tools = "b";
  changes.check();
  one.lists.noteListed("tools");
  one.current.tools = "a";
  changes.check();
  await until(() => one.heard.length === 2);
});

Deno.test("ListChanges announces at most twice a second to each client, and always the last change", async () => {
  const { changes, connect } = openChanges();
  using _ = changes;
  const [one, other] = [connect(), connect()];
  for (let round = 0; round < 60; round++) {
    one.current.tools = `list ${round}`;
    changes.check();
    await pause(20);
  }
  const lastChange = performance.now();
  one.current.tools = "last";
  changes.check();
  await until(() => (one.heard.at(-1)?.at ?? 0) > lastChange);
  const gaps = one.heard.slice(1).map(({ at }, index) => at - one.heard[index]!.at);
  assert.ok(gaps.length > 0 && gaps.every((ms) => ms > 490), `gaps of ${gaps.join(", ")} ms`);
  assert.deepEqual(other.methods(), []);
});
