import assert from "node:assert/strict";
import type { ServerStatus } from "../core/server.ts";
import { StateHistory } from "./state_history.ts";

function status(change: Partial<ServerStatus>): ServerStatus {
  return {
    name: "git",
    type: "stdio",
    source: { kind: "store" },
    state: "ready",
    reason: "Connected",
    since: 1,
    toolCount: 0,
    ...change,
  };
}

Deno.test("StateHistory.of() has each state once, newest first, with its last words", () => {
  const history = new StateHistory();
  history.note(status({ state: "connecting", reason: "Connecting", since: 1 }));
  history.note(status({ since: 2 }));
  history.note(status({ since: 2, reason: "Asleep" }));
  history.note(status({ state: "failed", reason: "Gone", lastError: "exit 1", since: 3 }));
  history.note(status({ since: 4, lastError: "exit 1" }));
  assert.deepEqual(history.of("git"), [
    { state: "ready", reason: "Connected", since: 4 },
    { state: "failed", reason: "Gone", error: "exit 1", since: 3 },
    { state: "ready", reason: "Asleep", since: 2 },
    { state: "connecting", reason: "Connecting", since: 1 },
  ]);
  assert.deepEqual(history.of("other"), []);
});

Deno.test("StateHistory.note() keeps the newest 30, until the server is forgotten", () => {
  const history = new StateHistory();
  for (let since = 0; since < 100; since++) history.note(status({ since }));
  assert.equal(history.of("git").length, 30);
  assert.equal(history.of("git")[0]?.since, 99);
  history.forget("git");
  assert.deepEqual(history.of("git"), []);
});
