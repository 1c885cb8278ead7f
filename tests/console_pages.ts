// deno-lint-ignore-file no-import-prefix -- not in deno.json, so that a start does not fetch it
import assert from "node:assert/strict";
import axe from "npm:axe-core@^4.14.0";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
  within,
} from "./browser.ts";
import { IS_FULL } from "./full.ts";

export const WIDE = { width: 1280, height: 820 };
export const NARROW = { width: 375, height: 740 };
const SIZES = [["wide", WIDE], ["narrow", NARROW]] as const;
const THEMES = ["light", "dark"] as const;
/** Far more than any of them takes, so that none can keep all others waiting. */
const TEST_MS = 600_000;
/** For one thing to be shown. */
const SHOWN_MS = 60_000;
const SCREENSHOTS = new URL("../screenshots/", import.meta.url);

/** Playwright keeps timers and sockets of its own. */
export function browserTest(name: string, fn: () => Promise<void>, ignore = false): void {
  Deno.test({
    name,
    ignore,
    fn: () => within(fn(), TEST_MS, name),
    sanitizeOps: false,
    sanitizeResources: false,
  });
}

interface WatchedPage {
  page: Page;
  /** Console errors, uncaught exceptions and violations of the content security policy. */
  complaints: string[];
}

export interface OpenPage extends WatchedPage, AsyncDisposable {}

/** A page in a context of its own, which ends with it. */
export async function openPage(
  browser: Browser,
  options?: BrowserContextOptions,
): Promise<OpenPage> {
  const context = await openContext(browser, options);
  const watched = await openPageIn(context);
  return { ...watched, [Symbol.asyncDispose]: () => context.close() };
}

export async function openContext(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const shape = { viewport: WIDE, reducedMotion: "reduce" } as const;
  const context = await browser.newContext({ ...shape, ...options });
  context.setDefaultTimeout(SHOWN_MS);
  return context;
}

export async function openPageIn(context: BrowserContext): Promise<WatchedPage> {
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // The browser reports a status of 400 and above as an error by itself.
    const isStatus = /server responded with a status of/.test(message.text());
    if (message.type() === "error" && !isStatus) complaints.push(message.text());
  });
  return { page, complaints };
}

export async function goLive(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await untilLive(page);
}

export async function untilLive(page: Page): Promise<void> {
  await page.locator('.live[data-state="live"]').waitFor();
}

/** What a theme can change. */
const COLOR_RULES = ["color-contrast", "link-in-text-block"];

/** No finding of any impact as the page is shown now, the size of targets included. */
export async function assertAccessible(
  page: Page,
  where: string,
  only?: readonly string[],
): Promise<void> {
  if (!await page.evaluate(() => "axe" in globalThis)) await page.evaluate(axe.source);
  const options = {
    resultTypes: ["violations"],
    ...(only ? { runOnly: only } : {}),
    // WCAG 2.2 AA, but off by default.
    rules: { "target-size": { enabled: true } },
  };
  const found = await page.evaluate(`axe.run(document, ${JSON.stringify(options)})
    .then(({ violations }) => violations
      .map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 200)).join(" | ")))`);
  assert.deepEqual(found, [], where);
}

export async function assertFits(page: Page, where: string): Promise<void> {
  const overflow = await page.evaluate(() =>
    document.documentElement.scrollWidth - document.documentElement.clientWidth
  );
  assert.equal(overflow, 0, `${where} scrolls sideways`);
}

export async function screenshot(page: Page, name: string): Promise<void> {
  await Deno.mkdir(SCREENSHOTS, { recursive: true });
  // An audit leaves the page where it looked last.
  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({ path: new URL(`${name}.png`, SCREENSHOTS).pathname, fullPage: true });
}

/**
 * No finding and nothing that scrolls sideways, wide and narrow, light and dark. All rules are tried
 * in one theme of each width, other ones for other pages; the rules about colors in both.
 */
export async function assertReadable(page: Page, name: string): Promise<void> {
  for (const [index, [size, viewport]] of SIZES.entries()) {
    await page.setViewportSize(viewport);
    for (const [order, colorScheme] of THEMES.entries()) {
      const where = `${name} (${size}, ${colorScheme})`;
      const isWhole = IS_FULL || (name.length + index + order) % 2 === 0;
      await page.emulateMedia({ colorScheme });
      await assertAccessible(page, where, isWhole ? undefined : COLOR_RULES);
      if (isWhole) await screenshot(page, `${name}-${colorScheme}-${size}`);
      await assertFits(page, where);
    }
  }
  await page.setViewportSize(WIDE);
  await page.emulateMedia({ colorScheme: "light" });
}
