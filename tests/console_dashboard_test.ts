import assert from "node:assert/strict";
import * as z from "zod";
import { type Browser, launchBrowser } from "./browser.ts";
import { at, connect, devServers, Endpoints, tool } from "./combined_endpoints.ts";
import { assertReadable, browserTest, goLive, openPage } from "./console_pages.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";
import { startGateway, until } from "./gateway.ts";

let browser: Browser;

Deno.test.beforeAll(async () => {
  browser = await launchBrowser();
});

Deno.test.afterAll(async () => {
  await browser?.close();
});

async function compressed(bodies: Iterable<Uint8Array>): Promise<number> {
  let total = 0;
  for (const body of bodies) {
    const zipped = new Blob([Uint8Array.from(body)]).stream()
      .pipeThrough(new CompressionStream("gzip"));
    total += (await new Response(zipped).arrayBuffer()).byteLength;
  }
  return total;
}

browserTest(
  "dashboard shows a real client's calls, errors and durations as they happen",
  async () => {
    await using servers = devServers();
    servers.git.results.set("commit", '{"content":[],"isError":true}');
    await using endpoints = await Endpoints.open(servers.entries);
    await using open = await openPage(browser);
    const { page, complaints } = open;
    const scripts = new Map<string, Uint8Array>();
    page.on("response", async (response) => {
      if (response.request().resourceType() !== "script") return;
      scripts.set(response.url(), await response.body());
    });
    await goLive(page, endpoints.url);
    await page.getByText("No tool calls in this period").waitFor();
    assert.equal(
      await page.locator(".stat", { hasText: "Tools exposed" }).innerText(),
      [
        "Tools exposed",
        "7",
        "of 7 discovered",
      ].join("\n"),
    );

    await using client = await connect(endpoints.url, "/mcp?expose=all");
    for (let calls = 0; calls < 4; calls++) await client.call("git_status");
    await client.call("git_commit");
    await client.call("docker_ps");
    await page.getByText("6 calls and 1 error in the last 24 hours").waitFor();
    const chart = page.getByRole("figure", { name: /^6 calls and 1 error/ });
    await chart.locator("rect.chart-calls").waitFor();
    const map = page.locator("section", { hasText: "Live map" });
    await map.getByText("Show as a table").click();
    const times = page.getByRole("table", { name: /durations by server/ });
    const rows = await times.locator("tbody tr").allInnerTexts();
    assert.deepEqual(rows.map((row) => row.split(/\s+/).slice(0, 3)), [
      ["git", "5", "1"],
      ["docker", "1", "0"],
    ]);
    assert.match(rows[0] ?? "", /ms/);
    await page.locator("section", { hasText: "Errors" }).getByText("Show as a table").last()
      .click();
    const table = page.getByRole("table", { name: "Calls and errors over time" });
    assert.equal(await table.locator("tbody tr").count(), 1);
    assert.match(await table.locator("tbody").innerText(), /6\s+1$/);

    // Pointing at the last bar reads it out.
    const box = await chart.locator(".chart-place").boundingBox();
    assert.ok(box);
    await page.mouse.move(box.x + box.width - 3, box.y + box.height / 2);
    await page.locator(".chart-reading", { hasText: "6 calls, 1 error" }).waitFor();

    await client.call("docker_ps");
    await page.getByText("7 calls and 1 error").first().waitFor();
    await page.getByRole("link", { name: "1 hour" }).click();
    await page.getByText("7 calls and 1 error in the last hour").waitFor();
    assert.equal(new URL(page.url()).search, "?range=1h");
    assert.ok(await compressed(scripts.values()) < 120 * 1024, "Too much JavaScript");
    await assertReadable(page, "dashboard-calls");
    assert.deepEqual(complaints, []);
  },
);

browserTest("the map shows who calls what as it happens, and what fails in words", async () => {
  await using servers = devServers();
  servers.git.results.set("commit", '{"content":[],"isError":true}');
  await using endpoints = await Endpoints.open(servers.entries);
  await using client = await connect(endpoints.url, "/mcp?expose=all");
  for (const reducedMotion of ["no-preference", "reduce"] as const) {
    await using open = await openPage(browser, { reducedMotion });
    const { page, complaints } = open;
    await goLive(page, endpoints.url);
    const map = page.getByRole("group", { name: /^Live map: .* 3 servers/ });
    await map.getByRole("link", { name: /^docker/ }).waitFor();
    // Calls may be over before they are looked for: they are made until one is seen.
    const pulse = map.locator(".map-pulse").first();
    const isSeen = pulse.waitFor({ state: "attached" }).then(() => true);
    let seen: boolean | undefined;
    isSeen.then((value) => seen = value, () => {});
    await until(async () => {
      await client.call("git_commit");
      return seen;
    });
    const animation = await map.locator(".map-pulse").first()
      .evaluate((element) => getComputedStyle(element).animationName).catch(() => undefined);
    // Neither if it was over before it could be looked at.
    if (animation !== undefined && animation !== "") {
      assert.equal(animation, reducedMotion === "reduce" ? "none" : "map-flow");
    }
    for (let calls = 0; calls < 3; calls++) await client.call("git_commit");
    const failing = map.getByRole("link", { name: /^git.*failed/ });
    await failing.waitFor();
    await page.getByRole("link", { name: "git.commit" }).waitFor();
    await page.getByRole("table", { name: /Tokens used by each client/ })
      .getByRole("link", { name: "test" }).waitFor();
    await failing.click();
    await page.getByRole("heading", { level: 1, name: "git" }).waitFor();
    assert.deepEqual(complaints, []);
  }
});

browserTest("60 servers leave the map readable", async () => {
  await using server = new ScriptedServer([tool("status")]);
  const names = Array.from({ length: 60 }, (_, index) => `server${index}`);
  await using endpoints = await Endpoints.open(
    Object.fromEntries(names.map((name) => [name, at(server)])),
    [],
  );
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await goLive(page, endpoints.url);
  const map = page.locator(".map-wide");
  await map.getByRole("link", { name: "60 idle servers" }).waitFor();
  await using client = await connect(endpoints.url, "/mcp?expose=all");
  await client.call("server7_status");
  await map.getByRole("link", { name: /^server7/ }).waitFor();
  await map.getByRole("link", { name: "59 idle servers" }).waitFor();
  await assertReadable(page, "dashboard-60");
  assert.deepEqual(complaints, []);
});

browserTest("many servers and long names leave nothing for axe to find", async () => {
  await using server = new ScriptedServer([tool("status")]);
  const long = `server-${"with-a-long-name-".repeat(4)}`.slice(0, 64);
  // More than the dashboard lists.
  const names = [long, ...Array.from({ length: 9 }, (_, index) => `server${index}`)];
  await using endpoints = await Endpoints.open(
    Object.fromEntries(names.map((name) => [name, at(server)])),
  );
  await using client = await connect(endpoints.url, "/mcp?expose=all");
  for (const name of names.slice(1)) await client.call(`${name}_status`);
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await goLive(page, endpoints.url);
  await page.locator(".map-wide").getByRole("link", { name: /^server0/ }).waitFor();
  await assertReadable(page, "dashboard-many");
  await goLive(page, `${endpoints.url}/tools?q=status`);
  await page.getByRole("link", { name: long }).waitFor();
  await assertReadable(page, "tools-long-name");
  await goLive(page, `${endpoints.url}/activity`);
  await page.locator("[data-call] [data-row-link]").first().click();
  await page.locator("#call-title").waitFor();
  await assertReadable(page, "call");
  assert.deepEqual(complaints, []);
});

browserTest(
  "dashboard's chart and map are there without JavaScript",
  async () => {
    await using servers = devServers();
    await using endpoints = await Endpoints.open(servers.entries);
    await using client = await connect(endpoints.url, "/mcp?expose=all");
    await client.call("git_status");
    await using plain = await openPage(browser, { javaScriptEnabled: false });
    const bars = plain.page.locator(".calls-bars rect.chart-calls");
    // A page waits for the record only so long; without scripts it has to be asked for again.
    await until(async () => {
      await plain.page.goto(endpoints.url);
      return await bars.count() === 1 || undefined;
    });
    assert.ok(((await bars.boundingBox())?.height ?? 0) > 10);
    await plain.page.locator(".map-wide").getByRole("link", { name: /^git/ }).waitFor();
    await plain.page.getByText("Show as a table").last().click();
    const table = plain.page.getByRole("table", { name: "Calls and errors over time" });
    await table.getByRole("cell", { name: "1", exact: true }).waitFor();
  },
);

browserTest(
  "a server that failed is set right with one click, with and without scripts",
  async () => {
    await using servers = devServers();
    await using endpoints = await Endpoints.open(servers.entries);
    for (const javaScriptEnabled of [true, false]) {
      await servers.docker.leave();
      await using breaking = await connect(endpoints.url, "/servers/docker/mcp?names=original");
      await breaking.call("ps").catch(() => {});
      await using open = await openPage(browser, { javaScriptEnabled });
      const { page } = open;
      const attention = page.locator("section", { hasText: "Needs attention" });
      const restart = attention.getByRole("button", { name: "Restart docker" });
      for (let tries = 0; tries < 600; tries++) {
        await page.goto(endpoints.url);
        if (await restart.isVisible()) break;
        await page.waitForTimeout(100);
      }
      servers.docker.comeBack();
      await restart.click();
      await attention.waitFor({ state: "hidden" });
      const ready = page.locator(".stat", { hasText: "Servers" }).getByText("3 ready");
      // Without scripts, the page that follows may still show the server as starting.
      for (let tries = 0; tries < 100 && !javaScriptEnabled && !await ready.isVisible(); tries++) {
        await page.waitForTimeout(100);
        await page.goto(endpoints.url);
      }
      await ready.waitFor();
      assert.equal(new URL(page.url()).pathname, "/");
    }
  },
);

browserTest("actions refuse foreign origins, unknown deeds, and say what failed", async () => {
  await using gateway = await startGateway();
  const post = (body: string, headers: Record<string, string>) =>
    fetch(`${gateway.url}/actions`, {
      method: "POST",
      body: new URLSearchParams(body),
      headers: { accept: "application/json", ...headers },
    });
  const foreign = await post("action=finish-tour", { origin: "https://evil.example" });
  assert.equal(foreign.status, 403);
  await foreign.body?.cancel();
  for (
    const [body, code] of [
      ["action=format-disk", "INVALID_ARGUMENTS"],
      ["action=restart-server&server=nobody", "SERVER_NOT_FOUND"],
      ["action=equip-toolset&toolset=none", "NOT_FOUND"],
    ] as const
  ) {
    const answer = await (await post(body, { origin: gateway.url })).json();
    assert.equal(answer.error.code, code, body);
  }
});

browserTest(
  "the tour of an empty gateway ends when a client connects, and is remembered",
  async () => {
    await using gateway = await startGateway();
    await using open = await openPage(browser);
    const { page, complaints } = open;
    await goLive(page, gateway.url);
    const tour = page.locator("section", { hasText: "Set up in three steps" });
    assert.equal(
      await tour.locator('[aria-current="step"]').innerText().then((text) =>
        text.includes("Add a server")
      ),
      true,
    );
    await assertReadable(page, "tour");
    await tour.getByText("Connect a client").click();
    await tour.getByText("Waiting for a client to connect").waitFor();
    await tour.getByText(`claude mcp add --transport http quartermaster ${gateway.url}/mcp`)
      .waitFor();
    {
      await using _client = await connect(gateway.url, "/mcp");
      await tour.getByText("test is connected. That is all it takes.").waitFor();
      assert.equal(await tour.locator('[data-done="true"]').count(), 1);
    }
    // Leaving the page is the end of it.
    await Promise.all([
      page.waitForResponse(`${gateway.url}/actions`),
      page.keyboard.press("s"),
    ]);
    await page.getByRole("heading", { level: 1, name: "Servers" }).waitFor();
    await page.keyboard.press("i");
    await page.getByRole("heading", { level: 1, name: "Dashboard" }).waitFor();
    assert.equal(await tour.count(), 0);
    assert.deepEqual(complaints, []);
  },
);

browserTest("the tour can be sent away without scripts, and stays away", async () => {
  await using gateway = await startGateway();
  await using open = await openPage(browser, { javaScriptEnabled: false });
  const { page } = open;
  await page.goto(gateway.url);
  await page.getByRole("button", { name: "Skip the tour" }).click();
  await page.getByRole("heading", { level: 1, name: "Dashboard" }).waitFor();
  const tour = page.getByText("Set up in three steps");
  assert.equal(await tour.count(), 0);
  await page.goto(gateway.url);
  assert.equal(await tour.count(), 0);
});

browserTest(
  "a promotion that its server has outrun is kept, or reverted after a question",
  async () => {
    await using servers = devServers();
    await using endpoints = await Endpoints.open(servers.entries);
    await using client = await connect(endpoints.url, "/servers/git/mcp?names=original");
    const described = async () =>
      (await client.client.listTools()).tools.find(({ name }) => name === "commit")?.description;
    const tool = "/api/optimization/tools/git/commit";
    const own = (text: string) => {
      servers.git.tools = servers.git.tools.map((each) =>
        each.name === "commit" ? { ...each, description: text } : each
      );
    };
    const { value } = await endpoints.api("POST", `${tool}/candidates`, { description: "Ours" });
    const candidateId = z.looseObject({ candidate: z.looseObject({ id: z.string() }).optional() })
      .parse(value).candidate?.id ?? z.string().parse(value.id);
    await endpoints.api("POST", `${tool}/promote`, { candidateId, reason: "Shorter" });
    assert.equal(await described(), "Ours");

    await using open = await openPage(browser);
    const { page } = open;
    const attention = page.locator("section", { hasText: "Needs attention" });
    for (const [words, verb] of [["Other words", "Keep"], ["Words again", "Revert"]] as const) {
      own(words);
      await endpoints.api("POST", "/api/servers/git/restart", {});
      await goLive(page, endpoints.url);
      await attention.getByRole("link", { name: "git.commit" }).waitFor();
      await attention.getByRole("button", { name: `${verb} git.commit` }).click();
      const question = page.getByRole("dialog", { name: "Revert: git.commit?" });
      if (verb === "Revert") await question.getByRole("button", { name: "Revert" }).click();
      await attention.waitFor({ state: "hidden" });
      assert.equal(await described(), verb === "Keep" ? "Ours" : words);
    }
  },
);
