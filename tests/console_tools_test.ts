import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import { startStubConsole } from "../lib/console/testing/stub_console.ts";
import { stubGateway } from "../lib/console/testing/stub_gateway.ts";
import { type Browser, launchBrowser } from "./browser.ts";
import { connect } from "./combined_endpoints.ts";
import {
  assertReadable,
  browserTest as test,
  goLive,
  openPage,
  untilLive,
} from "./console_pages.ts";
import { type RunningGateway, startGateway, until } from "./gateway.ts";

const FIXTURE = fromFileUrl(new URL("./fixtures/file_tools_server.ts", import.meta.url));

const text = { type: "string" };
const TOOLS: Record<string, object[]> = {
  git: [
    {
      name: "commit",
      description: "Records the staged changes with a message.",
      inputSchema: {
        type: "object",
        properties: { message: { ...text, description: "In one line, e.g. `Fix login`" } },
        required: ["message"],
      },
    },
    {
      name: "hub_search",
      description: "Searches repositories by words.",
      inputSchema: { type: "object", properties: { query: text, limit: { type: "integer" } } },
    },
    { name: "status", description: "Shows which files are changed.", inputSchema: plain() },
    // Too long for clients, and the same once they are cut.
    ...["title", "labels"].map((word) => ({
      name: `change_of_a_pull_request_that_is_not_merged_yet_its_${word}`,
      description: `Changes the ${word} of a pull request.`,
      inputSchema: plain(),
    })),
    ...Array.from({ length: 38 }, (_, index) => ({
      name: `branch_${index}`,
      description: `Works on branch number ${index}.`,
      inputSchema: plain(),
    })),
  ],
  git_hub: [
    { name: "search", description: "Searches issues and pull requests.", inputSchema: plain() },
    {
      name: "old_search",
      description: "Deprecated: use search instead.",
      inputSchema: plain(),
    },
  ],
};

function plain(): object {
  return { type: "object" };
}

let folder: string;
let gateway: RunningGateway;
let browser: Browser;

/** What a server has from its next start on. */
async function list(server: string, tools: object[] = TOOLS[server] ?? []): Promise<void> {
  await Deno.writeTextFile(join(folder, `${server}.json`), JSON.stringify(tools));
}

Deno.test.beforeAll(async () => {
  folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const mcpServers = Object.fromEntries(
    Object.keys(TOOLS).map((server) => [server, {
      command: Deno.execPath(),
      args: ["run", "-A", "-q", "--no-lock", FIXTURE, join(folder, `${server}.json`)],
    }]),
  );
  await Promise.all(Object.keys(TOOLS).map((server) => list(server)));
  await Deno.writeTextFile(join(folder, ".mcp.json"), JSON.stringify({ mcpServers }));
  [gateway, browser] = await Promise.all([startGateway([], { cwd: folder }), launchBrowser()]);
  await until(async () => {
    const { found } = await (await fetch(`${gateway.url}/api/search?limit=100`)).json();
    return found.length === 45 ? true : undefined;
  });
});

Deno.test.afterAll(async () => {
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
  await Deno.remove(folder, { recursive: true });
});

async function api(path: string, body?: unknown): Promise<Response> {
  return await fetch(gateway.url + path, {
    ...(body === undefined ? {} : {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  });
}

test("tools page ranks as the engine does while one types, and filters by address", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await goLive(page, `${gateway.url}/tools`);
  // Counted in the background: the page comes first, the numbers follow by themselves.
  await page.getByText("tokens in total").waitFor();
  await page.getByText("Name collisions").waitFor();
  await page.getByText("whose full name comes first alphabetically").waitFor();
  await page.getByText("exceed the length limit").waitFor();
  await assertReadable(page, "tools-all");

  await page.keyboard.press("/");
  await page.keyboard.type("searches repositories");
  await page.waitForURL(/q=searches\+repositories/);
  const first = page.locator("tbody tr").first();
  await first.getByRole("link", { name: "hub_search" }).waitFor();
  const { found } = await (await api("/api/search?q=searches+repositories")).json();
  assert.equal(found[0].namespacedName, "git.hub_search");
  assert.match(await first.locator(".relevance").innerText(), /^[01]\.\d\d$/);
  await assertReadable(page, "tools-search");

  await page.getByRole("combobox", { name: "Server" }).selectOption("git_hub");
  await page.waitForURL(/server=git_hub/);
  await page.getByText(/matches? in 45 tools/).waitFor();
  await page.locator("tbody").getByRole("link", { name: "hub_search" }).waitFor({
    state: "detached",
  });
  // Letters of a word that is not finished find it too.
  await goLive(page, `${gateway.url}/tools?q=comm`);
  await page.getByRole("link", { name: "commit", exact: true }).waitFor();
  assert.deepEqual(complaints, []);
});

test("tools page shows a real client's use, sorts by it, and tells ranks on demand", async () => {
  await using client = await connect(gateway.url, "/mcp?expose=all");
  await client.call("git_commit", { message: "x" });
  await client.call("git_commit", { message: "x" });
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await goLive(page, `${gateway.url}/tools`);
  await page.getByRole("link", { name: "Calls, 24 h" }).click();
  await page.waitForURL(/sort=calls&dir=desc/);
  const first = page.locator("tbody tr").first();
  await first.getByRole("link", { name: "commit", exact: true }).waitFor();
  assert.match(await first.innerText(), /\s2\s[\s\S]*just now/);
  await goLive(page, `${gateway.url}/tools?q=commit`);
  assert.equal(await page.locator(".scores, .why").count(), 0);
  await page.getByRole("link", { name: "Show how results are ranked" }).click();
  await page.locator(".why").first().waitFor();
  assert.deepEqual(complaints, []);
});

test("tool page has names, cost, examples and relatives; what is said of it can be changed", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await goLive(page, `${gateway.url}/tools/git_hub/search`);
  await page.getByText("is already the name of").first().waitFor();
  const flat = page.locator(".fact", { hasText: "Flat name" });
  assert.match(await flat.innerText(), /git_hub_search_\w+/);

  await goLive(page, `${gateway.url}/tools/git/commit`);
  await page.locator(".examples").getByText('"message"').first().waitFor();
  await page.getByText("Change summary and category").click();
  await assertReadable(page, "tool-words");
  await page.getByLabel("Category").fill("mine");
  await page.getByLabel("Summary").fill("Commits it");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("set here").waitFor();
  await goLive(page, `${gateway.url}/tools?category=mine`);
  await page.getByText("Commits it").filter({ visible: true }).waitFor();
  await page.getByRole("link", { name: "commit", exact: true }).click();
  await page.getByText("Change summary and category").click();
  await page.getByRole("button", { name: "Reset to inferred values" }).click();
  await page.getByText("set here").waitFor({ state: "detached" });
  await page.getByText("Records the staged changes").first().waitFor();

  await goLive(page, `${gateway.url}/tools/git_hub/old_search`);
  await page.getByText("Deprecated: use search instead.", { exact: false }).first().waitFor();
  await page.getByRole("link", { name: "git_hub.search" }).first().waitFor();
  assert.deepEqual(complaints, []);
});

test("toolset is made by search, equipped, edited and deleted in the console", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await goLive(page, `${gateway.url}/toolsets`);
  await page.getByRole("link", { name: "Create a toolset" }).click();
  await page.getByRole("heading", { level: 1, name: "New toolset" }).waitFor();
  await page.getByLabel("Name").fill("review");
  await page.getByLabel("Description").fill("Code review");
  await page.getByRole("searchbox", { name: "Search tools" }).fill("changed files");
  await page.getByRole("group", { name: "git", exact: true })
    .getByRole("checkbox", { name: /^status/ }).check();
  await page.getByText(/^1 tool, about \d+ tokens/).waitFor();
  await page.getByRole("searchbox", { name: "Search tools" }).fill("");
  await page.getByRole("button", { name: /Choose all 43 shown of git/ }).click();
  await page.getByText("More than 40").waitFor();
  await assertReadable(page, "toolset-new");
  await page.getByRole("button", { name: "Save toolset" }).click();
  await page.getByRole("heading", { level: 1, name: "review" }).waitFor();
  await page.getByText("43 of 43 tools registered").waitFor();

  await page.getByRole("button", { name: "Equip" }).click();
  await page.getByText("Equipped").first().waitFor();
  assert.equal((await (await api("/api/equipped")).json()).toolset?.name, "review");

  const exported = page.waitForEvent("download");
  await page.getByRole("link", { name: "Export" }).click();
  assert.equal((await exported).suggestedFilename(), "review.json");
  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByRole("heading", { level: 1, name: "Edit review" }).waitFor();
  await untilLive(page);
  await page.locator(".chosen").getByRole("checkbox", { name: /git\.branch_0\b/ }).click();
  await page.getByText(/^42 tools/).waitFor();
  await page.getByRole("button", { name: "Save toolset" }).click();
  await page.getByText("42 of 42 tools registered").waitFor();

  // A tool that changes, one that goes.
  await list("git", [
    { name: "status", description: "Shows files.", inputSchema: { type: "object" } },
    {
      name: "commit",
      description: "Records.",
      inputSchema: { type: "object", properties: { all: text }, required: ["all"] },
    },
  ]);
  await api("/api/servers/git/restart", {});
  await until(async () => {
    const { toolset } = await (await api("/api/toolsets/review")).json();
    return toolset.registered === 2 ? true : undefined;
  });
  await goLive(page, `${gateway.url}/toolsets/review`);
  await page.getByText("Breaking").first().waitFor();
  await page.getByText("Gone").first().waitFor();
  await assertReadable(page, "toolset");
  await page.getByRole("button", { name: "Accept changes" }).click();
  await page.getByText("Breaking").waitFor({ state: "detached" });
  await page.getByText("2 of 42 tools registered").waitFor();
  await list("git");
  await api("/api/servers/git/restart", {});

  await goLive(page, `${gateway.url}/toolsets`);
  await assertReadable(page, "toolsets-list");
  await page.getByRole("button", { name: "Delete" }).click();
  const question = page.getByRole("dialog", { name: "Delete review?" });
  await question.getByText("clients at /mcp lose its tools at once").waitFor();
  await assertReadable(page, "toolset-delete");
  const downloading = page.waitForEvent("download");
  await question.getByRole("button", { name: "Export first" }).click();
  assert.equal((await downloading).suggestedFilename(), "review.json");
  await question.getByRole("button", { name: "Delete toolset" }).click();
  await page.getByText("No toolsets yet").waitFor();
  assert.deepEqual(complaints, []);
});

test("toolsets are imported from text and files, with what could not be matched", async () => {
  await using open = await openPage(browser);
  const { page } = open;
  await goLive(page, `${gateway.url}/toolsets`);
  await page.getByText("Import from a file or from text").click();
  await page.getByLabel("Or paste text").fill('{"name":"dev","tools":["git.status","git.statu"]}');
  await page.getByRole("button", { name: "Import toolsets" }).click();
  await page.getByText("Nearest: git.status").waitFor();
  await assertReadable(page, "toolset-import");
  await page.goto(`${gateway.url}/toolsets/~import`);
  await page.getByLabel("File").setInputFiles({
    name: "x.json",
    mimeType: "application/json",
    buffer: new TextEncoder().encode("{") as never,
  });
  await page.getByRole("button", { name: "Import toolsets" }).click();
  await page.getByText("not valid JSON").waitFor();
  await page.goto(`${gateway.url}/toolsets/dev`);
  await page.getByRole("heading", { level: 1, name: "dev" }).waitFor();
});

test("toolset form works without JavaScript, and says what is wrong with what was written", async () => {
  await using open = await openPage(browser, { javaScriptEnabled: false });
  const { page } = open;
  await page.goto(`${gateway.url}/toolsets/~new`);
  await page.getByLabel("Name").fill("dev");
  await page.getByRole("checkbox", { name: /^commit/ }).check();
  await page.getByLabel("More tools, one per line").fill("git_hub.search\nnope.tool");
  await page.getByRole("button", { name: "Save toolset" }).click();
  await page.getByRole("alert").getByText("The toolset was not saved").waitFor();
  assert.equal(await page.getByLabel("Name").inputValue(), "dev");
  await page.getByLabel("Name").fill("plain");
  await page.locator(".chosen").getByRole("checkbox", { name: /nope\.tool/ }).uncheck();
  await page.getByRole("button", { name: "Save toolset" }).click();
  await page.getByText("2 of 2 tools registered").waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete toolset" }).click();
  await page.getByRole("heading", { level: 1, name: "Toolsets" }).waitFor();
  assert.equal((await fetch(`${gateway.url}/toolsets/plain`)).status, 404);
});

test("tools page shows savings by day, what is off, and a search that is not at its best", async () => {
  const day = (day: string, baselineTokens: number) => ({
    day,
    calls: 1,
    errors: 0,
    searches: 4,
    baselineTokens,
    listedTokens: 1_000,
    returnedTokens: 2_000,
  });
  await using stub = await startStubConsole(stubGateway({
    degraded: "The embedding backend does not answer",
    progress: { backend: "ollama", state: "working", done: 1, total: 3 },
    days: [day(new Date().toISOString().slice(0, 10), 52_000), day("2026-01-30", 22_000)],
    servers: [{
      name: "files",
      tools: [
        { name: "read", description: "Reads a file" },
        { name: "erase", description: "Erases a file", isOff: true },
      ],
    }],
  }));
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await page.goto(`${stub.url}/tools?q=file`);
  await page.getByText("The embedding backend does not answer").waitFor();
  await assertReadable(page, "tools-degraded");
  await page.goto(stub.url);
  await page.getByText("Tokens by day").click();
  assert.equal(await page.locator(".saved-table tbody tr").count(), 2);
  await page.goto(`${stub.url}/tools`);
  await page.getByText("Indexing tools: 1 of 3").waitFor();
  await page.goto(`${stub.url}/tools?q=file`);
  await page.getByRole("combobox", { name: "State" }).selectOption("disabled");
  await page.waitForURL(/state=disabled/);
  await page.getByRole("link", { name: "read", exact: true }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "erase", exact: true }).waitFor();
  assert.deepEqual(complaints, []);
});

test("search API answers what is wrong with a question", async () => {
  assert.equal((await api("/api/search?q=x&limit=0")).status, 400);
  const unknown = await api("/api/search?q=x&server=gitt");
  assert.equal(unknown.status, 404);
  assert.match((await unknown.json()).error.hint, /git/);
  assert.equal((await api("/api/search?q=x&category=nonsense")).status, 400);
});
