import assert from "node:assert/strict";
import { join } from "@std/path";
import { verifyBackup } from "../lib/storage/backup.ts";
import { type Browser, launchBrowser } from "./browser.ts";
import { connect, DEV_TOOLS, devServers, Endpoints, lists } from "./combined_endpoints.ts";
import { assertReadable, browserTest, goLive, openPage, untilLive } from "./console_pages.ts";
import { startGateway, until } from "./gateway.ts";

let browser: Browser;

Deno.test.beforeAll(async () => {
  browser = await launchBrowser();
});

Deno.test.afterAll(async () => {
  await browser?.close();
});

browserTest("optimization is switched in the browser, and a client's tools follow", async () => {
  await using gateway = await startGateway();
  await using manager = await connect(gateway.url, "/gateway/mcp");
  const isListed = async () =>
    (await manager.client.listTools()).tools.some(({ name }) => name === "optimize_tools");
  assert.equal(await isListed(), false);
  await using open = await openPage(browser);
  await using other = await openPage(browser);
  const { page, complaints } = open;
  await Promise.all([page, other.page].map((each) => goLive(each, `${gateway.url}/settings`)));
  await assertReadable(page, "settings-page");

  await page.getByRole("button", { name: "Switch optimization on" }).click();
  await page.getByText("Optimization is on.").waitFor();
  await until(() => manager.told.tools.length > 0 || undefined);
  assert.equal(await isListed(), true);
  // Another tab hears of it by itself, in the page and in its frame.
  await other.page.getByRole("button", { name: "Switch optimization off" }).waitFor();
  await other.page.getByRole("banner").getByText("Optimization on").waitFor();

  const told = manager.told.tools.length;
  await other.page.getByRole("button", { name: "Switch optimization off" }).click();
  await other.page.getByText("Optimization is off.").waitFor();
  await until(() => manager.told.tools.length > told || undefined);
  assert.equal(await isListed(), false);
  await page.getByRole("button", { name: "Switch optimization on" }).waitFor();
  assert.deepEqual(complaints, []);
});

browserTest(
  "optimization that a flag switched on says so, and a missing evaluator too",
  async () => {
    await using gateway = await startGateway([
      "--enable-optimization",
      "--evaluator",
      "claude-cli",
      "--claude-path",
      "/nowhere/claude",
    ]);
    await using open = await openPage(browser, { javaScriptEnabled: false });
    const { page } = open;
    await page.goto(`${gateway.url}/settings`);
    await page.getByText("It was switched on by the flag at startup").waitFor();
    assert.equal(await page.getByRole("button", { name: /Switch optimization/ }).count(), 0);
    const refused = await fetch(`${gateway.url}/settings`, {
      method: "POST",
      body: new URLSearchParams({ action: "optimization-off" }),
    });
    assert.equal(refused.status, 409);
    await refused.body?.cancel();
    await page.getByRole("button", { name: "Check the evaluator" }).click();
    await page.getByText(/Cannot evaluate: .*\/nowhere\/claude/).waitFor();
    await page.goto(`${gateway.url}/optimization`);
    await page.getByRole("button", { name: "Check again" }).click();
    await page.getByText("The evaluator was checked. The result is below.").waitFor();
    await page.getByText(/Cannot evaluate: .*\/nowhere\/claude/).waitFor();
  },
);

browserTest(
  "log level changes at once, for this run alone, and only from our own pages",
  async () => {
    await using gateway = await startGateway();
    await using open = await openPage(browser);
    const { page } = open;
    await goLive(page, `${gateway.url}/settings`);
    assert.ok(!gateway.log().includes('"level":"debug"'));
    await page.getByLabel("Value of --log-level").selectOption("debug");
    await page.getByRole("button", { name: "Save --log-level" }).click();
    await page.getByText("Setting changed").waitFor();
    await until(async () => {
      await (await fetch(`${gateway.url}/healthz`)).body?.cancel();
      await (await fetch(`${gateway.url}/console.css`)).body?.cancel();
      return gateway.log().includes('"level":"debug"') || undefined;
    });
    await page.getByText("Reverts to info when the gateway restarts").waitFor();
    const foreign = await fetch(`${gateway.url}/settings`, {
      method: "POST",
      body: new URLSearchParams({ action: "set", option: "logLevel", value: "fatal" }),
      headers: { origin: "https://evil.example" },
    });
    assert.equal(foreign.status, 403);
    await foreign.body?.cancel();
  },
);

browserTest(
  "an option is edited in place, also without scripts, and a filter finds it",
  async () => {
    await using gateway = await startGateway(["--activity-retention", "20"]);
    await using open = await openPage(browser, { javaScriptEnabled: false });
    const { page } = open;
    await page.goto(`${gateway.url}/settings`);
    await page.getByRole("searchbox", { name: "Filter options" }).fill("activity-retention");
    await page.getByRole("button", { name: "Filter" }).click();
    await page.waitForURL(/q=activity-retention/);
    assert.equal(await page.getByRole("row").count(), 2, "a heading and one option");
    const value = page.getByLabel("Value of --activity-retention");
    assert.equal(await value.inputValue(), "20");
    await value.fill("0");
    await page.getByRole("button", { name: "Save --activity-retention" }).click();
    await page.getByText('Cannot use "0" for --activity-retention: it must be a whole number')
      .waitFor();
    await value.fill("7");
    await page.getByRole("button", { name: "Save --activity-retention" }).click();
    await page.getByText("Setting changed until the gateway restarts.").waitFor();
    assert.equal(await value.inputValue(), "7");
    await page.getByText("Reverts to 20 when the gateway restarts.").waitFor();
    await page.getByRole("row", { name: /Days to keep tool calls/ })
      .getByText("console", { exact: true }).waitFor();
    // What is kept is told from the same value.
    await page.getByText("7 days, about 100,000 of them").waitFor();
    const shown = await (await fetch(`${gateway.url}/api/audit.list`)).text();
    assert.match(shown, /activity-retention/);
  },
);

browserTest("search is indexed again with its progress, and a backup is downloaded", async () => {
  let isHeld = false;
  let release = () => {};
  let asked = 0;
  const model = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const { input } = await request.json();
    asked += input.length;
    if (isHeld) await new Promise<void>((resolve) => release = resolve);
    const data = input.map((_: string, index: number) => ({ index, embedding: [1, index, 2] }));
    return Response.json({ data });
  });
  try {
    await using gateway = await startGateway([], {
      env: {
        QUARTERMASTER_EMBEDDINGS: "openai",
        QUARTERMASTER_EMBEDDINGS_URL: `http://127.0.0.1:${model.addr.port}`,
        QUARTERMASTER_EMBEDDINGS_MODEL: "stand-in",
      },
    });
    await using open = await openPage(browser, { acceptDownloads: true });
    const { page, complaints } = open;
    await (await fetch(`${gateway.url}/api/search?q=rain`)).body?.cancel();
    await goLive(page, `${gateway.url}/settings`);
    await page.getByText(/^\d+ tool texts indexed$/).waitFor();
    const before = asked;
    isHeld = true;
    await page.getByRole("button", { name: "Rebuild index" }).click();
    await page.getByText("Keyword search is up to date").waitFor();
    await page.getByText(/^0 of \d+ tool texts indexed$/).waitFor();
    await untilLive(page);
    isHeld = false;
    await until(() => asked > before || undefined);
    release();
    await page.getByText(/^\d+ tool texts indexed$/).waitFor();

    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download a backup" }).click(),
    ]);
    assert.match(file.suggestedFilename(), /^quartermaster-\d{4}-\d\d-\d\d\.backup$/);
    const path = join(gateway.dataDir, "downloaded");
    await file.saveAs(path);
    assert.ok((await verifyBackup(path)).entries > 0);
    assert.deepEqual(complaints, []);
  } finally {
    await model.shutdown();
  }
});

browserTest("palette equips a toolset and restarts a server, and says what failed", async () => {
  await using servers = devServers();
  await using endpoints = await Endpoints.open(servers.entries);
  await endpoints.build("dev", DEV_TOOLS);
  await using client = await connect(endpoints.url, "/mcp");
  await lists(client, []);
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await goLive(page, `${endpoints.url}/toolsets`);
  const rail = page.getByRole("navigation", { name: "Main", exact: true });
  assert.match(await rail.getByRole("link", { name: /^Toolsets/ }).innerText(), /1$/);
  const run = async (typed: string, name: RegExp) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search" }).waitFor();
    await page.keyboard.type(typed);
    await page.getByRole("option", { name, selected: true }).waitFor();
    await page.keyboard.press("Enter");
  };
  await run("equip dev", /^Equip toolset dev/);
  await page.getByText('Equipped "dev"').waitFor();
  await until(async () => (await client.tools()).length === DEV_TOOLS.length || undefined);
  await run("unequip", /^Unequip toolset dev/);
  await lists(client, []);

  await servers.docker.leave();
  await run("restart docker", /^Restart server docker/);
  // What it comes to is told where that is known soon; a busy machine may take longer.
  const isBusy = page.getByText("docker is being restarted").first();
  await page.locator(".toast-error", { hasText: "docker" }).or(isBusy).first().waitFor();
  servers.docker.comeBack();
  await run("restart docker", /^Restart server docker/);
  await page.getByText("Restarted docker: 2 tools").or(isBusy).first().waitFor();
  assert.deepEqual(complaints, []);
});

browserTest("capital letters act as the spec's chords do, and help lists them", async () => {
  await using gateway = await startGateway();
  await using open = await openPage(browser, { colorScheme: "light" });
  const { page, complaints } = open;
  await goLive(page, gateway.url);
  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  for (
    const meaning of [
      "Add a server",
      "Optimize all servers",
      "Export the optimization report",
      "Show activity without filters",
    ]
  ) {
    await help.getByText(meaning).waitFor();
  }
  await page.keyboard.press("Escape");
  await page.keyboard.press("Shift+A");
  await page.waitForURL(`${gateway.url}/servers/~new`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.keyboard.press("Shift+L");
  await page.waitForURL(`${gateway.url}/activity`);
  await page.keyboard.press("Shift+O");
  await page.waitForURL(`${gateway.url}/optimization/~all`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  const [report] = await Promise.all([
    page.waitForEvent("download"),
    page.keyboard.press("Shift+E"),
  ]);
  assert.match(report.suggestedFilename(), /\.md$|report/);
  await report.delete();
  const background = () =>
    page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await background();
  await page.keyboard.press("Shift+D");
  assert.notEqual(await background(), light);
  assert.deepEqual(complaints, []);
});

browserTest("activity log is cleared after a question, on other pages too", async () => {
  await using servers = devServers();
  await using endpoints = await Endpoints.open(servers.entries);
  await endpoints.build("dev", DEV_TOOLS);
  await using client = await connect(endpoints.url, "/toolsets/dev/mcp");
  const [first] = await client.tools();
  await client.client.callTool({ name: first ?? "", arguments: {} });
  await using open = await openPage(browser);
  await using other = await openPage(browser);
  const { page, complaints } = open;
  const rows = (each: typeof page) => each.locator("[data-call]");
  for (const each of [page, other.page]) {
    await goLive(each, `${endpoints.url}/activity`);
    await rows(each).first().waitFor();
  }
  await page.getByRole("button", { name: /^Clear log/ }).click();
  const question = page.getByRole("dialog", { name: "Clear the activity log?" });
  await question.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await rows(page).count(), 1);
  await page.getByRole("button", { name: /^Clear log/ }).click();
  await question.getByRole("button", { name: "Clear all calls" }).click();
  for (const each of [page, other.page]) await rows(each).first().waitFor({ state: "detached" });
  assert.deepEqual((await (await fetch(`${endpoints.url}/api/activity`)).json()).calls, []);
  // What comes later is kept again.
  await client.client.callTool({ name: first ?? "", arguments: {} });
  await rows(page).first().waitFor();
  assert.deepEqual(complaints, []);
});
