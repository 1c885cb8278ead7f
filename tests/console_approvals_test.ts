import assert from "node:assert/strict";
import { join } from "@std/path";
import { launchBrowser, within } from "./browser.ts";
import { at, openRaw, tool } from "./combined_endpoints.ts";
import { assertReadable, browserTest, goLive, openPage } from "./console_pages.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";
import { startGateway } from "./gateway.ts";

const HOSTILE = "<img src=x onerror=alert(1)>\u202e";

browserTest("a person sees calls come, and approves, denies or trusts them", async () => {
  await using notes = new ScriptedServer([tool("write"), tool("purge")]);
  const cwd = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const browser = await launchBrowser();
  try {
    const config = { mcpServers: { notes: { ...at(notes), mode: "confirm" } } };
    await Deno.writeTextFile(join(cwd, ".mcp.json"), JSON.stringify(config));
    await using gateway = await startGateway([], { cwd });
    const client = await openRaw(gateway.url, "/servers/notes/mcp?names=original");
    const call = (name: string, args: object = {}) =>
      client.result(JSON.stringify({ name, arguments: args }));
    await using opened = await openPage(browser);
    const { page, complaints } = opened;
    page.setDefaultTimeout(60_000);
    const approve = page.getByRole("button", { name: "Approve notes.write" });

    await goLive(page, `${gateway.url}/security/approvals`);
    await page.getByRole("heading", { name: "No calls waiting" }).waitFor();
    await assertReadable(page, "approvals-none");

    // It appears by itself.
    const approved = call("write", { text: HOSTILE, password: "hunter2hunter2" });
    await approve.waitFor();
    const shown = await page.locator(".approval").textContent() ?? "";
    assert.match(shown, /<img src=x onerror=alert\(1\)>/, "hostile texts are texts");
    assert.ok(!shown.includes("hunter2") && !shown.includes("\u202e"));
    assert.deepEqual(notes.calls, []);
    await assertReadable(page, "approvals-waiting");
    await approve.click();
    const dialog = page.getByRole("dialog", { name: "Run notes.write?" });
    await dialog.getByRole("button", { name: "Run it" }).click();
    assert.match(await approved ?? "", /called write/);
    await page.getByRole("heading", { name: "No calls waiting" }).waitFor();

    const denied = call("purge");
    await page.getByRole("button", { name: "Deny notes.purge" }).click();
    assert.match(await denied ?? "", /ACCESS_DENIED/);

    const trusted = call("write");
    await approve.click();
    await dialog.getByRole("button", { name: "Always in this session" }).click();
    assert.match(await trusted ?? "", /called write/);
    assert.match(await call("write") ?? "", /called write/);
    assert.equal(notes.calls.length, 3);
    assert.deepEqual(complaints, []);
  } finally {
    await within(browser.close(), 60_000, "Closing the browser");
    await Deno.remove(cwd, { recursive: true });
  }
});

browserTest("a toolset's mode is set with scripts and without", async () => {
  const cwd = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const browser = await launchBrowser();
  try {
    await using gateway = await startGateway([], { cwd });
    const saved = await fetch(`${gateway.url}/api/exchange/toolsets`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name: "dev", tools: ["weather.get_forecast"] }),
    });
    await saved.body?.cancel();
    for (const [javaScriptEnabled, mode] of [[true, "confirm"], [false, "read-only"]] as const) {
      await using opened = await openPage(browser, { javaScriptEnabled });
      const { page, complaints } = opened;
      page.setDefaultTimeout(60_000);
      const address = `${gateway.url}/security/approvals`;
      // What is chosen before a page's scripts are there is set back when they come.
      await (javaScriptEnabled ? goLive(page, address) : page.goto(address));
      const choice = page.getByLabel("Allowed calls for dev");
      await choice.selectOption(mode);
      const sent = page.waitForResponse((response) => response.request().method() === "POST");
      await page.getByRole("button", { name: "Apply to dev" }).click();
      assert.equal((await sent).status(), 303);
      await page.goto(`${gateway.url}/security/approvals`);
      assert.equal(await choice.inputValue(), mode);
      if (javaScriptEnabled) await assertReadable(page, "approvals-toolsets");
      assert.deepEqual(complaints, []);
    }
  } finally {
    await within(browser.close(), 60_000, "Closing the browser");
    await Deno.remove(cwd, { recursive: true });
  }
});
