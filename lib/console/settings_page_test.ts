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

Deno.test("settingsPage() looks for an evaluator only when asked to", async () => {
  const evaluator = { kind: "claude-cli", model: "sonnet", problem: null };
  const program = { path: "/bin/claude", version: "2.1.325 (Claude Code)" };
  const gateway = {
    ...stubGateway(),
    evaluator: () =>
      Promise.resolve({
        info: () => Promise.resolve(evaluator),
        program: () => Promise.resolve(program),
        trial: { last: undefined },
      }),
  } as unknown as ReturnType<typeof stubGateway>;
  const unasked = await settingsPage(gateway, runtime);
  assert.equal(unasked.optimization.check, undefined);
  const asked = await settingsPage(gateway, runtime, new URLSearchParams("check=evaluator"));
  assert.deepEqual(asked.optimization.check, { ...evaluator, program });
});

Deno.test("settingsPage() says only what the gateway itself words", async () => {
  const done = async (code: string) =>
    (await settingsPage(stubGateway(), runtime, new URLSearchParams({ done: code }))).done;
  assert.match(await done("log-level") ?? "", /log level is changed/);
  assert.equal(await done("Your account is locked, call 555"), undefined);
});
