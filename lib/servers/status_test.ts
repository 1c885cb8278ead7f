import assert from "node:assert/strict";
import type { ServerStatus } from "../core/server.ts";
import { GatewayError } from "../core/errors.ts";
import { failureReason, logMessageLine, OutputLog, StateHistory } from "./status.ts";

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
  history.note(status({ state: "starting", reason: "Starting", since: 1 }));
  history.note(status({ since: 2 }));
  history.note(status({ since: 2, reason: "Asleep" }));
  history.note(status({ state: "failed", reason: "Gone", lastError: "exit 1", since: 3 }));
  history.note(status({ since: 4, lastError: "exit 1" }));
  assert.deepEqual(history.of("git"), [
    { state: "ready", reason: "Connected", since: 4 },
    { state: "failed", reason: "Gone", error: "exit 1", since: 3 },
    { state: "ready", reason: "Asleep", since: 2 },
    { state: "starting", reason: "Starting", since: 1 },
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

Deno.test("LineLog.last() has the last 1,000 lines, oldest first, or as many of them as asked for", () => {
  const log = new OutputLog();
  assert.deepEqual(log.last(), []);
  const lines = (count?: number) => log.last(count).map(({ line }) => line);
  for (let number = 1; number <= 1_000; number++) log.add(`line ${number}`);
  assert.deepEqual([lines().length, lines()[0]], [1_000, "line 1"]);
  for (let number = 1_001; number <= 3_000; number++) log.add(`line ${number}`);
  assert.deepEqual(lines(), Array.from({ length: 1_000 }, (_, index) => `line ${index + 2_001}`));
  assert.deepEqual(lines(2), ["line 2999", "line 3000"]);
  assert.equal(lines(5_000).length, 1_000);
});

Deno.test("failureReason() quotes the server's own output, not the gateway's notes", () => {
  const log = new OutputLog();
  const error = new GatewayError("TIMEOUT", { message: "It did not answer" });
  log.add("Processes of group 7 do not end", "warning");
  assert.equal(failureReason(error, log), "It did not answer");
  log.add("cannot find module");
  log.add("Processes of group 7 do not end", "warning");
  assert.equal(failureReason(error, log), "It did not answer. Last output: cannot find module");
});

Deno.test("logMessageLine() takes whatever a server sends", () => {
  assert.equal(logMessageLine({ level: "info", logger: "app", data: "hi" }), "[info] app: hi");
  const odd = { toString: 0 };
  assert.equal(
    logMessageLine({ level: odd, logger: odd, data: odd }),
    '[unknown level] {"toString":0}',
  );
});
