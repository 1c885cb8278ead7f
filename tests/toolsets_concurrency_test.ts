import assert from "node:assert/strict";
import {
  type Event,
  findSerialOrder,
  type Operation,
  type Outcome,
  type Seen,
} from "./serial_order.ts";
import { TwoGateways } from "./toolsets_race.ts";

const build = (content: string, replace = false): Operation => ({
  kind: "build",
  name: "a",
  content,
  replace,
});
const remove: Operation = { kind: "delete", name: "a" };
const equip: Operation = { kind: "equip", name: "a" };
const unequip: Operation = { kind: "unequip" };

function event(operation: Operation, from: number, to: number, outcome: Outcome = {}): Event {
  return { operation, outcome, startedAt: from, endedAt: to };
}

function seen(content?: string, equipped: string | null = null): Seen {
  return { toolsets: new Map(content === undefined ? [] : [["a", content]]), equipped };
}

function isExplained(seen: Seen, ...events: Event[]): boolean {
  return findSerialOrder(events, seen) !== undefined;
}

Deno.test("findSerialOrder() orders what overlaps, and only that", () => {
  assert.ok(isExplained(seen("1"), event(build("1", true), 0, 3), event(build("2", true), 1, 2)));
  assert.ok(isExplained(seen("2"), event(build("1", true), 0, 3), event(build("2", true), 1, 2)));
  assert.ok(!isExplained(seen("1"), event(build("1", true), 0, 1), event(build("2", true), 2, 3)));
  assert.ok(!isExplained(seen("3"), event(build("1"), 0, 1)));
  assert.ok(!isExplained(seen(), event(build("1"), 0, 1)), "lost");
});

Deno.test("findSerialOrder() wants a reason for each failure, and for each success", () => {
  const conflict = { error: "CONFLICT" };
  const missing = { error: "NOT_FOUND" };
  assert.ok(!isExplained(seen(), event(build("1"), 0, 1, conflict)));
  assert.ok(
    !isExplained(seen("1"), event(build("1"), 0, 1), event(build("2", true), 2, 3, conflict)),
  );
  assert.ok(isExplained(seen("1"), event(build("1"), 0, 2), event(build("2"), 1, 3, conflict)));
  assert.ok(!isExplained(seen("2"), event(build("1"), 0, 3), event(build("2"), 1, 2)), "both new");
  assert.ok(!isExplained(seen("1"), event(build("1"), 0, 1), event(equip, 2, 3, missing)));
  assert.ok(
    !isExplained(seen(), event(build("1"), 0, 1), event(remove, 2, 5), event(remove, 3, 4)),
    "deleted twice",
  );
  const busy = event(equip, 2, 3, { error: "OPERATION_IN_PROGRESS" });
  assert.ok(isExplained(seen("1"), event(build("1"), 0, 1), busy));
});

Deno.test("findSerialOrder() knows that a deleted toolset is no longer equipped", () => {
  const before = [event(build("1"), 0, 1), event(equip, 2, 3)];
  assert.ok(isExplained(seen("1", "a"), ...before));
  assert.ok(!isExplained(seen("1"), ...before));
  const anew = [...before, event(remove, 4, 5), event(build("2"), 6, 7)];
  assert.ok(isExplained(seen("2"), ...anew));
  assert.ok(!isExplained(seen("2", "a"), ...anew));
  assert.ok(isExplained(seen("1"), ...before, event(unequip, 4, 5, { was: "a" })));
  assert.ok(!isExplained(seen("1"), ...before, event(unequip, 4, 5, { was: null })));
  assert.ok(isExplained(seen("2"), ...anew, event(unequip, 8, 9, { was: null })));
});

Deno.test("two gateways on one store: a hundred operations at once are as good as one after the other", async () => {
  await using gateways = await TwoGateways.start();
  await gateways.race(Math.floor(Math.random() * 2 ** 31));
});
