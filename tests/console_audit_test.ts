import assert from "node:assert/strict";
import { join } from "@std/path";
import { AuditRepository } from "../lib/storage/audit_repository.ts";
import { Store } from "../lib/storage/store.ts";
import { type Browser, launchBrowser } from "./browser.ts";
import { assertReadable, browserTest, goLive, openPage } from "./console_pages.ts";
import { startGateway } from "./gateway.ts";

const HOSTILE = "<img src=x onerror=alert(1)>\u202egnp";

let browser: Browser;

Deno.test.beforeAll(async () => {
  browser = await launchBrowser();
});

Deno.test.afterAll(async () => {
  await browser?.close();
});

async function saveProject(url: string, name: string, description = ""): Promise<void> {
  const response = await fetch(`${url}/api/projects/${name}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ description, servers: [] }),
  });
  assert.equal(response.status, 200, await response.text());
}

browserTest(
  "the audit log shows who did what, what it changed, and whether it is whole",
  async () => {
    await using gateway = await startGateway();
    await using open = await openPage(browser);
    const { page, complaints } = open;
    const address = `${gateway.url}/security/audit`;
    await goLive(page, address);
    await page.getByText("No entries yet").waitFor();
    await assertReadable(page, "audit-empty");

    await saveProject(gateway.url, "shop", "The shop");
    await saveProject(gateway.url, "shop", HOSTILE);
    // By itself: the page follows what it shows.
    const changed = page.getByRole("row", { name: /Changed project shop/ });
    await changed.waitFor();
    await changed.getByRole("cell", { name: "someone on this machine (no token)", exact: true })
      .waitFor();
    await changed.getByText("What changed: 1 value").click();
    await changed.getByText("The shop").waitFor();
    await changed.getByText("<img src=x onerror=alert(1)>").waitFor();
    await assertReadable(page, "audit");

    await page.getByRole("link", { name: "Verify log" }).click();
    await page.getByText(/The log is intact: 2 entries of 1 process/).waitFor();
    await page.goto(address);
    await page.getByRole("combobox", { name: "Action" }).selectOption("project.create");
    await page.getByLabel("Who").fill("everyone");
    await page.getByRole("button", { name: "Show" }).click();
    await page.waitForURL(/action=project\.create&who=everyone/);
    await page.getByRole("row", { name: /Created project shop/ }).waitFor();
    assert.equal(await changed.count(), 0);
    assert.equal(
      await page.getByRole("combobox", { name: "Action" }).inputValue(),
      "project.create",
    );

    {
      await using store = await Store.open({ location: join(gateway.dataDir, "quartermaster.kv") });
      const [first] = await Array.fromAsync(new AuditRepository(store).records());
      await store.commit({ deletes: [first!.key] });
    }
    await page.goto(`${address}?check=1`);
    await page.getByText("The log is not intact").waitFor();
    await page.getByText(/One entry is missing before this one/).waitFor();
    await assertReadable(page, "audit-broken");
    assert.deepEqual(complaints, []);
  },
);

browserTest("the audit log is filtered and paged without scripts", async () => {
  await using gateway = await startGateway();
  await using open = await openPage(browser, { javaScriptEnabled: false });
  const { page } = open;
  for (let n = 0; n < 55; n++) await saveProject(gateway.url, `p${n}`);
  await page.goto(`${gateway.url}/security/audit`);
  assert.equal(await page.getByRole("row", { name: /Created project/ }).count(), 50);
  await page.getByRole("link", { name: "Older entries" }).click();
  assert.equal(await page.getByRole("row", { name: /Created project/ }).count(), 5);
  await page.getByRole("link", { name: "Newest entries" }).click();
  await page.getByLabel("Subject").fill("p54");
  await page.getByRole("button", { name: "Show" }).click();
  assert.equal(await page.getByRole("row", { name: /Created project/ }).count(), 1);
  await page.goto(`${gateway.url}/security/audit?until=2001-01-01`);
  await page.getByText("No matching entries").waitFor();
});
