import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import { launchBrowser } from "./browser.ts";
import { startGateway } from "./gateway.ts";

const main = fromFileUrl(new URL("../main.ts", import.meta.url));

Deno.test({
  name: "the built app runs as on Deno Deploy: no write, no run, the platform's own KV",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn(t) {
    const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
    await Deno.writeTextFile(
      join(folder, ".mcp.json"),
      JSON.stringify({ mcpServers: { files: { command: "npx", args: ["server-filesystem"] } } }),
    );
    const permissions = [
      "--allow-net",
      "--allow-read",
      "--allow-env",
      "--allow-sys=hostname",
      "--deny-write",
      "--deny-run",
      "--deny-ffi",
    ];
    await using gateway = await startGateway([], {
      cwd: folder,
      diskless: true,
      command: ["run", "-q", ...permissions, main],
      // Deno.openKv() without a path needs a place here; on Deploy it is the app's own.
      env: { QUARTERMASTER_PLATFORM: "deploy", DENO_KV_DEFAULT_PATH: ":memory:" },
    });

    await t.step("nothing was written", async () => {
      const names = Array.from(Deno.readDirSync(folder), (entry) => entry.name);
      assert.deepEqual(names, [".mcp.json"]);
      const ready = await (await fetch(`${gateway.url}/readyz`)).json();
      assert.deepEqual(ready.store, { state: "ok" });
    });

    await t.step("the console can be walked", async () => {
      const browser = await launchBrowser();
      const page = await browser.newPage();
      const errors: string[] = [];
      page.on("pageerror", (error) => errors.push(String(error)));
      page.on("console", (message) => {
        if (message.type() === "error") errors.push(message.text());
      });
      for (
        const path of [
          "/",
          "/servers",
          "/tools",
          "/toolsets",
          "/optimization",
          "/activity",
          "/settings",
        ]
      ) {
        const response = await page.goto(gateway.url + path);
        assert.equal(response?.status(), 200, path);
        assert.ok(await page.locator("h1").first().isVisible(), path);
      }
      assert.deepEqual(errors, []);
      await browser.close();
    });

    await t.step("a stdio server says why it cannot run", async () => {
      const html = await (await fetch(`${gateway.url}/servers/files`)).text();
      assert.match(html, /programs cannot be started on this platform/);
    });
    await gateway.stop();
    await Deno.remove(folder, { recursive: true });
  },
});
