import assert from "node:assert/strict";
import { startStubConsole } from "../lib/console/testing/stub_console.ts";
import { problem, stubGateway } from "../lib/console/testing/stub_gateway.ts";
import { type Browser, launchBrowser } from "./browser.ts";
import {
  assertAccessible,
  assertFits,
  assertReadable,
  browserTest as test,
  goLive,
  NARROW,
  openPage,
  screenshot,
  untilLive,
} from "./console_pages.ts";
import { type RunningGateway, startGateway } from "./gateway.ts";

const PAGES = [
  "/",
  "/servers",
  "/servers/weather",
  "/servers/wether",
  "/tools",
  "/tools/weather/get_forecast",
  "/toolsets",
  "/optimization",
  "/activity",
  "/clients",
  "/settings",
  "/nothing-here",
];

let gateway: RunningGateway;
let browser: Browser;

Deno.test.beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway(), launchBrowser()]);
});

Deno.test.afterAll(async () => {
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
});

test("console has no accessibility finding on any page, wide and narrow, light and dark", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  for (const path of PAGES) {
    await goLive(page, gateway.url + path);
    await assertReadable(page, path.replaceAll("/", "-").slice(1) || "dashboard");
    assert.deepEqual(complaints, [], path);
  }
});

test("console overlays have no accessibility finding in either theme", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await goLive(page, `${gateway.url}/servers`);
  const check = async (name: string) => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await assertAccessible(page, `${name} (${colorScheme})`);
      await screenshot(page, `${name}-${colorScheme}`);
    }
  };
  await page.keyboard.press("Control+k");
  await page.getByRole("option", { name: "weather", exact: true }).waitFor();
  await check("palette");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await check("shortcuts");
  assert.deepEqual(complaints, []);
});

test("console navigation reaches every page and marks the one shown", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await goLive(page, `${gateway.url}/`);
  const rail = page.getByRole("navigation", { name: "Main", exact: true });
  for (
    const label of [
      "Servers",
      "Tools",
      "Toolsets",
      "Optimization",
      "Activity",
      "Settings",
      "Dashboard",
    ]
  ) {
    await rail.getByRole("link", { name: new RegExp(`^${label}\\b`) }).click();
    await page.getByRole("heading", { level: 1, name: label }).waitFor();
    const current = rail.locator('[aria-current="page"]');
    assert.equal(await current.count(), 1);
    assert.match(await current.innerText(), new RegExp(`^${label}`));
    assert.equal(await page.title(), `${label} · Quartermaster`);
  }
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
  const header = await page.getByRole("banner").innerText();
  for (const part of ["1 server", `:${new URL(gateway.url).port}`, "Optimization off", "Live"]) {
    assert.ok(header.includes(part), `the header lacks ${part}: ${header}`);
  }
  assert.deepEqual(complaints, []);
});

test("console on a small screen has a bottom bar with everything", async () => {
  await using open = await openPage(browser, { viewport: NARROW });
  const { page } = open;
  await goLive(page, `${gateway.url}/`);
  const bar = page.getByRole("navigation", { name: "Main, small screen" });
  await bar.getByRole("link", { name: /^Servers/ }).click();
  await page.getByRole("heading", { level: 1, name: "Servers" }).waitFor();
  await bar.getByRole("button", { name: "More" }).click();
  await bar.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
  await bar.getByRole("link", { name: "Activity" }).waitFor({ state: "hidden" });
});

test("command palette opens by keyboard, finds, goes there and remembers", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await goLive(page, `${gateway.url}/`);
  await page.keyboard.press("Control+k");
  const field = page.getByRole("combobox", { name: "Search" });
  await field.waitFor();
  assert.ok(await field.evaluate((element) => element === document.activeElement));
  await page.keyboard.type("fore");
  await page.getByRole("option", { name: /get_forecast/, selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "get_forecast" }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/tools/weather/get_forecast");

  await page.keyboard.press("Control+k");
  await page.getByRole("group", { name: "Recent" }).getByRole("option", { name: /get_forecast/ })
    .waitFor();
  await page.keyboard.press("ArrowDown");
  await page.getByRole("option", { name: /Dashboard/, selected: true }).waitFor();
  for (let presses = 0; presses < 6; presses++) await page.keyboard.press("Tab");
  assert.ok(
    await page.evaluate(() =>
      document.activeElement === document.body || document.activeElement?.closest("dialog") !== null
    ),
    "the focus left the palette",
  );
  await page.keyboard.press("Escape");
  await field.waitFor({ state: "hidden" });
  assert.deepEqual(complaints, []);
});

test("command palette takes the letters typed right after its shortcut", async () => {
  await using open = await openPage(browser);
  const { page } = open;
  await goLive(page, `${gateway.url}/`);
  // No frame passes between the shortcut and the look at the focus, as with a fast typist.
  const focused = await page.evaluate(async () => {
    const press = { key: "k", ctrlKey: true, bubbles: true, cancelable: true };
    document.body.dispatchEvent(new KeyboardEvent("keydown", press));
    for (let turns = 0; turns < 20; turns++) await Promise.resolve();
    return document.activeElement?.getAttribute("aria-label");
  });
  assert.equal(focused, "Search");
});

test("single keys go to pages, but never while somebody types or with a modifier", async () => {
  await using open = await openPage(browser);
  const { page } = open;
  await goLive(page, `${gateway.url}/`);
  for (
    const [key, path] of [
      ["s", "/servers"],
      ["o", "/optimization"],
      ["l", "/activity"],
      ["c", "/clients"],
      [",", "/settings"],
      ["i", "/"],
      ["t", "/tools"],
    ] as const
  ) {
    await page.keyboard.press(key);
    await page.waitForURL(gateway.url + path);
  }
  await page.getByRole("searchbox", { name: "Search tools" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("silo?");
  await page.waitForURL(`${gateway.url}/tools?q=silo%3F`);
  assert.equal(await page.getByRole("dialog").count(), 0);
  await page.getByText("No matching tools").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+s");
  await page.keyboard.press("Alt+o");
  await page.waitForTimeout(200);
  assert.equal(new URL(page.url()).pathname, "/tools");
});

test("tables are walked with j, k and Enter", async () => {
  await using open = await openPage(browser);
  const { page } = open;
  await goLive(page, `${gateway.url}/tools`);
  for (const key of ["j", "j", "j", "k"]) await page.keyboard.press(key);
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "get_current");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "get_current" }).waitFor();
});

test("theme and width of the rail are remembered, and are there before the first paint", async () => {
  await using open = await openPage(browser, { colorScheme: "light" });
  const { page } = open;
  const background = () =>
    page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  await goLive(page, `${gateway.url}/`);
  const light = await background();
  await page.getByRole("button", { name: "Dark theme" }).click();
  await page.getByRole("button", { name: "Collapse" }).click();
  const dark = await background();
  assert.notEqual(dark, light);
  await page.route(
    "**/*.js*",
    (route) => route.request().url().includes("boot") ? route.continue() : route.abort(),
  );
  await page.reload({ waitUntil: "domcontentloaded" });
  assert.equal(await background(), dark);
  assert.equal(await page.locator("#rail").evaluate((rail) => rail.clientWidth < 70), true);
  await page.unroute("**/*.js*");
  await goLive(page, `${gateway.url}/`);
  await page.getByRole("button", { name: "Use system theme" }).click();
  assert.equal(await background(), light);
});

test("copying says so, and errors stay until they are dismissed", async () => {
  await using open = await openPage(browser, {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const { page } = open;
  await goLive(page, `${gateway.url}/`);
  await page.getByRole("button", { name: "Copy console URL" }).click();
  await page.getByText("Copied to the clipboard").waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), gateway.url);
  await page.route("**/tools?*", (route) => route.abort());
  await page.getByRole("link", { name: /^Tools/ }).first().click();
  const message = page.getByText("The page could not be loaded");
  await message.waitFor();
  await page.getByText("Copied to the clipboard").waitFor({ state: "hidden", timeout: 8_000 });
  assert.ok(await message.isVisible());
  await page.getByRole("button", { name: "Dismiss" }).click();
  await message.waitFor({ state: "hidden" });
});

test("live indicator says reconnecting when the stream breaks, and recovers", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  const first = await startGateway();
  const port = new URL(first.url).port;
  await goLive(page, `${first.url}/servers`);
  // At the same time: on a busy machine the gateway may take so long to end that it says "Offline".
  await Promise.all([
    page.getByRole("status").filter({ hasText: "Reconnecting" }).waitFor(),
    first[Symbol.asyncDispose](),
  ]);
  await using _second = await startGateway(["--port", port]);
  await page.getByRole("status").filter({ hasText: "Live" }).waitFor();
  // Refused connections are reported by the browser itself.
  assert.deepEqual(complaints.filter((text) => !text.includes("ERR_")), []);
});

test("not-found pages show the id that the response and the log have", async () => {
  await using open = await openPage(browser);
  const { page } = open;
  for (
    const path of [
      "/nothing-here",
      "/servers/wether",
      "/tools/weather/get_forcast",
      "/servers/%E0%A4%A",
    ]
  ) {
    const response = await page.goto(gateway.url + path);
    assert.equal(response?.status(), 404, path);
    const id = await page.locator("[data-error-id]").getAttribute("data-error-id");
    assert.equal(id, await response.headerValue("x-request-id"));
    assert.ok(gateway.log().includes(id ?? "missing"));
  }
  await page.goto(`${gateway.url}/servers/wether`);
  await page.getByRole("link", { name: "weather", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "weather" }).waitFor();
  const answer = await fetch(`${gateway.url}/nothing-here`, { method: "POST" });
  assert.equal(answer.status, 404);
  assert.equal((await answer.json()).error.errorType, "NOT_FOUND");
});

test("pages are readable without JavaScript", async () => {
  await using open = await openPage(browser, { javaScriptEnabled: false });
  const { page } = open;
  for (const path of PAGES) {
    await page.goto(gateway.url + path);
    assert.ok(await page.getByRole("heading", { level: 1 }).isVisible(), path);
    assert.ok(await page.getByRole("link", { name: /^Settings/ }).first().isVisible(), path);
    assert.equal(await page.locator(".needs-js").filter({ visible: true }).count(), 0, path);
  }
  await page.goto(`${gateway.url}/tools`);
  await page.getByRole("searchbox").fill("radar");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\?q=radar/);
  assert.equal(await page.locator("tbody tr").count(), 1);
});

test("a page's JavaScript stays below 120 KB compressed", async () => {
  await using open = await openPage(browser);
  const { page } = open;
  const scripts = new Map<string, Uint8Array>();
  page.on("response", async (response) => {
    if (response.request().resourceType() === "script") {
      scripts.set(response.url(), await response.body());
    }
  });
  await goLive(page, `${gateway.url}/tools`);
  await page.waitForTimeout(200);
  let total = 0;
  for (const body of scripts.values()) {
    const zipped = new Blob([Uint8Array.from(body)]).stream().pipeThrough(
      new CompressionStream("gzip"),
    );
    total += (await new Response(zipped).arrayBuffer()).byteLength;
  }
  assert.ok(scripts.size > 5, "no scripts were seen");
  assert.ok(total < 120 * 1024, `${total} bytes`);
});

const HOSTILE = [
  '<img src=x onerror="window.hacked=1">',
  '"><script>window.hacked=1</script>',
  "</script><script>window.hacked=1</script>",
  "javascript:window.hacked=1",
  "safe\u202Etxt.exe\u2066",
  "../../settings",
  "{{constructor.constructor('window.hacked=1')()}}",
];

test("hostile names and descriptions are shown inert", async () => {
  await using stub = await startStubConsole(stubGateway({
    servers: [
      {
        name: "evil",
        reason: HOSTILE.join(" "),
        state: "degraded",
        tools: HOSTILE.map((text) => ({
          name: text,
          title: text,
          description: text,
          inputSchema: {
            type: "object",
            properties: { [text]: { type: text, description: text, default: text, enum: [text] } },
          },
        })),
      },
    ],
    problems: [problem({ message: HOSTILE.join(" "), fix: HOSTILE.join(" ") })],
  }));
  await using open = await openPage(browser);
  const { page, complaints } = open;
  const paths = HOSTILE.map((name) => `/tools/evil/${encodeURIComponent(name)}`);
  for (
    const path of [
      "/",
      "/servers",
      "/servers/evil",
      "/tools",
      `/tools?q=${encodeURIComponent(HOSTILE[1] ?? "")}`,
      ...paths,
    ]
  ) {
    const response = await page.goto(stub.url + path);
    assert.equal(response?.status(), 200, path);
    assert.equal(await page.locator("main img, main script").count(), 0, path);
    assert.equal(await page.locator('a[href^="javascript:"]').count(), 0, path);
  }
  await page.goto(`${stub.url}/tools`);
  assert.ok(
    await page.getByText("U+202E").first().isVisible(),
    "a direction override is not shown",
  );
  await untilLive(page);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("script");
  await page.getByRole("option").first().waitFor();
  assert.equal(await page.locator("dialog img, dialog script").count(), 0);
  assert.equal(await page.evaluate(() => "hacked" in globalThis), false);
  assert.deepEqual(complaints, []);
});

test("a page that fails shows its error with the id, and nothing of its cause", async () => {
  await using stub = await startStubConsole({
    ...stubGateway({ servers: [{ name: "a" }] }),
    readiness() {
      throw new Error("a secret detail");
    },
  });
  await using open = await openPage(browser);
  const { page, complaints } = open;
  const response = await page.goto(stub.url);
  assert.equal(response?.status(), 500);
  assert.match(await response.headerValue("content-security-policy") ?? "", /nonce-/);
  await page.getByRole("heading", { level: 1, name: "This page could not be loaded" }).waitFor();
  assert.match(await page.locator("[data-error-id]").innerText(), /^[0-9a-f-]{36}$/);
  const content = await page.content();
  assert.ok(content.includes("INTERNAL") && !content.includes("secret"));
  await assertAccessible(page, "error page");
  await untilLive(page);
  await page.keyboard.press("s");
  await page.getByRole("heading", { level: 1, name: "Servers" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("lists follow the live channel and keep what is being typed", async () => {
  const live = stubGateway({ servers: [{ name: "one" }, { name: "two" }] });
  await using stub = await startStubConsole(live);
  await using open = await openPage(browser);
  const { page } = open;
  await goLive(page, `${stub.url}/servers`);
  await page.keyboard.press("/");
  await page.keyboard.type("o");
  await page.waitForURL(/q=o$/);
  const [first] = live.servers.list();
  assert.ok(first);
  Object.assign(first, { state: "failed", reason: "It fell over" });
  stub.publish("server", first);
  stub.publish("status", { servers: 2, ready: 1, tools: 0, attention: 1 });
  await page.keyboard.type("n");
  await page.getByText("It fell over").waitFor();
  await page.waitForURL(/q=on$/);
  assert.equal(await page.getByRole("searchbox").inputValue(), "on");
  assert.ok(
    await page.getByRole("searchbox").evaluate((field) => field === document.activeElement),
  );
  await page.getByRole("banner").getByText("1/2 ready").waitFor();
  await page.locator(".rail .nav-dot").waitFor();
});

test("console stays usable with 400 servers and 5,200 tools", async () => {
  const description = "Lists things that match a filter, newest first. ".repeat(12);
  await using stub = await startStubConsole(stubGateway({
    servers: Array.from({ length: 400 }, (_, index) => ({
      name: `server-${index}`,
      state: index % 7 === 0 ? "failed" as const : "ready" as const,
      tools: Array.from(
        { length: 13 },
        (_, tool) => ({ name: `list_things_${tool}`, description }),
      ),
    })),
  }));
  await using open = await openPage(browser);
  const { page, complaints } = open;
  for (
    const path of [
      "/",
      "/servers",
      "/servers/server-200",
      "/tools",
      "/tools?q=things+newest&page=30",
      "/tools/server-3/list_things_4",
    ]
  ) {
    await goLive(page, stub.url + path);
    const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
    assert.ok(nodes < 5_000, `${path} has ${nodes} elements`);
  }
  await page.getByRole("link", { name: "list_things_5", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "list_things_5" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("server-399");
  await page.getByRole("option", { name: "server-399", exact: true, selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "server-399" }).waitFor();
  await page.setViewportSize(NARROW);
  for (const path of ["/", "/servers", "/tools?page=52"]) {
    await goLive(page, stub.url + path);
    await assertFits(page, path);
  }
  assert.deepEqual(complaints, []);
});

test("console removes the demo server and puts it back, with and without scripts", async () => {
  await using own = await startGateway();
  for (const javaScriptEnabled of [true, false]) {
    await using open = await openPage(browser, { javaScriptEnabled });
    const { page } = open;
    await page.goto(`${own.url}/servers/weather`);
    await page.getByRole("button", { name: "Remove demo server" }).click();
    await page.getByRole("heading", { name: "No servers yet" }).waitFor();
    assert.equal((await fetch(`${own.url}/servers/weather`)).status, 404);
    await page.getByRole("button", { name: "Restore demo server" }).click();
    await page.getByRole("link", { name: "weather" }).first().waitFor();
  }
});

/** A server whose tools have a past: changed both ways, new, gone, and invalid. */
function withPast(now: number) {
  const MINUTE = 60_000;
  const version = (minutesAgo: number, definition: Record<string, unknown>) => ({
    text: JSON.stringify({ name: "search", ...definition }),
    fingerprint: String(minutesAgo),
    seenAt: now - minutesAgo * MINUTE,
  });
  const inputSchema = {
    type: "object",
    properties: { query: { type: "string" }, limit: { type: "string" } },
    required: ["query"],
  };
  const search = [
    version(3, {
      title: "Search",
      description: "Searches documents by keyword and gives the best matches, newest first.",
      inputSchema: {
        type: "object",
        properties: { query: { type: "string" }, limit: { type: "integer" }, scope: {} },
        required: ["query", "scope"],
      },
    }),
    version(90, {
      description: "Searches documents by keyword and returns the best matches.",
      inputSchema,
    }),
    version(3_000, { description: "Searches pages by keyword.", inputSchema }),
  ] as const;
  const hostile = HOSTILE.join(" ");
  const plain = (minutesAgo: number, description: string) =>
    version(minutesAgo, { description, inputSchema: { type: "object" } });
  const history = {
    tools: [
      { server: "docs", name: "search", version: 3, current: search[0], earlier: search.slice(1) },
      { server: "docs", name: "fetch", version: 1, current: plain(20, "Fetches"), earlier: [] },
      {
        server: "docs",
        name: "browse",
        version: 1,
        current: plain(3_000, "Browses"),
        earlier: [],
        goneSince: now - 45 * MINUTE,
      },
      {
        server: "docs",
        name: HOSTILE[0] ?? "",
        version: 2,
        current: plain(500, hostile),
        earlier: [plain(3_000, "Harmless")],
      },
    ],
    invalid: [
      {
        server: "docs",
        name: "export",
        problem: 'Its input schema has the type "array"; it must be "object"',
        text: '{"name":"export","inputSchema":{"type":"array"}}',
        seenAt: now - 3 * MINUTE,
      },
      {
        server: "docs",
        name: HOSTILE[1] ?? "",
        problem: "It has no input schema",
        text: JSON.stringify({ name: hostile }),
        seenAt: now - 20 * MINUTE,
      },
    ],
  };
  const tools = ["search", "fetch"].map((name) => ({ name, description: "Does it" }));
  return stubGateway({ servers: [{ name: "docs", tools, history }] });
}

test("what changed about a server's tools and what is invalid are shown to be read", async () => {
  await using stub = await startStubConsole(withPast(Date.now()));
  await using open = await openPage(browser);
  const { page, complaints } = open;
  for (const path of ["/servers/docs", "/tools/docs/search"]) {
    await goLive(page, stub.url + path);
    await assertReadable(page, `history-${path.split("/")[1]}`);
  }
  const versions = page.locator("section", { hasText: "Versions" });
  assert.deepEqual(
    (await versions.locator(".change-head").allTextContents()).map((text) =>
      text.match(/Version \d|Breaking|Compatible/g)
    ),
    [["Version 3", "Breaking"], ["Version 2", "Compatible"], ["Version 1"]],
  );
  assert.equal(await versions.locator("ins", { hasText: /^documents$/ }).count(), 1);
  assert.equal(await versions.locator("del", { hasText: /^pages$/ }).count(), 1);

  await goLive(page, `${stub.url}/servers/docs`);
  const changes = page.locator("section", { hasText: "Tool changes" });
  assert.deepEqual(
    await changes.locator("time").allInnerTexts(),
    ["3 min ago", "20 min ago", "45 min ago", "1 h ago", "8 h ago"],
  );
  await changes.getByText('Input: "scope" is new and required').waitFor();
  // What came and what went differ in more than color.
  const lines = (tag: string) =>
    changes.locator(tag).first().evaluate((element) =>
      getComputedStyle(element).textDecorationLine
    );
  assert.deepEqual([await lines("ins"), await lines("del")], ["underline", "line-through"]);
  const invalid = page.locator("section", { hasText: "Invalid tools" });
  await invalid.getByText('has the type "array"; it must be "object"').waitFor();
  await invalid.getByText("Definition as the server sent it").first().click();
  await invalid.locator("pre").first().waitFor();
  assert.equal(await page.locator("main img, main script").count(), 0);
  assert.equal(await page.evaluate(() => "hacked" in globalThis), false);
  assert.deepEqual(complaints, []);
});

test("the page of a server with 2,000 tools that have all changed stays small", async () => {
  const text = (words: string) =>
    JSON.stringify({ name: "t", description: words, inputSchema: { type: "object" } });
  const tools = Array.from({ length: 2_000 }, (_, index) => ({
    server: "large",
    name: `tool_${index}`,
    version: 2,
    current: { text: text("new ".repeat(300)), fingerprint: "b", seenAt: Date.now() },
    earlier: [{ text: text("old ".repeat(300)), fingerprint: "a", seenAt: 0 }],
  }));
  await using stub = await startStubConsole(stubGateway({
    servers: [{ name: "large", history: { tools, invalid: [] } }],
  }));
  await using open = await openPage(browser);
  const { page } = open;
  await goLive(page, `${stub.url}/servers/large`);
  await page.getByText("1,980 earlier changes").waitFor();
  const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
  assert.ok(nodes < 5_000, `${nodes} elements`);
});
