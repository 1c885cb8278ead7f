import assert from "node:assert/strict";
import { type Browser, launchBrowser } from "./browser.ts";
import { connect, devServers, Endpoints } from "./combined_endpoints.ts";
import { browserTest, openPage, untilLive } from "./console_pages.ts";
import { until } from "./gateway.ts";

const MOST_SCRIPTS = 10;

let browser: Browser;

Deno.test.beforeAll(async () => {
  browser = await launchBrowser();
});

Deno.test.afterAll(async () => {
  await browser?.close();
});

/** Every kind of page; the call's id is known only once there was one. */
function pages(call: string): string[] {
  return [
    "/",
    "/servers",
    "/servers/git",
    "/servers/git/~edit",
    "/servers/git/~tools",
    "/servers/~new",
    "/tools",
    "/tools/git/status",
    "/toolsets",
    "/toolsets/~new",
    "/toolsets/~import",
    "/toolsets/dev",
    "/toolsets/dev/edit",
    "/optimization",
    "/optimization/git",
    "/optimization/git/status",
    "/optimization/~all",
    "/activity",
    `/activity/${call}`,
    "/security",
    "/security/audit",
    "/security/tokens",
    "/settings",
    "/settings/restore",
    "/nothing-here",
    "/login",
  ];
}

browserTest("a page asks for one stylesheet and at most ten scripts", async () => {
  await using servers = devServers();
  await using endpoints = await Endpoints.open(servers.entries);
  await endpoints.build("dev", ["git.status"]);
  await using client = await connect(endpoints.url, "/mcp?expose=all");
  await client.call("git_status");
  const call = await until(async () => {
    const list = await (await fetch(new URL("/activity", endpoints.url))).text();
    return /data-call="([^"]+)"/.exec(list)?.[1];
  });
  for (const path of pages(call)) {
    // A context of its own: its cache is empty.
    await using open = await openPage(browser);
    const { page, complaints } = open;
    const asked = { script: new Set<string>(), stylesheet: new Set<string>() };
    page.on("request", (request) => {
      const kind = request.resourceType();
      if (kind === "script" || kind === "stylesheet") asked[kind].add(request.url());
    });
    await page.goto(new URL(path, endpoints.url).href);
    if (path !== "/login") await untilLive(page);
    assert.equal(asked.stylesheet.size, 1, `${path}: ${[...asked.stylesheet]}`);
    const { size } = asked.script;
    assert.ok(size > 0 && size <= MOST_SCRIPTS, `${path}: ${size} scripts: ${[...asked.script]}`);
    assert.deepEqual(complaints, [], path);
  }
});
