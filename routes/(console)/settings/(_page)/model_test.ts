import assert from "node:assert/strict";
import { stubGateway } from "../../../../lib/console/testing/stub_gateway.ts";
import { SETTINGS_DECISIONS, settingsPage } from "./model.ts";

Deno.test("settingsPage() tells each option's value, origin and names", async () => {
  const page = await settingsPage(
    stubGateway({ options: { port: 4000, dataDir: "/data" } }),
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
  const page = await settingsPage(stubGateway({ options: { kv } }));
  assert.ok(!JSON.stringify(page).includes("hunter2"));
  const value = page.rows.find(({ name }) => name === "kv")?.value;
  assert.equal(value, "https://••••@kv.example.com/db?••••");
  for (const path of ["/data/quartermaster.kv", ":memory:", "C:\\data\\x.kv", "127.0.0.1"]) {
    const { rows } = await settingsPage(stubGateway({ options: { kv: path } }));
    assert.equal(rows.find(({ name }) => name === "kv")?.value, path);
  }
});

Deno.test("settingsPage() says where optimization was switched on for good", async () => {
  const asked = await settingsPage(stubGateway({ options: { enableOptimization: true } }));
  assert.deepEqual(asked.optimization, { isOn: true, fixedBy: "flag" });
  const switched = await settingsPage(stubGateway({ isOptimizing: true }));
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
  assert.equal((await settingsPage(gateway, query)).optimization.check, undefined);
  check.last = found;
  assert.deepEqual((await settingsPage(gateway, query)).optimization.check, found);
  assert.equal((await settingsPage(gateway)).optimization.check, undefined);
});

Deno.test("each decision of the settings page runs an operation with what its form has", () => {
  const names = Object.entries(SETTINGS_DECISIONS).map(([name, { operation }]) =>
    `${name}: ${operation.name}`
  );
  assert.deepEqual(names, [
    "optimization-on: optimization.enable",
    "optimization-off: optimization.disable",
    "log-level: settings.log_level",
    "evaluator-check: evaluator.check",
    "evaluator-test: evaluator.test",
    "search: search.reindex",
  ]);
});
