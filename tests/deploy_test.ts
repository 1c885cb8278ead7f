import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import { launchBrowser } from "./browser.ts";
import { startModelStandIn } from "./fixtures/model_stand_in.ts";
import { startGateway } from "./gateway.ts";

const main = fromFileUrl(new URL("../main.ts", import.meta.url));
const TOKEN = "the-first-token-of-this-app";
const PERMISSIONS = [
  "--allow-net",
  "--allow-read",
  "--allow-env",
  "--allow-sys=hostname",
  "--deny-write",
  "--deny-run",
  "--deny-ffi",
];
// Deno.openKv() without a path needs a place here; on Deploy it is the app's own.
const PLATFORM = { QUARTERMASTER_PLATFORM: "deploy", DENO_KV_DEFAULT_PATH: ":memory:" };

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
    await using model = startModelStandIn(({ tools }) => {
      const forecast = tools.find(({ name }) => name.includes("weather_forecast"));
      return forecast
        ? { toolUse: { name: forecast.name, input: { city: "Lisbon" } } }
        : { text: "Done" };
    });
    await using gateway = await startGateway([], {
      cwd: folder,
      diskless: true,
      command: ["run", "-q", ...PERMISSIONS, main],
      env: {
        ...PLATFORM,
        QUARTERMASTER_ADMIN_TOKEN: TOKEN,
        QUARTERMASTER_ENABLE_OPTIMIZATION: "true",
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: "sk-any",
      },
    });
    const headers = { authorization: `Bearer ${TOKEN}` };

    await t.step("nothing was written", async () => {
      const names = Array.from(Deno.readDirSync(folder), (entry) => entry.name);
      assert.deepEqual(names, [".mcp.json"]);
      const ready = await (await fetch(`${gateway.url}/readyz`)).json();
      assert.deepEqual(ready.store, { state: "ok" });
    });

    await t.step("nobody comes in without the token", async () => {
      const closed = ["/", "/mcp", "/servers/files/mcp", "/gateway/mcp", "/api/servers"];
      for (const path of [...closed, "/api/events", "/metrics", "/security/tokens"]) {
        const response = await fetch(gateway.url + path);
        assert.equal(response.status, 401, path);
        assert.doesNotMatch(await response.text(), /server-filesystem/);
      }
      for (const path of ["/healthz", "/login"]) {
        const response = await fetch(gateway.url + path);
        assert.equal(response.status, 200, path);
        await response.body?.cancel();
      }
      assert.ok(!gateway.log().includes(TOKEN));
    });

    await t.step("the console can be walked", async () => {
      const browser = await launchBrowser();
      const page = await browser.newPage();
      await page.goto(gateway.url);
      await page.getByLabel("Token").fill(TOKEN);
      await page.getByRole("button", { name: "Log in" }).click();
      await page.getByRole("heading", { level: 1 }).first().waitFor();
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
          "/security",
          "/security/tokens",
          "/security/projects",
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
      const html = await (await fetch(`${gateway.url}/servers/files`, { headers })).text();
      assert.match(html, /this platform cannot run programs: .* no permission to run Deno/);
    });

    await t.step("the Messages API evaluates, which nobody has to choose", async () => {
      const ask = async (operation: string) => {
        const answer = await fetch(`${gateway.url}/api/${operation}`, {
          method: "POST",
          headers: { ...headers, "content-type": "application/json" },
          body: "{}",
        });
        return await answer.json();
      };
      assert.equal((await ask("evaluator.check")).kind, "messages-api");
      assert.equal(model.requests.length, 0);
      const { outcome, message } = await ask("evaluator.test");
      assert.equal(outcome, "right", message);
    });
    await gateway.stop();
    await Deno.remove(folder, { recursive: true });
  },
});

Deno.test("on Deno Deploy nothing is served without a first token, and the log says how to give one", async () => {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  try {
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-q", ...PERMISSIONS, main, "--port", "0"],
      cwd: folder,
      env: PLATFORM,
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).output();
    const said = new TextDecoder().decode(stderr);
    assert.equal(code, 2, said);
    assert.match(said, /QUARTERMASTER_ADMIN_TOKEN/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
