import assert from "node:assert/strict";
import { Access } from "../auth/access.ts";
import type { Gateway } from "../compose.ts";
import { AccessScope, type AccessToken } from "../core/access.ts";
import { EVERYONE } from "../core/principal.ts";
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
const asked = { principal: EVERYONE, signal };
const access = new Access({ isRequired: true });
access.load(
  [tokenWith("read,call,manage"), tokenWith("optimize"), tokenWith("manage,optimize")],
  [],
);

function tokenWith(rights: string): AccessToken {
  const scope = AccessScope.parse({ rights: rights.split(",") });
  return { id: rights, name: rights, hash: rights, scope, createdAt: 0 };
}

Deno.test("changeSettings() spends model time only for those who may manage and optimize", async () => {
  const done: unknown[] = [];
  const gateway = {
    access,
    optimization: () => Promise.resolve({ setEnabled: (to: boolean) => done.push(to) }),
    evaluator: () =>
      Promise.resolve({
        check: { run: () => done.push("check") },
        trial: { run: () => done.push("trial") },
      }),
  } as unknown as Gateway;
  const spending = [{ change: "optimization", to: "on" }, { change: "evaluator-test" }] as const;
  for (const change of spending) {
    for (const rights of ["read,call,manage", "optimize"]) {
      await assert.rejects(
        changeSettings(gateway, change, { principal: `token:${rights}`, signal }),
        { code: "ACCESS_DENIED" },
      );
    }
    assert.deepEqual(done, []);
  }
  for (const change of spending) {
    await changeSettings(gateway, change, { principal: "token:manage,optimize", signal });
  }
  assert.deepEqual(done, [true, "trial", "check"]);
});

Deno.test("changeSettings() looks for an evaluator without a model's time", async () => {
  const runs: string[] = [];
  const check = { run: () => Promise.resolve(runs.push("check")) };
  const gateway = { access, evaluator: () => Promise.resolve({ check }) } as unknown as Gateway;
  const principal = "token:read,call,manage";
  const done = await changeSettings(gateway, { change: "evaluator-check" }, { principal, signal });
  assert.deepEqual(runs, ["check"]);
  assert.equal(donePath(done), "/settings?done=evaluator-check&check=evaluator");
});

Deno.test("changeSettings() tries the evaluator once, where its result can be seen", async () => {
  const runs: AbortSignal[] = [];
  const trial = { run: (given: AbortSignal) => Promise.resolve(runs.push(given)) };
  const check = { run: () => Promise.resolve() };
  const gateway = {
    access,
    evaluator: () => Promise.resolve({ check, trial }),
  } as unknown as Gateway;
  const done = await changeSettings(gateway, { change: "evaluator-test" }, asked);
  assert.deepEqual(runs, [signal]);
  assert.equal(donePath(done), "/settings?done=evaluator-test&check=evaluator");
  assert.equal(donePath("search"), "/settings?done=search");
});

Deno.test("changeSettings() sets the log level, logs that, and tells open pages", async () => {
  const told: string[] = [];
  const logged: unknown[] = [];
  const gateway = {
    access,
    logs: { level: "info" },
    requestLog: { info: (fields: unknown) => logged.push(fields) },
    tellLive: (kind: string) => told.push(kind),
  } as unknown as Gateway;
  const done = await changeSettings(gateway, { change: "log-level", to: "debug" }, asked);
  assert.equal(done, "log-level");
  assert.equal(gateway.logs.level, "debug");
  assert.deepEqual([told, logged], [["settings"], [{ from: "info", to: "debug" }]]);
});
