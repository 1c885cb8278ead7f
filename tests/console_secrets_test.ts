import assert from "node:assert/strict";
import { join } from "@std/path";
import { type Browser, launchBrowser } from "./browser.ts";
import { assertReadable, browserTest, goLive, openPage } from "./console_pages.ts";
import { chaos } from "./faults.ts";
import { startGateway, until } from "./gateway.ts";

const VALUE = "hunter2-never-shown";

let browser: Browser;

Deno.test.beforeAll(async () => {
  browser = await launchBrowser();
});

Deno.test.afterAll(async () => {
  await browser?.close();
});

async function withProject(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  try {
    const mcpServers = { uses_it: chaos([], { env: { TOKEN: "${secret:TOKEN}" } }) };
    await Deno.writeTextFile(join(folder, ".mcp.json"), JSON.stringify({ mcpServers }));
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

browserTest(
  "a secret is set in the browser, used, never shown, and deleted",
  () =>
    withProject(async (cwd) => {
      await using gateway = await startGateway([], { cwd });
      await using open = await openPage(browser);
      const { page, complaints } = open;
      await goLive(page, `${gateway.url}/security/secrets`);
      await page.getByText("No secrets yet").waitFor();
      await page.getByText(/TOKEN is not set, but uses_it refers to it/).waitFor();
      await assertReadable(page, "secrets-empty");

      await page.getByRole("link", { name: "Set TOKEN" }).click();
      await page.waitForURL(/name=TOKEN/);
      // The address is there before the page is.
      await until(async () => await page.getByLabel("Name").inputValue() === "TOKEN" || undefined);
      await page.getByLabel("Value").fill(VALUE);
      await page.getByRole("button", { name: "Set secret" }).click();
      await page.getByText("Secret set.").waitFor();
      const row = page.getByRole("row", { name: /^TOKEN/ });
      await row.getByRole("link", { name: "uses_it" }).waitFor();
      assert.ok(!(await page.content()).includes(VALUE));
      await assertReadable(page, "secrets");

      await page.goto(`${gateway.url}/servers/uses_it`);
      await page.getByText("Ready").first().waitFor();
      assert.ok(!(await page.content()).includes(VALUE));

      await page.goto(`${gateway.url}/security/secrets`);
      await row.getByRole("button", { name: "Delete TOKEN" }).click();
      await page.getByRole("dialog").getByText("1 server (uses_it) cannot start until").waitFor();
      await page.getByRole("button", { name: "Delete secret" }).click();
      await page.getByText("Secret deleted.").waitFor();
      await page.getByText(/TOKEN is not set/).waitFor();
      assert.deepEqual(complaints, []);
    }),
);

browserTest(
  "secrets can be set without scripts, and a refused one keeps its name alone",
  () =>
    withProject(async (cwd) => {
      await using gateway = await startGateway([], { cwd });
      await using open = await openPage(browser, { javaScriptEnabled: false });
      const { page } = open;
      const address = `${gateway.url}/security/secrets`;
      await page.goto(address);
      await page.getByLabel("Name").fill("OTHER");
      await page.getByLabel("Value").fill(VALUE);
      await page.getByRole("button", { name: "Set secret" }).click();
      await page.getByRole("row", { name: /^OTHER/ }).getByText("no server", { exact: true })
        .waitFor();

      const refused = await fetch(address, {
        method: "POST",
        headers: { origin: gateway.url },
        body: new URLSearchParams({ action: "set", name: "not-a-name", value: VALUE }),
      });
      assert.equal(refused.status, 400);
      const text = await refused.text();
      assert.match(text, /A secret name must have/);
      assert.match(text, /value="not-a-name"/);
      assert.ok(!text.includes(VALUE));
    }),
);
