import assert from "node:assert/strict";
import { changeSettings, donePath, maskUrl, readSettingsChange, settingsPage } from "./model.ts";
import { stubGateway } from "../../../../lib/console/testing/stub_gateway.ts";
import { Access } from "../../../../lib/auth/access.ts";
import type { Gateway } from "../../../../lib/gateway.ts";
import { AccessScope, type AccessToken, EVERYONE } from "../../../../lib/core/access.ts";

const runtime = { deno: "2.9.6", system: "linux x86_64" };

Deno.test("settingsPage() tells each option's value, origin and names", async () => {
  const page = await settingsPage(
    stubGateway({ options: { port: 4000, dataDir: "/data" } }),
    runtime,
  );
  const row = (flag: string) => page.rows.find((row) => row.flag === flag);
  assert.equal(row("--port")?.value, "4000");
  assert.equal(row("--port")?.origin, "flag");
  assert.equal(row("--port")?.variable, "QUARTERMASTER_PORT");
  assert.equal(row("--max-body")?.value, "4 MiB");
  assert.equal(row("--stdio")?.value, "Off");
  assert.equal(row("--public-url")?.value, undefined);
  assert.equal(page.about.dataDir, "/data");
});

Deno.test("settingsPage() shows no secret of a data store's address", async () => {
  const kv = "https://user:hunter2@kv.example.com/db?token=hunter2";
  const page = await settingsPage(stubGateway({ options: { kv } }), runtime);
  assert.ok(!JSON.stringify(page).includes("hunter2"));
  assert.equal(maskUrl(kv), "https://••••@kv.example.com/db?••••");
});

Deno.test("maskUrl() leaves paths alone", () => {
  for (const path of ["/data/quartermaster.kv", ":memory:", "C:\\data\\x.kv", "127.0.0.1"]) {
    assert.equal(maskUrl(path), path);
  }
});

Deno.test("settingsPage() says where optimization was switched on for good", async () => {
  const asked = await settingsPage(stubGateway({ options: { enableOptimization: true } }), runtime);
  assert.deepEqual(asked.optimization, { isOn: true, fixedBy: "flag" });
  const switched = await settingsPage(stubGateway({ isOptimizing: true }), runtime);
  assert.deepEqual(switched.optimization, { isOn: true });
});

Deno.test("settingsPage() shows the evaluator that was found, and looks for none itself", async () => {
  const found = { kind: "claude-cli", model: "sonnet", problem: null };
  const check = {
    last: undefined as typeof found | undefined,
    run: () => assert.fail("It looked"),
  };
  const gateway = {
    ...stubGateway(),
    evaluator: () => Promise.resolve({ check, trial: { last: undefined } }),
  } as unknown as ReturnType<typeof stubGateway>;
  const query = new URLSearchParams("check=evaluator");
  assert.equal((await settingsPage(gateway, runtime, query)).optimization.check, undefined);
  check.last = found;
  assert.deepEqual((await settingsPage(gateway, runtime, query)).optimization.check, found);
  assert.equal((await settingsPage(gateway, runtime)).optimization.check, undefined);
});

Deno.test("settingsPage() says only what the gateway itself words", async () => {
  const done = async (code: string) =>
    (await settingsPage(stubGateway(), runtime, new URLSearchParams({ done: code }))).done;
  assert.match(await done("log-level") ?? "", /log level is changed/);
  assert.equal(await done("Your account is locked, call 555"), undefined);
});

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
