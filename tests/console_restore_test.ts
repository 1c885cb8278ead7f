import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { join } from "@std/path";
import { verifyBackup } from "../lib/storage/backup.ts";
import { type Browser, launchBrowser } from "./browser.ts";
import { assertReadable, browserTest, goLive, openPage } from "./console_pages.ts";
import { ELSEWHERE, WITH_ADMIN } from "./elsewhere.ts";
import { type RunningGateway, startGateway, until } from "./gateway.ts";

/** One of the built-in demo server. */
const TOOL = "weather.get_forecast";

let browser: Browser;

Deno.test.beforeAll(async () => {
  browser = await launchBrowser();
});

Deno.test.afterAll(async () => {
  await browser?.close();
});

/** Its tool is there a moment after the start. */
function saveToolset({ url }: RunningGateway, name: string): Promise<boolean> {
  return until(async () => {
    const response = await fetch(`${url}/api/toolsets`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name, tools: [TOOL] }),
    });
    await response.body?.cancel();
    return response.ok || undefined;
  });
}

async function toolsets({ url }: RunningGateway): Promise<string[]> {
  const { toolsets } = await (await fetch(`${url}/api/toolsets`)).json();
  return toolsets.map(({ name }: { name: string }) => name).sort();
}

browserTest(
  "backup is checked, confirmed, taken back, and put in place at the next start",
  async () => {
    const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_" });
    try {
      const file = join(dataDir, "mine.backup");
      {
        await using gateway = await startGateway([], { dataDir });
        await saveToolset(gateway, "early");
        const made = await fetch(`${gateway.url}/settings/backup`, { method: "POST" });
        await Deno.writeFile(file, new Uint8Array(await made.arrayBuffer()));
        await saveToolset(gateway, "late");

        await using open = await openPage(browser);
        const { page, complaints } = open;
        await goLive(page, `${gateway.url}/settings`);
        await page.getByRole("link", { name: "Restore a backup" }).click();
        await page.getByRole("heading", { level: 1, name: "Restore a backup" }).waitFor();
        const upload = async (name: string, buffer: Uint8Array) => {
          // deno-lint-ignore no-explicit-any -- playwright wants Node's own Buffer
          const given = { name, mimeType: "application/octet-stream", buffer } as any;
          await page.getByLabel("Backup file").setInputFiles(given);
          await page.getByRole("button", { name: "Check the file" }).click();
        };
        await upload("photo.png", Buffer.from("not a backup"));
        await page.getByText('Cannot restore "photo.png": it is not a backup file')
          .waitFor();
        const whole = await Deno.readFile(file);
        await upload("cut.backup", Buffer.from(whole.slice(0, -30)));
        await page.getByText(/Nothing was changed: Cannot restore "cut\.backup"/).waitFor();
        assert.equal(await page.getByText("Backup is valid").count(), 0);

        await upload("mine.backup", Buffer.from(whole));
        const row = page.getByRole("row", { name: /Toolsets/ });
        await row.waitFor();
        assert.deepEqual(await row.getByRole("cell").allInnerTexts(), ["Toolsets", "1", "2"]);
        await assertReadable(page, "settings-restore");
        const confirm = async () => {
          await page.getByRole("button", { name: "Restore at next start" }).click();
          const question = page.getByRole("dialog", { name: /Replace everything/ });
          await question.getByText(/with its 2 toolsets/).waitFor();
          await question.getByRole("button", { name: "Replace at next start" }).click();
          await page.getByText("Waiting for restart").waitFor();
        };
        await confirm();
        await page.getByRole("button", { name: "Cancel restore" }).click();
        await page.getByText("Waiting for restart").waitFor({ state: "detached" });
        await upload("mine.backup", Buffer.from(whole));
        await confirm();
        await assertReadable(page, "settings-restore-waits");
        assert.deepEqual(await toolsets(gateway), ["early", "late"]);
        assert.deepEqual(complaints, []);
      }
      await using gateway = await startGateway([], { dataDir });
      assert.deepEqual(await toolsets(gateway), ["early"]);
      await using open = await openPage(browser, { javaScriptEnabled: false });
      const { page } = open;
      await page.goto(`${gateway.url}/settings`);
      await page.getByText(/A backup was restored when the gateway started/).waitFor();
      await page.getByRole("link", { name: "Restore a backup" }).click();
      const told = await page.getByText(/The previous data is saved in/).innerText();
      const kept = /\S+\.backup/.exec(told)?.[0] ?? "";
      assert.ok((await verifyBackup(kept)).entries > 0);
    } finally {
      await Deno.remove(dataDir, { recursive: true });
    }
  },
);

browserTest("backup is taken from this machine's own pages alone", async () => {
  await using gateway = await startGateway([], { env: WITH_ADMIN });
  const send = (headers: Record<string, string>) => {
    const body = new FormData();
    body.set("backup", new File(["x"], "a.backup"));
    return fetch(`${gateway.url}/settings/restore`, { method: "POST", body, headers });
  };
  const foreign = await send({ origin: "https://evil.example" });
  const proxied = await send(ELSEWHERE);
  assert.deepEqual([foreign.status, proxied.status], [403, 403]);
  await Promise.all([foreign, proxied].map(({ body }) => body?.cancel()));
});
