import assert from "node:assert/strict";
import type { Gateway } from "../compose.ts";
import { changeSettings, readSettingsChange } from "./settings_changes.ts";

Deno.test("readSettingsChange() refuses what is not offered", () => {
  assert.deepEqual(readSettingsChange(new URLSearchParams("change=log-level&to=debug")), {
    change: "log-level",
    to: "debug",
  });
  for (const wrong of ["", "change=log-level&to=loud", "change=port&to=1"]) {
    assert.throws(() => readSettingsChange(new URLSearchParams(wrong)), /Cannot change/);
  }
});

Deno.test("changeSettings() sets the log level, logs that, and tells open pages", async () => {
  const told: string[] = [];
  const logged: unknown[] = [];
  const gateway = {
    logs: { level: "info" },
    requestLog: { info: (fields: unknown) => logged.push(fields) },
    tellLive: (kind: string) => told.push(kind),
  } as unknown as Gateway;
  assert.equal(await changeSettings(gateway, { change: "log-level", to: "debug" }), "log-level");
  assert.equal(gateway.logs.level, "debug");
  assert.deepEqual([told, logged], [["settings"], [{ from: "info", to: "debug" }]]);
});
