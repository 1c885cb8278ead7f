import assert from "node:assert/strict";
import { ChangeNotifier } from "./change_notifier.ts";

Deno.test("ChangeNotifier.changed() tells the first change at once, and a flood at most twice a second", async () => {
  const told: string[] = [];
  using notifier = new ChangeNotifier((subject) => told.push(subject));
  for (let count = 0; count < 100; count++) notifier.changed("a");
  notifier.changed("b");
  assert.deepEqual(told, ["a", "b"]);
  await new Promise((resolve) => setTimeout(resolve, 700));
  assert.deepEqual(told, ["a", "b", "a"]);
});
