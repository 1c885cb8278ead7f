import assert from "node:assert/strict";
import { type Browser, launchBrowser } from "./browser.ts";
import { assertReadable, browserTest, goLive, openPage } from "./console_pages.ts";
import { ELSEWHERE, WITH_ADMIN } from "./elsewhere.ts";
import { type RunningGateway, startGateway } from "./gateway.ts";
import { Trap } from "./security/trap.ts";

let gateway: RunningGateway;
let browser: Browser;
let trap: Trap;

Deno.test.beforeAll(async () => {
  trap = await Trap.make();
  [gateway, browser] = await Promise.all([
    startGateway([], { env: WITH_ADMIN }),
    launchBrowser(),
  ]);
});

Deno.test.afterAll(async () => {
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
  await trap?.[Symbol.asyncDispose]();
});

/** Somebody elsewhere wants a program run. */
async function want(name: string, args = trap.program().args): Promise<void> {
  const response = await fetch(`${gateway.url}/api/servers`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...ELSEWHERE,
      "x-forwarded-for": "<b>192.0.2.7</b>",
    },
    body: JSON.stringify({ name, ...trap.program(), args }),
  });
  assert.equal(response.status, 403, await response.text());
}

browserTest("consents page shows a program as it comes, and runs it after a question", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await goLive(page, `${gateway.url}/security/consents`);
  await page.getByText("No requests waiting").waitFor();
  await assertReadable(page, "consents-empty");

  await want("wanted");
  const card = page.locator(".card", { hasText: "Add the server wanted" });
  await card.waitFor();
  assert.deepEqual(await card.locator(".consent-argv li").allInnerTexts(), trap.argv);
  await card.getByText("CANARY", { exact: true }).waitFor();
  await card.getByText('forwarded for "<b>192.0.2.7</b>"').waitFor();
  assert.doesNotMatch(await page.content(), /canary-value/);
  await assertReadable(page, "consents");
  assert.equal(await trap.isSprung(), false);

  await card.getByRole("button", { name: "Approve and start wanted" }).click();
  const question = page.getByRole("dialog", { name: "Run this program as wanted?" });
  await question.getByRole("button", { name: "Run it" }).click();
  await page.getByText("It is not trusted").waitFor();
  assert.equal(await trap.isSprung(), true);
  await page.getByRole("link", { name: "wanted" }).click();
  await page.getByRole("heading", { level: 1, name: "wanted" }).waitFor();
  assert.deepEqual(complaints, []);
});

browserTest(
  "consents page refuses without scripts, and agrees to nothing from elsewhere",
  async () => {
    const hidden = "a\u202Eb";
    await want("refused", ["-c", `<img src=x alt=now>${hidden}`, ""]);
    await using open = await openPage(browser, {
      javaScriptEnabled: false,
      extraHTTPHeaders: ELSEWHERE,
    });
    const { page } = open;
    await page.goto(`${gateway.url}/security/consents`);
    const card = page.locator(".card", { hasText: "Add the server refused" });
    await card.getByText("<img src=x").waitFor();
    assert.equal(await page.locator("img[src='x']").count(), 0);
    await card.locator(".hidden-char").waitFor();
    assert.equal(await card.getByRole("button", { name: /Agree/ }).count(), 0);
    await card.getByText("quartermaster consent approve").waitFor();
    await card.getByRole("button", { name: "Refuse refused" }).click();
    await page.getByText("refused was refused. Nothing was started.").waitFor();
    await page.getByText("No requests waiting").waitFor();
  },
);

browserTest(
  "adding a server says what its address or program needs, before it is added",
  async () => {
    await using open = await openPage(browser);
    const { page } = open;
    await goLive(page, `${gateway.url}/servers/~new`);
    await page.locator("textarea[name=entry], input[name=entry]").first().fill(
      "http://10.0.0.1/mcp",
    );
    await page.getByText("address belongs to a private network. It is allowed")
      .waitFor();
  },
);
