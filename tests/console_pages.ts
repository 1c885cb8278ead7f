import assert from "node:assert/strict";
import axe from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { within } from "./browser.ts";

const WIDE = { width: 1280, height: 820 };
/** Far more than any of them takes, so that none can keep all others waiting. */
const TEST_MS = 180_000;
const NARROW = { width: 375, height: 740 };
const SCREENSHOTS = new URL("../screenshots/", import.meta.url);

/** Playwright keeps timers and sockets of its own. */
export function browserTest(name: string, fn: () => Promise<void>): void {
  Deno.test({
    name,
    fn: () => within(fn(), TEST_MS, name),
    sanitizeOps: false,
    sanitizeResources: false,
  });
}

export interface OpenPage extends AsyncDisposable {
  page: Page;
  /** Console errors, uncaught exceptions and violations of the content security policy. */
  complaints: string[];
}

export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: WIDE, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // The browser reports a status of 400 and above as an error by itself.
    const isStatus = /server responded with a status of/.test(message.text());
    if (message.type() === "error" && !isStatus) complaints.push(message.text());
  });
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() };
}

export async function goLive(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.locator('.live[data-state="live"]').waitFor();
}

/** No serious finding and nothing that scrolls sideways, wide and narrow, light and dark. */
export async function assertReadable(page: Page, name: string): Promise<void> {
  await Deno.mkdir(SCREENSHOTS, { recursive: true });
  if (!await page.evaluate(() => "axe" in globalThis)) await page.evaluate(axe.source);
  for (const [size, viewport] of [["wide", WIDE], ["narrow", NARROW]] as const) {
    await page.setViewportSize(viewport);
    const overflow = await page.evaluate(() =>
      document.documentElement.scrollWidth - document.documentElement.clientWidth
    );
    assert.equal(overflow, 0, `${name} (${size}) scrolls sideways`);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const found = await page.evaluate(`axe.run(document, { resultTypes: ["violations"] })
        .then(({ violations }) => violations
          .filter(({ impact }) => impact === "serious" || impact === "critical")
          .map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 200))))`);
      assert.deepEqual(found, [], `${name} (${size}, ${colorScheme})`);
      const path = new URL(`${name}-${colorScheme}-${size}.png`, SCREENSHOTS).pathname;
      await page.screenshot({ path, fullPage: true });
    }
  }
  await page.setViewportSize(WIDE);
}
