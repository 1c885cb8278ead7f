import assert from "node:assert/strict";
import { maskUrl, settingsPage } from "./settings_page.ts";
import { stubGateway } from "./testing/stub_gateway.ts";

const runtime = { deno: "2.9.6", system: "linux x86_64" };

Deno.test("settingsPage() tells each option's value, origin and names", () => {
  const page = settingsPage(stubGateway({ options: { port: 4000, dataDir: "/data" } }), runtime);
  const row = (flag: string) => page.rows.find((row) => row.flag === flag);
  assert.equal(row("--port")?.value, "4000");
  assert.equal(row("--port")?.origin, "flag");
  assert.equal(row("--port")?.variable, "QUARTERMASTER_PORT");
  assert.equal(row("--max-body")?.value, "4 MiB");
  assert.equal(row("--stdio")?.value, "Off");
  assert.equal(row("--public-url")?.value, undefined);
  assert.equal(page.about.dataDir, "/data");
});

Deno.test("settingsPage() shows no secret of a data store's address", () => {
  const kv = "https://user:hunter2@kv.example.com/db?token=hunter2";
  const page = settingsPage(stubGateway({ options: { kv } }), runtime);
  assert.ok(!JSON.stringify(page).includes("hunter2"));
  assert.equal(maskUrl(kv), "https://••••@kv.example.com/db?••••");
});

Deno.test("maskUrl() leaves paths alone", () => {
  for (const path of ["/data/quartermaster.kv", ":memory:", "C:\\data\\x.kv", "127.0.0.1"]) {
    assert.equal(maskUrl(path), path);
  }
});
