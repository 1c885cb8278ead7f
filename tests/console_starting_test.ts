import assert from "node:assert/strict";
import { join } from "@std/path";
import { type Browser, launchBrowser } from "./browser.ts";
import { connect } from "./combined_endpoints.ts";
import { assertReadable, browserTest, goLive, openPage } from "./console_pages.ts";
import { chaos, FaultyGateway } from "./faults.ts";
import { brokenNpxServer } from "./fixtures/broken_npx.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";

let faulty: FaultyGateway;
let browser: Browser;
let folder: string;

Deno.test.beforeAll(async () => {
  folder = await Deno.makeTempDir({ prefix: "quartermaster_starting_" });
  const cached = await brokenNpxServer(folder);
  [faulty, browser] = await Promise.all([
    FaultyGateway.start({
      broken: chaos(["--crash-on-start"]),
      blocked: { url: "http://127.0.0.1:9/mcp" },
      cached,
      slow: chaos([`--start-when=${join(folder, "go")}`]),
    }),
    launchBrowser(),
  ]);
  await faulty.reaches("broken", "failed");
});

Deno.test.afterAll(async () => {
  await browser?.close();
  await faulty?.[Symbol.asyncDispose]();
  await Deno.remove(folder, { recursive: true });
});

browserTest("server's page pauses its retries and resumes them", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await goLive(page, `${faulty.url}/servers/broken`);
  await page.getByRole("button", { name: "Pause retries" }).click();
  await page.locator("dl").getByText("Paused by the owner", { exact: true }).waitFor();
  await page.locator("dl .state", { hasText: "Paused" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Restart" }).count(), 0);
  await assertReadable(page, "server-paused");
  await goLive(page, `${faulty.url}/servers`);
  await page.getByRole("row", { name: /Paused broken/ }).waitFor();
  await page.getByRole("link", { name: "broken", exact: true }).click();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("button", { name: "Restart" }).waitFor();
  assert.notEqual((await faulty.statuses()).get("broken")?.state, "paused");
  assert.deepEqual(complaints, []);
});

browserTest("server's page repairs a broken npx cache with one click", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await faulty.reaches("cached", "failed");
  await goLive(page, `${faulty.url}/servers/cached`);
  await page.locator("dl").getByText(/The npx cache of this package is broken/).waitFor();
  await assertReadable(page, "server-broken-cache");
  await page.getByRole("button", { name: "Repair cached" }).click();
  await page.locator("dl .state", { hasText: "Ready" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Repair cached" }).count(), 0);
  assert.equal((await faulty.statuses()).get("cached")?.state, "ready");
  assert.deepEqual(complaints, []);
});

browserTest("server whose entry cannot be used has a page with the error", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await goLive(page, `${faulty.url}/servers`);
  await page.getByRole("link", { name: "blocked", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "blocked" }).waitFor();
  await page.locator("dl").getByText(
    /Its entry uses port 9, which HTTP clients block.*\.mcp\.json:1:\d+/,
  )
    .waitFor();
  await page.getByRole("heading", { name: "In its configuration" }).waitFor();
  for (const name of ["Restart", "Pause retries"]) {
    assert.equal(await page.getByRole("button", { name }).count(), 0, name);
  }
  await assertReadable(page, "server-left-out");
  assert.deepEqual(complaints, []);
});

browserTest(
  "consents page allows a server on this machine with one click, and the client that waits hears of it",
  async () => {
    await using local = new ScriptedServer([{ name: "ping", inputSchema: { type: "object" } }]);
    await using open = await openPage(browser);
    const { page, complaints } = open;
    await using endpoints = await connect(faulty.url, "/gateway/mcp");
    const told: string[] = [];
    const { promise: link, resolve: tell } = Promise.withResolvers<string>();
    const adding = endpoints.client.callTool(
      { name: "add_server", arguments: { name: "near", url: local.url } },
      undefined,
      {
        onprogress({ message = "" }) {
          told.push(message);
          tell(message.replace(/^.*: http/, "http"));
        },
      },
    );
    await page.goto(await link);
    const card = page.locator(".card", { hasText: "Add the server near" });
    await card.getByText(local.url).waitFor();
    await assertReadable(page, "consents-address");
    await card.getByRole("button", { name: "Approve and connect near" }).click();
    const { isError, content } = await adding;
    assert.notEqual(isError, true, JSON.stringify(content));
    assert.match(JSON.stringify(content), /Added\. near \(http\): ready, 1 tool\b/);
    await page.getByText("was started. It is not trusted").waitFor();
    assert.deepEqual(complaints, []);
  },
);

browserTest("dashboard and tools show servers that are starting, until they are up", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await goLive(page, `${faulty.url}/tools`);
  await page.getByText("1 server is still starting.").waitFor();
  await goLive(page, faulty.url);
  await page.getByText("1 server is still starting.").waitFor();
  await page.getByRole("status").getByRole("link", { name: "slow" }).waitFor();
  await assertReadable(page, "dashboard-starting");
  await Deno.writeTextFile(join(folder, "go"), "");
  await page.getByText("1 server is still starting.").waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
});
