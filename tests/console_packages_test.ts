import assert from "node:assert/strict";
import { type Browser, launchBrowser } from "./browser.ts";
import { assertReadable, browserTest, goLive, openPage } from "./console_pages.ts";
import { hasNpx, NpxGateway } from "./npx_gateway.ts";

let npx: NpxGateway;
let browser: Browser;

if (hasNpx) {
  Deno.test.beforeAll(async () => {
    [npx, browser] = await Promise.all([NpxGateway.open(), launchBrowser()]);
    await npx.reach("ready");
    npx.publish("1.1.0", "Notes <img src=x alt=now> of 1.1.0");
    await npx.api("package.check");
  });

  Deno.test.afterAll(async () => {
    await browser?.close();
    await npx?.[Symbol.asyncDispose]();
  });
}

browserTest("a package update is tried, compared and accepted under Review", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await goLive(page, `${npx.url}/servers/notes`);
  await page.getByText("@acme/notes 1.0.0").waitFor();
  await page.getByRole("link", { name: "Review the update to @acme/notes 1.1.0" }).click();
  await page.getByRole("heading", { name: "Package update of notes" }).waitFor();
  await page.getByText("Not known until the release is tried").waitFor();
  await page.getByRole("button", { name: "Try update notes" }).click();
  await page.getByText("The update was tried.").waitFor();
  await page.locator("ins", { hasText: "img src" }).waitFor();
  assert.equal(await page.locator("img[src='x']").count(), 0);
  await assertReadable(page, "package update");
  assert.equal((await npx.seen()).answer, "note of 1.0.0");
  await page.getByRole("button", { name: "Update notes", exact: true }).click();
  const question = page.getByRole("dialog", { name: "Run @acme/notes 1.1.0?" });
  await question.getByRole("button", { name: "Update" }).click();
  await page.getByText("The update runs now.").waitFor();
  assert.equal((await npx.seen()).answer, "note of 1.1.0");
  assert.equal(await page.getByRole("heading", { name: "Package update of notes" }).count(), 0);
  await goLive(page, `${npx.url}/servers/notes`);
  await page.getByText("@acme/notes 1.1.0").waitFor();
  assert.deepEqual(complaints, []);
}, !hasNpx);
