import assert from "node:assert/strict";
import { join } from "@std/path";
import {
  type ActivityRecord,
  ActivityRepository,
  emptyDay,
} from "../lib/storage/activity_repository.ts";
import { Store } from "../lib/storage/store.ts";
import { type Browser, launchBrowser, type Page } from "./browser.ts";
import { connect, type EndpointClient, tool } from "./combined_endpoints.ts";
import { assertReadable, browserTest as test, goLive, openPage } from "./console_pages.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";
import { type RunningGateway, startGateway, until } from "./gateway.ts";

const SECRET = "swordfish-of-the-server";
const HOSTILE =
  "<img src=x onerror=\"document.title='run'\"> \u202Eevil\u0007 </pre><script>1</script>";

let folder: string;
let git: ScriptedServer;
let gateway: RunningGateway;
let client: EndpointClient;
let browser: Browser;

Deno.test.beforeAll(async () => {
  folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  git = new ScriptedServer([tool("status"), tool("commit"), tool("hostile"), tool("fail")]);
  const said = (text: string, more = {}) =>
    JSON.stringify({ content: [{ type: "text", text }], ...more });
  git.results.set("hostile", said(HOSTILE));
  git.results.set("fail", said(`No such key: ${SECRET}`, { isError: true }));
  const entry = { type: "http", url: git.url, headers: { "x-api-key": SECRET } };
  await Deno.writeTextFile(
    join(folder, ".mcp.json"),
    JSON.stringify({ mcpServers: { git: entry } }),
  );
  [gateway, browser] = await Promise.all([startGateway([], { cwd: folder }), launchBrowser()]);
  client = await until(() => connect(gateway.url, "/servers/git/mcp").catch(() => undefined));
});

Deno.test.afterAll(async () => {
  await client?.[Symbol.asyncDispose]();
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
  await git?.[Symbol.asyncDispose]();
  await Deno.remove(folder, { recursive: true });
});

const rowsOf = (page: Page) => page.locator(".calls-table tbody tr[data-call]");

test("activity page says that there are no calls, and shows one as it happens", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await goLive(page, `${gateway.url}/activity`);
  await page.getByRole("heading", { name: "No calls yet" }).waitFor();
  await assertReadable(page, "activity-empty");
  await page.evaluate(() => Object.assign(globalThis, { isSame: true }));
  await client.call("git.status", { path: "README.md" });
  const row = rowsOf(page).first();
  await row.getByRole("link", { name: "status" }).waitFor();
  const text = await row.innerText();
  assert.match(text, /test 1[\s\S]*\/servers\/git[\s\S]*git[\s\S]*ms[\s\S]*OK/);
  assert.equal(await page.evaluate(() => "isSame" in globalThis), true, "without a reload");

  // Held back on request, shown on request.
  await page.getByRole("button", { name: "Pause" }).click();
  await client.call("git.commit");
  await page.getByRole("button", { name: "1 new entry" }).click();
  await rowsOf(page).first().getByRole("link", { name: "commit" }).waitFor();
  await page.getByRole("button", { name: "Pause" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("activity page filters by its address, and what is new has to pass as well", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await client.call("git.fail");
  await client.call("git.status", { path: "needle.txt" });
  await goLive(page, `${gateway.url}/activity?status=error`);
  await rowsOf(page).first().getByRole("link", { name: "fail" }).waitFor();
  assert.equal(await rowsOf(page).count(), 1);
  await client.call("git.status");
  await client.call("git.fail");
  await until(async () => await rowsOf(page).count() === 2 ? true : undefined);
  assert.equal(await rowsOf(page).getByRole("link", { name: "status" }).count(), 0);

  await page.getByRole("combobox", { name: "Status" }).selectOption("");
  await page.getByRole("combobox", { name: "Tool" }).selectOption("commit");
  await page.waitForURL(/tool=commit/);
  await until(async () => await rowsOf(page).count() === 1 ? true : undefined);
  // Full text: what was said in calls counts too.
  await goLive(page, `${gateway.url}/activity?q=needle`);
  await until(async () => await rowsOf(page).count() === 1 ? true : undefined);
  await client.call("git.commit", { message: "a needle" });
  await until(async () => await rowsOf(page).count() === 2 ? true : undefined);
  await goLive(page, `${gateway.url}/activity?q=nothing-has-this`);
  await page.getByRole("heading", { name: "No matching calls" }).waitFor();
  await assertReadable(page, "activity-no-match");
  assert.deepEqual(complaints, []);
});

test("call page shows what was said without secrets, beside the list", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  const key = `Bearer ${"t0ken".repeat(4)}`;
  await client.call("git.commit", { message: `uses ${SECRET}`, password: "open sesame", key });
  await client.call("git.fail", { path: "/x" });
  await goLive(page, `${gateway.url}/activity?server=git`);
  await rowsOf(page).nth(1).getByRole("link", { name: "commit" }).click();
  await page.waitForURL(/\/activity\/[\w-]+\?server=git$/);
  const detail = page.locator(".activity-detail");
  await detail.getByRole("heading", { name: "git.commit" }).waitFor();
  await detail.getByText('"message": "uses [redacted]"').waitFor();
  await detail.getByText("called commit").first().waitFor();
  await detail.getByText(/took [\d.]+ ms/).waitFor();
  await detail.getByText(/[\d.]+ ms before the server, <?[\d.]+ ms after/).waitFor();
  assert.ok(await rowsOf(page).count() > 2, "the list stays beside it");
  assert.equal(await page.locator("[data-current-row]").count(), 1);
  const right = detail.getByRole("link", { name: "Right tool" });
  const href = new URL(await right.getAttribute("href") ?? "", gateway.url);
  assert.equal(href.pathname, "/optimization/git/commit");
  assert.match(href.searchParams.get("prompt") ?? "", /^message: uses \[redacted\], password/);
  assert.equal(href.searchParams.get("category"), "direct");
  await assertReadable(page, "activity-call");

  await detail.getByLabel("It should have been").selectOption("status");
  await detail.getByRole("button", { name: "Wrong tool" }).click();
  await page.waitForURL(/\/optimization\/git\/commit\?/);
  const sent = new URL(page.url()).searchParams;
  assert.deepEqual([sent.get("category"), sent.get("expectedTool")], ["negative", "status"]);
  assert.match(sent.get("prompt") ?? "", /^message: uses \[redacted\]/);
  await page.goBack();

  await rowsOf(page).first().getByRole("link", { name: "fail" }).click();
  await detail.getByRole("heading", { name: "git.fail" }).waitFor();
  await detail.getByText("No such key: [redacted]").first().waitFor();
  const api = await (await fetch(`${gateway.url}/api/activity?limit=500`)).text();
  const ids: string[] = JSON.parse(api).calls.map(({ id }: ActivityRecord) => id);
  const texts = [api, await page.content()];
  for (const id of ids) texts.push(await (await fetch(`${gateway.url}/api/activity/${id}`)).text());
  for (const format of ["csv", "ndjson"]) {
    const response = await fetch(`${gateway.url}/api/activity/export?format=${format}`);
    texts.push(await response.text());
  }
  for (const secret of [SECRET, "open sesame", "t0kent0ken"]) {
    assert.ok(texts.every((text) => !text.includes(secret)), `${secret} is shown`);
  }
  const found = await fetch(`${gateway.url}/api/activity?text=${SECRET}`);
  assert.deepEqual((await found.json()).calls, [], "nobody finds it by searching");
  await page.getByRole("link", { name: "Close" }).click();
  await page.waitForURL(/\/activity\?server=git$/);
  assert.deepEqual(complaints, []);
});

test("call page shows hostile results inert, and says where there is no such call", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await client.call("git.hostile", { x: HOSTILE });
  await goLive(page, `${gateway.url}/activity?tool=hostile`);
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  const detail = page.locator(".activity-detail");
  await detail.getByRole("heading", { name: "git.hostile" }).waitFor();
  await detail.getByText("<img src=x onerror", { exact: false }).first().waitFor();
  assert.ok(await detail.locator(".hidden-char", { hasText: "U+202E" }).count() > 0);
  assert.equal(await detail.locator("img, script").count(), 0);
  assert.doesNotMatch(await page.title(), /run/);
  const missing = await page.goto(`${gateway.url}/activity/abc-def-1`);
  assert.equal(missing?.status(), 404);
  await page.getByRole("heading", { name: "Call not found" }).waitFor();
  assert.equal((await fetch(`${gateway.url}/api/activity/abc-def-1`)).status, 404);
  assert.equal((await fetch(`${gateway.url}/api/activity?limit=501`)).status, 400);
  assert.deepEqual(complaints, []);
});

/** A data folder with as many calls as nobody would make in a test. */
async function seed(dataDir: string, count: number): Promise<void> {
  await using store = await Store.open({ location: join(dataDir, "quartermaster.kv") });
  const repository = new ActivityRepository(store);
  const start = Date.now() - count * 1_000;
  const day = emptyDay(new Date().toISOString().slice(0, 10));
  for (let first = 0; first < count; first += 500) {
    const batch = Array.from({ length: Math.min(500, count - first) }, (_, index) => {
      const nth = first + index;
      const at = start + nth;
      return {
        at,
        id: `${at.toString(36)}-seed-${nth}`,
        endpoint: "mcp?default",
        session: "s",
        principal: "everyone",
        server: `server_${nth % 40}`,
        tool: `tool_${nth}`,
        ms: nth % 90,
        ok: nth % 50 > 0,
        client: "claude-code 2.1.0",
        requestBytes: 140,
        responseBytes: 20_000,
      };
    });
    day.calls += batch.length;
    await repository.append(batch, { ...day }, "seed");
  }
}

test("activity page holds 20,000 calls, and draws only what is seen", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_" });
  try {
    await seed(dataDir, 20_000);
    await using full = await startGateway([], { cwd: folder, dataDir });
    await using other = await until(() =>
      connect(full.url, "/servers/git/mcp").catch(() => undefined)
    );
    await using open = await openPage(browser);
    const { page, complaints } = open;
    await goLive(page, `${full.url}/activity`);
    await page.getByRole("link", { name: "tool_19999", exact: true }).waitFor();
    await assertReadable(page, "activity-list");
    const drawn = () => rowsOf(page).count();
    let most = 0;
    await until(async () => {
      await page.locator(".calls-scroll").evaluate((list) => list.scrollTo(0, list.scrollHeight));
      most = Math.max(most, await drawn());
      return await page.getByText("20,000 entries in total").isVisible() ? true : undefined;
    });
    await page.locator(".calls-scroll").evaluate((list) => list.scrollTo(0, list.scrollHeight));
    await page.getByRole("link", { name: "tool_0", exact: true }).waitFor();
    most = Math.max(most, await drawn());
    assert.ok(most > 0 && most <= 200, `${most} rows were drawn`);

    // What is new waits while somebody reads further down.
    await other.call("git.status");
    await page.getByRole("button", { name: "1 new entry" }).click();
    await rowsOf(page).first().getByRole("link", { name: "status" }).waitFor();
    for (let press = 0; press < 40; press++) await page.keyboard.press("j");
    const focused = page.locator(".calls-table a:focus");
    await until(async () =>
      await focused.count() === 1 && await focused.innerText() === "tool_19961" ? true : undefined
    );
    await page.keyboard.press("k");
    await until(async () => await focused.innerText() === "tool_19962" ? true : undefined);
    await page.keyboard.press("Enter");
    await page.getByText("The request and response are no longer available").waitFor();
    await page.getByText("20,001 entries in total").waitFor();
    await assertReadable(page, "activity-forgotten");
    assert.deepEqual(complaints, []);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

test("activity page can be read and paged without JavaScript", async () => {
  await using open = await openPage(browser, { javaScriptEnabled: false });
  const { page } = open;
  for (let nth = 0; nth < 120; nth++) await client.call("git.status", { nth });
  await page.goto(`${gateway.url}/activity?tool=status`);
  assert.equal(await rowsOf(page).count(), 100);
  await page.getByRole("link", { name: "Older calls" }).click();
  await page.waitForURL(/before=/);
  assert.ok(await rowsOf(page).count() >= 20);
  await page.getByRole("combobox", { name: "Tool" }).selectOption("commit");
  await page.locator("form", { has: page.getByRole("combobox", { name: "Tool" }) })
    .getByRole("button", { name: "Show" }).click();
  await page.waitForURL(/tool=commit/);
  await rowsOf(page).first().getByRole("link", { name: "commit" }).click();
  await page.getByRole("heading", { name: "git.commit" }).waitFor();
});
