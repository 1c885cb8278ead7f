import assert from "node:assert/strict";
import type { Gateway } from "../compose.ts";
import { changeSettings, donePath, readSettingsChange } from "./settings_changes.ts";

Deno.test("readSettingsChange() refuses what is not offered", () => {
  assert.deepEqual(readSettingsChange(new URLSearchParams("change=log-level&to=debug")), {
    change: "log-level",
    to: "debug",
  });
  for (const wrong of ["", "change=log-level&to=loud", "change=port&to=1"]) {
    assert.throws(() => readSettingsChange(new URLSearchParams(wrong)), /Cannot change/);
  }
});

const { signal } = new AbortController();

Deno.test("changeSettings() tries the evaluator once, where its result can be seen", async () => {
  const runs: AbortSignal[] = [];
  const trial = { run: (given: AbortSignal) => Promise.resolve(runs.push(given)) };
  const gateway = { evaluator: () => Promise.resolve({ trial }) } as unknown as Gateway;
  const done = await changeSettings(gateway, { change: "evaluator-test" }, signal);
  assert.deepEqual(runs, [signal]);
  assert.equal(donePath(done), "/settings?done=evaluator-test&check=evaluator");
  assert.equal(donePath("search"), "/settings?done=search");
});

Deno.test("changeSettings() sets the log level, logs that, and tells open pages", async () => {
  const told: string[] = [];
  const logged: unknown[] = [];
  const gateway = {
    logs: { level: "info" },
    requestLog: { info: (fields: unknown) => logged.push(fields) },
    tellLive: (kind: string) => told.push(kind),
  } as unknown as Gateway;
  const done = await changeSettings(gateway, { change: "log-level", to: "debug" }, signal);
  assert.equal(done, "log-level");
  assert.equal(gateway.logs.level, "debug");
  assert.deepEqual([told, logged], [["settings"], [{ from: "info", to: "debug" }]]);
});
