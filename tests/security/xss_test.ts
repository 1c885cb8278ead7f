import assert from "node:assert/strict";
import { join } from "@std/path";
import { z } from "zod";
import { launchBrowser, within } from "../browser.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { startGateway, until } from "../gateway.ts";

/** Runs where markup is not taken for text, in a page, an attribute, a script or an address. */
const ATTACKS = [
  "<img src=x onerror=window.hacked=1>",
  '"><script>window.hacked=1</script>',
  "</script><script>window.hacked=1</script>",
  "javascript:window.hacked=1",
  "'-window.hacked=1-'",
  "{{constructor.constructor('window.hacked=1')()}}",
  "<svg/onload=window.hacked=1>",
];
const ATTACK = ATTACKS.join(" ");

/** A tool with an attack in each of its fields. */
const POISONED = {
  name: "evil",
  title: ATTACK,
  description: ATTACK,
  inputSchema: {
    type: "object",
    title: ATTACK,
    description: ATTACK,
    properties: {
      "<b onclick=window.hacked=1>x": {
        type: "string",
        title: ATTACK,
        description: ATTACK,
        default: ATTACK,
        enum: [ATTACK, "b"],
        examples: [ATTACK],
      },
    },
    required: ["<b onclick=window.hacked=1>x"],
  },
  outputSchema: { type: "object", description: ATTACK, properties: { y: { type: "string" } } },
  annotations: { title: ATTACK },
  icons: [{ src: "javascript:window.hacked=1" }],
  _meta: { note: ATTACK },
};

const Called = z.looseObject({ outcome: z.looseObject({ isError: z.boolean() }) });
const Calls = z.looseObject({ calls: z.array(z.looseObject({ id: z.string() })) });

const PAGES = [
  "/",
  "/servers",
  "/servers/poisoned",
  "/servers/poisoned/~tools",
  "/tools",
  `/tools?q=${encodeURIComponent(ATTACKS[0]!)}`,
  "/tools/poisoned/evil",
  "/toolsets/~new",
  "/optimization/poisoned",
  "/optimization/poisoned/evil",
  "/activity",
  "/security/review",
  "/security/audit",
];

Deno.test({
  name: "a tool's texts run nowhere in the console, whichever field they are in",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    await using server = new ScriptedServer([POISONED]);
    server.results.set(
      "evil",
      JSON.stringify({
        content: [{ type: "text", text: ATTACK }],
        structuredContent: { y: ATTACK },
      }),
    );
    const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
    await Deno.writeTextFile(
      join(folder, ".mcp.json"),
      JSON.stringify({ mcpServers: { poisoned: { type: "http", url: server.url } } }),
    );
    await using gateway = await startGateway([], { cwd: folder });
    // Quarantine is another defense: here the texts have to come through.
    await until(async () => {
      const { items } = await (await fetch(`${gateway.url}/api/review`)).json();
      for (const { server, tool, fingerprint, findings = [] } of items) {
        for (const { rule } of findings) {
          const body = JSON.stringify({ server, tool, fingerprint, rule, reason: "a test" });
          const headers = { "content-type": "application/json" };
          const waived = await fetch(`${gateway.url}/api/review/waive`, {
            method: "POST",
            headers,
            body,
          });
          await waived.body?.cancel();
        }
      }
      const { tools } = await (await fetch(`${gateway.url}/api/tools`)).json();
      return tools.some(({ name }: { name: string }) => name === "evil") || undefined;
    });
    const called = await fetch(`${gateway.url}/api/tools/poisoned/evil/call`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        arguments: { "<b onclick=window.hacked=1>x": ATTACK },
        confirmed: true,
      }),
    });
    const answer = await called.text();
    assert.equal(called.status, 200, answer);
    assert.equal(Called.parse(JSON.parse(answer)).outcome.isError, false, answer);
    const callPath = await until(async () => {
      const { calls } = Calls.parse(await (await fetch(`${gateway.url}/api/activity`)).json());
      return calls[0] && `/activity/${calls[0].id}`;
    });
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      page.setDefaultTimeout(30_000);
      const dialogs: string[] = [];
      page.on("dialog", (dialog) => {
        dialogs.push(dialog.message());
        void dialog.dismiss();
      });
      for (const path of [...PAGES, callPath]) {
        const response = await page.goto(gateway.url + path, { waitUntil: "load" });
        assert.equal(response?.status(), 200, path);
        await page.waitForTimeout(100);
        const state = await page.evaluate(() => ({
          hacked: "hacked" in globalThis,
          images: document.querySelectorAll('img[src="x"], svg[onload]').length,
          links: document.querySelectorAll('[href^="javascript:"], [src^="javascript:"]').length,
        }));
        assert.deepEqual(state, { hacked: false, images: 0, links: 0 }, path);
      }
      const shown = async (path: string) =>
        (await (await fetch(gateway.url + path)).text()).split("&lt;img src=x onerror").length - 1;
      assert.ok(await shown("/tools/poisoned/evil") > 0);
      assert.ok(await shown(callPath) >= 2, "The call's arguments and its result are on its page");
      assert.deepEqual(dialogs, []);
    } finally {
      await within(browser.close(), 20_000, "Closing the browser");
      await Deno.remove(folder, { recursive: true });
    }
  },
});
