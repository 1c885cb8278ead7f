import assert from "node:assert/strict";
import { startStubConsole } from "../lib/console/testing/stub_console.ts";
import { stubGateway } from "../lib/console/testing/stub_gateway.ts";
import { type Browser, launchBrowser, type Page } from "./browser.ts";
import { at, connect, Endpoints, lists, must, tool } from "./combined_endpoints.ts";
import { assertReadable, browserTest, goLive, openPage, untilLive } from "./console_pages.ts";
import { generateTools } from "./fixtures/generated_tools.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";

const FILES = ["read_file", "read_folder", "write_file"];
const GIT = ["commit", "log", "read_tree", "status"];
const MANY = Array.from({ length: 120 }, (_, index) => `job_${index}`);

let servers: Record<string, ScriptedServer>;
let endpoints: Endpoints;
let browser: Browser;

Deno.test.beforeAll(async () => {
  servers = {
    files: new ScriptedServer([...FILES.map((name) => tool(name)), { name: "odd" }]),
    git: new ScriptedServer(GIT.map((name) => tool(name))),
    many: new ScriptedServer(MANY.map((name) => tool(name))),
  };
  const entries = Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [name, at(server)]),
  );
  [endpoints, browser] = await Promise.all([Endpoints.open(entries), launchBrowser()]);
  // Of these alone a category is known.
  for (const name of ["read_file", "write_file"]) {
    const body = new URLSearchParams({ category: "paper", summary: "", deprecated: "" });
    const headers = { origin: endpoints.url };
    await fetch(`${endpoints.url}/tools/files/${name}`, { method: "POST", body, headers });
  }
});

Deno.test.afterAll(async () => {
  await browser?.close();
  await endpoints?.[Symbol.asyncDispose]();
  for (const server of Object.values(servers ?? {})) await server[Symbol.asyncDispose]();
});

async function toolsOf(name: string): Promise<string[]> {
  const { value } = await endpoints.api("GET", `/api/toolsets/${name}`);
  const { tools } = value.toolset as { tools: { namespacedName: string }[] };
  return tools.map(({ namespacedName }) => namespacedName);
}

/** A client that says goodbye, or it would be counted for a while. */
async function join(path: string) {
  const client = await connect(endpoints.url, path);
  const id = client.client.transport?.sessionId ?? "";
  return {
    ...client,
    async [Symbol.asyncDispose]() {
      const headers = { "mcp-session-id": id };
      await (await fetch(endpoints.url + path, { method: "DELETE", headers })).body?.cancel();
      await client[Symbol.asyncDispose]();
    },
  };
}

/** What is chosen, top to bottom. */
function chosen(page: Page): Promise<string[]> {
  return page.locator(".chosen-row").evaluateAll((rows) =>
    rows.map((row) => row.getAttribute("data-tool") ?? "")
  );
}

async function settled(page: Page, wanted: string[]): Promise<void> {
  const last = wanted.at(-1);
  await page.locator(`.chosen-row:nth-child(${wanted.length})[data-tool="${last}"]`).waitFor();
  assert.deepEqual(await chosen(page), wanted);
}

browserTest("toolset is built, ordered and saved with the keyboard alone", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  const { keyboard } = page;
  await goLive(page, `${endpoints.url}/toolsets/~new`);
  await page.getByLabel("Name").focus();
  await keyboard.type("keys");
  await keyboard.press("Tab");
  await keyboard.type("By keyboard");
  await page.getByRole("button", { name: "Save toolset" }).focus();
  await keyboard.press("/");
  await keyboard.type("*read*");
  await page.getByText("3 tools found").waitFor();
  await keyboard.press("ArrowDown");
  await keyboard.press("Space");
  await keyboard.press("ArrowDown");
  await keyboard.press("Enter");
  await keyboard.press("ArrowDown");
  await keyboard.press("Space");
  await settled(page, ["files.read_file", "files.read_folder", "git.read_tree"]);
  await page.getByText(/^3 tools, about \d+ tokens/).waitFor();
  await page.getByText("13 tools. Cursor reads 40.").waitFor();

  // The last one goes to the top, then one down; the focus stays with it.
  await page.getByRole("button", { name: "Move git.read_tree, 3 of 3" }).focus();
  await keyboard.press("Home");
  await settled(page, ["git.read_tree", "files.read_file", "files.read_folder"]);
  await keyboard.press("ArrowDown");
  await settled(page, ["files.read_file", "git.read_tree", "files.read_folder"]);
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
  assert.equal(await focused(), "Move git.read_tree, 2 of 3");
  await page.getByText("git.read_tree is 2 of 3").waitFor({ state: "attached" });

  // Taken out by its box; the focus goes on to the next.
  await keyboard.press("Tab");
  await keyboard.press("ArrowDown");
  await keyboard.press("Space");
  await settled(page, ["files.read_file", "git.read_tree"]);
  assert.equal(
    await page.evaluate(() => document.activeElement?.getAttribute("value")),
    "git.read_tree",
  );
  await page.getByRole("button", { name: "Save toolset" }).focus();
  await keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "keys" }).waitFor();
  assert.deepEqual(await toolsOf("keys"), ["files.read_file", "git.read_tree"]);
  assert.deepEqual(complaints, []);
});

browserTest("tools are dragged in, up and down, and out again", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await goLive(page, `${endpoints.url}/toolsets/~new?server=git`);
  await settled(page, GIT.map((name) => `git.${name}`));
  const row = (name: string) => page.locator(`.chosen-row[data-tool="${name}"]`);
  await row("git.status").dragTo(row("git.commit"), { targetPosition: { x: 60, y: 4 } });
  await settled(page, ["git.status", "git.commit", "git.log", "git.read_tree"]);
  const offered = page.locator(".pick-list .pick", { hasText: "write_file" });
  await offered.dragTo(row("git.log"), { targetPosition: { x: 60, y: 4 } });
  await settled(page, ["git.status", "git.commit", "files.write_file", "git.log", "git.read_tree"]);
  await row("git.log").dragTo(page.locator(".pick-list"), { targetPosition: { x: 60, y: 60 } });
  await settled(page, ["git.status", "git.commit", "files.write_file", "git.read_tree"]);
  assert.deepEqual(complaints, []);
});

browserTest(
  "many tools are chosen by pattern, category and server, and taken out again",
  async () => {
    await using open = await openPage(browser);
    const { page, complaints } = open;
    await goLive(page, `${endpoints.url}/toolsets/~new`);
    await page.getByLabel("Name").fill("bulk");
    const search = page.getByRole("searchbox", { name: "Search tools" });
    await search.fill("git.*");
    await page.getByRole("button", { name: "Add all 4" }).click();
    await page.getByText(/^4 tools, about/).waitFor();
    await search.fill("");
    await page.getByRole("combobox", { name: "Category" }).selectOption("paper");
    await page.getByRole("button", { name: "Add all 2" }).click();
    await page.getByText(/^6 tools, about/).waitFor();
    await page.getByRole("combobox", { name: "Category" }).selectOption("");
    await page.getByRole("combobox", { name: "Server" }).selectOption("many");
    // A hundred are shown, all are taken; of those that are chosen only what is seen is drawn.
    await page.getByRole("button", { name: "Choose all 120 of many" }).click();
    await page.getByText(/^126 tools, about/).waitFor();
    await page.getByText("More than 40").waitFor();
    await page.getByText("136 tools. Cursor reads 40.").waitFor();
    const drawn = await page.locator(".chosen-row").count();
    assert.ok(drawn < 126, `${drawn} of 126 rows are drawn`);
    await assertReadable(page, "toolset-build");
    await search.fill("*_1");
    await page.getByText("1 tool found").waitFor();
    await page.getByRole("button", { name: "Remove them" }).click();
    await page.getByText(/^125 tools, about/).waitFor();
    await page.getByRole("button", { name: "Save toolset" }).click();
    await page.getByText("125 of 125 tools registered").waitFor();
    const saved = await toolsOf("bulk");
    assert.deepEqual(saved.slice(0, 6), [
      ...GIT.map((name) => `git.${name}`),
      "files.read_file",
      "files.write_file",
    ]);
    assert.ok(!saved.includes("many.job_1"));
    // A page of its own for what goes beyond a hundred.
    await page.getByRole("link", { name: "Next" }).click();
    await page.getByText("101–125 of 125 tools").waitFor();
    assert.deepEqual(complaints, []);
  },
);

browserTest("toolset is cloned, and the copy saved under a name of its own", async () => {
  await endpoints.build("first", ["git.status", "git.log"]);
  await using open = await openPage(browser);
  const { page } = open;
  await goLive(page, `${endpoints.url}/toolsets/first`);
  await page.getByRole("link", { name: "Clone" }).click();
  await page.getByText("A copy of first, which is not changed").waitFor();
  assert.equal(await page.getByLabel("Name").inputValue(), "first-copy");
  await page.locator(".chosen").getByRole("checkbox", { name: "git.log" }).click();
  await page.getByRole("button", { name: "Save toolset" }).click();
  await page.getByRole("heading", { level: 1, name: "first-copy" }).waitFor();
  assert.deepEqual(await toolsOf("first-copy"), ["git.status"]);
  assert.deepEqual(await toolsOf("first"), ["git.status", "git.log"]);
});

browserTest("toolset that somebody else saved meanwhile is not overwritten unseen", async () => {
  await endpoints.build("shared", ["git.status"]);
  await using open = await openPage(browser);
  const { page } = open;
  await goLive(page, `${endpoints.url}/toolsets/shared/edit`);
  await page.getByLabel("Description").fill("Mine");
  await endpoints.build("shared", ["git.log"], true);
  await page.getByRole("button", { name: "Save toolset" }).click();
  await page.getByRole("alert").getByText("Someone else saved shared").waitFor();
  assert.equal(await page.getByLabel("Description").inputValue(), "Mine");
  await page.getByRole("button", { name: "Save toolset" }).click();
  await page.getByRole("heading", { level: 1, name: "shared" }).waitFor();
  assert.deepEqual(await toolsOf("shared"), ["git.status"]);
});

browserTest(
  "equipping in the browser changes a client's list, and says for whom before and after",
  async () => {
    await endpoints.build("one", ["git.status"]);
    await endpoints.build("two", ["git.log", "git.commit"]);
    await using client = await join("/mcp");
    await using other = await connect(endpoints.url, "/mcp?expose=toolset");
    await using open = await openPage(browser);
    const { page, complaints } = open;
    await goLive(page, `${endpoints.url}/toolsets/one`);
    await page.getByText("2 clients will see 1 tool instead of 0").waitFor();
    await page.getByRole("button", { name: "Equip" }).click();
    await page.getByText(/2 clients see its 1 tool at \/mcp: test \(2\)/).waitFor();
    await lists(client, ["git_status"]);
    await lists(other, ["git_status"]);
    assert.ok(client.told.tools.length > 0);

    await goLive(page, `${endpoints.url}/toolsets/two`);
    await page.getByRole("button", { name: "Equip" }).click();
    const question = page.getByRole("dialog", { name: "Equip two?" });
    await question.getByText("It replaces one").waitFor();
    await question.getByText("2 clients will see 2 tools instead of 1").waitFor();
    await assertReadable(page, "toolset-equip");
    await question.getByRole("button", { name: "Equip toolset" }).click();
    await page.getByText("2 clients see its 2 tools at /mcp").waitFor();
    await lists(client, ["git_commit", "git_log"]);

    // A client that leaves is no longer counted, without reload.
    await untilLive(page);
    const { transport } = other.client;
    if (transport && "terminateSession" in transport) {
      await (transport.terminateSession as () => Promise<void>)();
    }
    await page.getByText("1 client sees its 2 tools at /mcp").waitFor();
    await page.getByRole("button", { name: "Unequip" }).click();
    const asked = page.getByRole("dialog", { name: "Unequip two?" });
    await asked.getByText("1 client will see 0 tools instead of 2").waitFor();
    await asked.getByRole("button", { name: "Unequip toolset" }).click();
    await page.getByText("none equipped").waitFor();
    await lists(client, []);
    assert.deepEqual(complaints, []);
  },
);

browserTest("what a model equips shows on open pages without reload", async () => {
  await endpoints.build("live", ["git.status"]);
  await using client = await join("/mcp");
  await using first = await openPage(browser);
  await using second = await openPage(browser);
  await goLive(first.page, `${endpoints.url}/toolsets`);
  await goLive(second.page, `${endpoints.url}/toolsets/live`);
  for (const { page } of [first, second]) {
    await page.evaluate(() => document.body.dataset.same = "yes");
  }
  await must(client, "equip-toolset", { name: "live" });
  await first.page.getByText("live is equipped").waitFor();
  await second.page.getByText("1 client sees its 1 tool at /mcp: test").waitFor();
  await must(client, "build-toolset", { name: "made-by-model", tools: ["git.log"] });
  await first.page.getByRole("link", { name: "made-by-model" }).waitFor();
  await must(client, "unequip-toolset");
  await first.page.getByText("none equipped").waitFor();
  await second.page.getByRole("button", { name: "Equip" }).waitFor();
  for (const { page, complaints } of [first, second]) {
    assert.equal(await page.evaluate(() => document.body.dataset.same), "yes");
    assert.deepEqual(complaints, []);
  }
});

browserTest("toolset's page has its endpoint for every client, and who is there", async () => {
  await endpoints.build("endpoint", ["git.status", "files.read_file"]);
  await using _client = await join("/toolsets/endpoint/mcp");
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await goLive(page, `${endpoints.url}/toolsets/endpoint`);
  await page.getByText("1 client sees its 2 tools at /toolsets/endpoint/mcp: test").waitFor();
  await page.getByText(/^Set up Claude Code, /).click();
  await page.getByText("Cursor", { exact: true }).click();
  await page.getByText(`"url": "${endpoints.url}/toolsets/endpoint/mcp"`).filter({ visible: true })
    .first()
    .waitFor();
  await assertReadable(page, "toolset-endpoint");
  await goLive(page, `${endpoints.url}/toolsets`);
  await assertReadable(page, "toolsets");
  assert.deepEqual(complaints, []);
});

browserTest("tools page filters by state in the address, with counts", async () => {
  const off = GIT.filter((name) => name !== "commit");
  await endpoints.api("PUT", "/api/servers/git/tools", { enabled: off });
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await goLive(page, `${endpoints.url}/tools?state=disabled`);
  await page.getByRole("link", { name: "commit", exact: true }).waitFor();
  assert.equal(await page.locator("tbody tr").count(), 1);
  const state = page.getByRole("combobox", { name: "State" });
  assert.deepEqual(await state.locator("option").allInnerTexts(), [
    "All states",
    "On (126)",
    "Off (1)",
    "Promoted (0)",
    "Invalid (1)",
  ]);
  await state.selectOption("invalid");
  await page.waitForURL(/state=invalid/);
  await page.getByText("It has no input schema").filter({ visible: true }).waitFor();
  await assertReadable(page, "tools-invalid");
  // What is switched on elsewhere shows by itself.
  await goLive(page, `${endpoints.url}/tools?state=disabled`);
  await endpoints.api("PUT", "/api/servers/git/tools", { enabled: null });
  await page.getByText("No matching tools").waitFor();
  await goLive(page, `${endpoints.url}/tools?category=paper`);
  await page.getByRole("link", { name: "Create a toolset of these tools" }).click();
  await settled(page, ["files.read_file", "files.write_file"]);
  assert.deepEqual(complaints, []);
});

browserTest(
  "promoted description stands beside the server's own, from the moment it is in force",
  async () => {
    const api = "/api/optimization/tools/git/log";
    await using open = await openPage(browser);
    const { page, complaints } = open;
    await goLive(page, `${endpoints.url}/tools/git/log`);
    const description = "Lists who changed what, newest first";
    const { value } = await endpoints.api("POST", `${api}/candidates`, { description });
    const { id } = value.candidate as { id: string };
    const promoted = await endpoints.api("POST", `${api}/promote`, {
      candidateId: id,
      reason: "Better",
    });
    assert.equal(promoted.status, 200, JSON.stringify(promoted.value));
    const card = page.locator(".described");
    await card.getByText("Does log").waitFor();
    await card.getByText(description).waitFor();
    assert.equal(
      await page.getByRole("link", { name: "Results, history and revert" }).getAttribute("href"),
      "/optimization/git/log",
    );
    await page.getByText("Compare word by word").click();
    await assertReadable(page, "tool-promoted");
    await goLive(page, `${endpoints.url}/tools?state=promoted`);
    assert.equal(await page.locator("tbody tr").count(), 1);
    await page.locator("tbody").getByText("Promoted").filter({ visible: true }).waitFor();
    assert.deepEqual(complaints, []);
  },
);

browserTest("patterns and categories are written on lines where there are no scripts", async () => {
  await using open = await openPage(browser, { javaScriptEnabled: false });
  const { page } = open;
  await page.goto(`${endpoints.url}/toolsets/~new`);
  await page.getByLabel("Name").fill("written");
  await page.getByLabel("More tools, one per line").fill("*read_f*\ncategory:paper");
  await page.getByRole("button", { name: "Save toolset" }).click();
  await page.getByText("3 of 3 tools registered").waitFor();
  // What is not drawn of a long list is kept.
  await page.goto(`${endpoints.url}/toolsets/~new?server=many`);
  await page.getByRole("button", { name: "Save toolset" }).click();
  await page.getByText("120 of 120 tools registered").waitFor();
});

browserTest("pages stay small with 400 servers and 5,000 tools", async () => {
  const tools = generateTools(13).map(({ definition }) => JSON.parse(definition));
  const names = Array.from({ length: 400 }, (_, index) => `server_${index}`);
  await using stub = await startStubConsole(
    stubGateway({ servers: names.map((name) => ({ name, tools })) }),
  );
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await page.goto(`${stub.url}/tools`);
  await page.getByText("1–100 of 5,200 tools").waitFor();
  assert.equal(await page.locator("tbody tr").count(), 100);
  await page.goto(`${stub.url}/tools?q=invoices&page=2`);
  await page.goto(`${stub.url}/toolsets/~new`);
  assert.equal(await page.locator(".pick-list input").count(), 100);
  await page.goto(`${stub.url}/toolsets/~new?q=*issues`);
  await page.getByText("A toolset holds at most 2,000 tools").waitFor();
  assert.ok(await page.locator(".chosen-row").count() <= 160);
  assert.deepEqual(complaints, []);
});
