// deno-lint-ignore-file no-import-prefix -- not in deno.json, so that a start does not fetch it
import { type Browser, chromium } from "npm:playwright-core@^1.65.0";

export type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  Page,
} from "npm:playwright-core@^1.65.0";

/** Debian's, the one without a window first: it needs about half the processor time. */
const DEBIAN_CHROMIUM = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A busy machine starts and ends a browser within this. */
const BROWSER_MS = 60_000;

/** Starts a real Chromium: the system's where there is one, else the one that npm carries. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = await findChromium();
  return await chromium.launch({ executablePath, args: FLAGS, timeout: BROWSER_MS });
}

/** Gives up after so long: much of what Playwright does has no limit of its own, closing too. */
export async function within<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  const limit = Promise.withResolvers<never>();
  const fail = () => limit.reject(new Error(`${what} did not end within ${ms} ms`));
  const timer = setTimeout(fail, ms);
  try {
    return await Promise.race([work, limit.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function findChromium(): Promise<string> {
  for (const path of DEBIAN_CHROMIUM) {
    if (await Deno.stat(path).catch(() => undefined)) return path;
  }
  // Loaded only where it is needed: it carries a whole browser.
  const { default: bundled } = await import("npm:@sparticuz/chromium@^153.0.0");
  return await bundled.executablePath();
}
