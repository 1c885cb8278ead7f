import assert from "node:assert/strict";
import { ToldLists } from "./told_lists.ts";

function openLists() {
  const shown = { tools: "a", servers: "git" };
  return { shown, lists: new ToldLists(() => ({ ...shown })) };
}

Deno.test("ToldLists.changes() is about what clients were last told", () => {
  const { shown, lists } = openLists();
  lists.opened("Ada");
  assert.deepEqual(lists.changes("Ada"), { tools: false, others: false });
  shown.servers = "git docs";
  assert.deepEqual(lists.changes("Ada"), { tools: false, others: true });
  lists.opened("Ada");
  assert.equal(lists.changes("Ada").others, true, "the first one does not know");
  lists.told("Ada");
  assert.deepEqual(lists.changes("Ada"), { tools: false, others: false });
});

Deno.test("ToldLists.noteListed() remembers a list that was seen and nobody told of", () => {
  const { shown, lists } = openLists();
  lists.opened("Ada");
  shown.tools = "b";
  lists.noteListed("Ada");
  shown.tools = "a";
  assert.equal(lists.changes("Ada").tools, true);
});

Deno.test("ToldLists.closed() forgets what a principal was told when its last client goes", () => {
  const { shown, lists } = openLists();
  lists.opened("Ada");
  lists.opened("Ada");
  lists.closed("Ada");
  shown.tools = "b";
  assert.equal(lists.changes("Ada").tools, true, "one is still there");
  lists.closed("Ada");
  lists.opened("Ada");
  assert.deepEqual(lists.changes("Ada"), { tools: false, others: false });
});
