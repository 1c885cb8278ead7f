import assert from "node:assert/strict";
import { join } from "@std/path";
import { launchBrowser, within } from "./browser.ts";
import { assertReadable, browserTest, openPage } from "./console_pages.ts";
import { AuthorizationServer } from "./fixtures/authorization_server.ts";
import { startGateway } from "./gateway.ts";

browserTest("a person logs in to a server in a browser, and out again", async () => {
  await using authority = new AuthorizationServer();
  const cwd = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const browser = await launchBrowser();
  try {
    const config = { mcpServers: { files: { url: authority.url } } };
    await Deno.writeTextFile(join(cwd, ".mcp.json"), JSON.stringify(config));
    await using gateway = await startGateway([], { cwd });
    await using opened = await openPage(browser);
    const { page, complaints } = opened;
    page.setDefaultTimeout(60_000);

    await page.goto(`${gateway.url}/servers/files/~login`);
    await assertReadable(page, "login-form");
    await page.getByRole("button", { name: "Log in", exact: true }).click();
    const onwards = page.getByRole("link", { name: /^Continue to 127\.0\.0\.1/ });
    await onwards.waitFor();
    await assertReadable(page, "login-continue");
    await onwards.click();
    // Through the authorization server, back to the gateway, and on by itself.
    await page.getByRole("heading", { name: "Logged in" }).waitFor();
    await page.waitForURL(`${gateway.url}/servers/files`);

    await page.goto(`${gateway.url}/servers/files/~login`);
    await page.getByRole("heading", { name: "You are logged in" }).waitFor();
    await assertReadable(page, "login-present");
    await page.getByRole("button", { name: "Log out files" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Log out", exact: true }).click();
    await page.getByRole("heading", { name: "You are logged in" }).waitFor({ state: "detached" });
    assert.equal(authority.liveTokens, 0);

    await page.goto(`${gateway.url}/oauth/callback?state=x&code=y`);
    await page.getByRole("heading", { name: "Login failed" }).waitFor();
    await assertReadable(page, "login-failed");
    assert.deepEqual(complaints, []);
  } finally {
    await within(browser.close(), 60_000, "Closing the browser");
    await Deno.remove(cwd, { recursive: true });
  }
});
