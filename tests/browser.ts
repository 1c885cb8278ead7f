import { type Browser, chromium } from "playwright-core";

const DEBIAN_CHROMIUM = "/usr/bin/chromium";

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

/** Starts a real Chromium: the system's where there is one, else the one that npm carries. */
export async function launchBrowser(): Promise<Browser> {
  return await chromium.launch({ executablePath: await findChromium(), args: FLAGS });
}

async function findChromium(): Promise<string> {
  try {
    await Deno.stat(DEBIAN_CHROMIUM);
    return DEBIAN_CHROMIUM;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    // Loaded only where it is needed: it carries a whole browser.
    const { default: bundled } = await import("@sparticuz/chromium");
    return await bundled.executablePath();
  }
}
