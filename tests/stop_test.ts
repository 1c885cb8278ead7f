import assert from "node:assert/strict";
import { startCommand, startGateway, until } from "./gateway.ts";
import { startKvConnect } from "../lib/storage/testing/kv_connect.ts";

Deno.test({
  name: "a stop does not wait for a start that waits for its store",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    await using kv = startKvConnect();
    kv.hang();
    const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_" });
    const child = new Deno.Command(Deno.execPath(), {
      args: [...startCommand(), "--port", "0", "--data-dir", dataDir, "--kv", kv.url],
      env: { DENO_KV_ACCESS_TOKEN: "token", XDG_CONFIG_HOME: dataDir },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    await kv.asked;
    child.kill("SIGTERM");
    const { code, stderr } = await child.output();
    // Had it waited, it would have ended with 2, and said that the store does not answer.
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    await Deno.remove(dataDir, { recursive: true });
  },
});

for (const how of ["hang", "close"] as const) {
  Deno.test({
    name: `a stop waits only briefly for a store that is unreachable (${how})`,
    sanitizeOps: false,
    sanitizeResources: false,
    async fn() {
      await using kv = startKvConnect();
      await using gateway = await startGateway(["--kv", kv.url], {
        env: { QUARTERMASTER_KV_TOKEN: "token" },
      });
      await until(async () => {
        const body = await (await fetch(`${gateway.url}/readyz`)).json();
        assert.deepEqual(body.store, { state: "ok" });
        return body.servers.ready === 1 ? body : undefined;
      });
      await kv[how]();
      // In flight while it stops, and waiting for the store.
      const saved = fetch(`${gateway.url}/api/toolsets`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ name: "late", tools: ["weather.get_alerts"] }),
      }).then((response) => response.body?.cancel(), () => {});
      // Cut short after 5 s, it would neither say "Stopped" nor end with 0.
      const { code } = await gateway.stop();
      await saved;
      assert.equal(code, 0, gateway.log());
      assert.match(gateway.log(), /"msg":"Stopped"/);
    },
  });
}
