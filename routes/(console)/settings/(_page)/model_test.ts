import assert from "node:assert/strict";
import { stubGateway } from "../../../../lib/console/testing/stub_gateway.ts";
import { SETTINGS_DECISIONS, type SettingsPage, settingsPage } from "./model.ts";

const rowsOf = ({ groups }: SettingsPage) => groups.flatMap(({ options }) => options);

Deno.test("settingsPage() tells each option's value, origin and names", async () => {
  const page = await settingsPage(
    stubGateway({ options: { port: 4000, dataDir: "/data" } }),
  );
  const row = (flag: string) => rowsOf(page).find((row) => row.flag === flag);
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
  const value = rowsOf(page).find(({ name }) => name === "kv")?.value;
  assert.equal(value, "https://••••@kv.example.com/db?••••");
  for (const path of ["/data/quartermaster.kv", ":memory:", "C:\\data\\x.kv", "127.0.0.1"]) {
    const rows = rowsOf(await settingsPage(stubGateway({ options: { kv: path } })));
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
    "set: settings.set",
    "evaluator-check: evaluator.check",
    "evaluator-test: evaluator.test",
    "search: search.reindex",
  ]);
});

Deno.test("settingsPage() filters options by text, and by what is set or editable", async () => {
  const gateway = stubGateway({ options: { port: 4000 } });
  const flags = async (query: string) =>
    rowsOf(await settingsPage(gateway, new URLSearchParams(query))).map(({ flag }) => flag);
  assert.deepEqual(await flags("only=set"), ["--port"]);
  assert.deepEqual(await flags("q=keep+CALLS"), ["--activity-retention", "--activity-calls"]);
  assert.deepEqual(await flags("q=QUARTERMASTER_KV"), ["--kv"]);
  assert.deepEqual(await flags("only=live&q=log"), ["--log-level"]);
  assert.deepEqual(await flags("q=nothing+like+it"), []);
  const { counts } = await settingsPage(gateway);
  assert.deepEqual([counts.set, counts.live], [1, 6]);
  assert.equal((await flags("")).length, counts.all);
});
