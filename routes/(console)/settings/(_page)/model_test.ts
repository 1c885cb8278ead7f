import assert from "node:assert/strict";
import { stubGateway } from "../../../../lib/console/testing/stub_gateway.ts";
import type { Operation } from "../../../../lib/operations/operation.ts";
import { changeSettings, donePath, readSettingsChange, type Run, settingsPage } from "./model.ts";

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
  const value = page.rows.find(({ name }) => name === "kv")?.value;
  assert.equal(value, "https://••••@kv.example.com/db?••••");
  for (const path of ["/data/quartermaster.kv", ":memory:", "C:\\data\\x.kv", "127.0.0.1"]) {
    const { rows } = await settingsPage(stubGateway({ options: { kv: path } }), runtime);
    assert.equal(rows.find(({ name }) => name === "kv")?.value, path);
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

Deno.test("changeSettings() runs the operation of each change, and leads to its result", async () => {
  const ran: unknown[] = [];
  const run = ((operation: Operation, input: unknown) => {
    ran.push([operation.name, input]);
    return Promise.resolve();
  }) as unknown as Run;
  const paths: string[] = [];
  for (
    const written of [
      "change=optimization&to=on",
      "change=log-level&to=debug",
      "change=search",
      "change=evaluator-check",
      "change=evaluator-test",
    ]
  ) {
    const change = readSettingsChange(new URLSearchParams(written));
    paths.push(donePath(await changeSettings(change, run)));
  }
  assert.deepEqual(ran, [
    ["optimization.enable", {}],
    ["settings.log_level", { level: "debug" }],
    ["search.reindex", {}],
    ["evaluator.check", {}],
    ["evaluator.test", {}],
  ]);
  assert.deepEqual(paths, [
    "/settings?done=optimization-on",
    "/settings?done=log-level",
    "/settings?done=search",
    "/settings?done=evaluator-check&check=evaluator",
    "/settings?done=evaluator-test&check=evaluator",
  ]);
});
