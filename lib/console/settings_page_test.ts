import assert from "node:assert/strict";
import { maskUrl, settingsPage } from "./settings_page.ts";
import { stubGateway } from "./testing/stub_gateway.ts";

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
