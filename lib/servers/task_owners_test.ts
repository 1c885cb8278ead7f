import assert from "node:assert/strict";
import { EVERYONE } from "../core/access.ts";
import { resultText } from "../core/rpc.ts";
import { TaskOwners } from "./task_owners.ts";

const CALL = { method: "tools/call", params: {} };

function about(taskId: unknown, method = "tasks/get") {
  return { method, params: { taskId } };
}

Deno.test("TaskOwners keeps callers from the tasks of others, however a task was started", () => {
  const owners = new TaskOwners();
  owners.shown("ann", CALL, resultText(1, '{"resultType":"task","taskId":"a"}'));
  owners.shown("bob", CALL, resultText(1, '{"task":{"taskId":"b"}}'));
  // Data of a tool, not a task.
  owners.shown("bob", CALL, resultText(1, '{"taskId":"a","content":[{"taskId":"a"}]}'));
  for (const method of ["tasks/get", "tasks/update", "tasks/cancel", "tasks/result"]) {
    assert.equal(owners.isForeign("ann", about("a", method)), false);
    assert.equal(owners.isForeign("bob", about("b", method)), false);
    assert.equal(owners.isForeign("bob", about("a", method)), true);
    assert.equal(owners.isForeign("ann@web", about("a", method)), true);
    assert.equal(owners.isForeign(EVERYONE, about("a", method)), false);
  }
  assert.equal(owners.isForeign("ann", about(7)), true);
  assert.equal(owners.isForeign("bob", CALL), false);
  const list = resultText(1, '{"tasks":[{"taskId":"a"}, {"taskId":"b"},3],"nextCursor":"2"}');
  const tasks = { method: "tasks/list", params: {} };
  const own = resultText(1, '{"tasks":[{"taskId":"b"}],"nextCursor":"2"}');
  assert.equal(owners.shown("bob", tasks, list), own);
  assert.equal(owners.shown(EVERYONE, tasks, list), list);
});

Deno.test("TaskOwners forgets tasks a day after their last use, and the oldest of very many", () => {
  let now = 0;
  const owners = new TaskOwners(() => now);
  const start = (id: string) =>
    owners.shown("ann", CALL, resultText(1, `{"task":{"taskId":"${id}"}}`));
  start("used");
  start("left");
  now = 23 * 3_600_000;
  assert.equal(owners.isForeign("ann", about("used")), false);
  now += 2 * 3_600_000;
  assert.equal(owners.isForeign("ann", about("used")), false);
  assert.equal(owners.isForeign("ann", about("left")), true);
  for (let nth = 0; nth < 10_000; nth++) start(`task ${nth}`);
  assert.equal(owners.isForeign("ann", about("used")), true);
  assert.equal(owners.isForeign("ann", about("task 0")), false);
});
