import assert from "node:assert/strict";
import { type Browser, launchBrowser, type Page } from "./browser.ts";
import { at, tool } from "./combined_endpoints.ts";
import { assertReadable, browserTest, openPage, untilLive } from "./console_pages.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";
import { startGateway } from "./gateway.ts";
import { Guarded, Visitor } from "./security/guarded.ts";

const HOSTILE = '<img src=x onerror="document.title=1">\u202eexe';

let servers: Record<string, ScriptedServer>;
let guarded: Guarded;
let browser: Browser;

Deno.test.beforeAll(async () => {
  servers = {
    files: new ScriptedServer(["read_file", "write_file", "<b>list</b>"].map((name) => tool(name))),
    git: new ScriptedServer(["status", "push"].map((name) => tool(name))),
  };
  const entries = Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [name, at(server)]),
  );
  [guarded, browser] = await Promise.all([Guarded.open(entries), launchBrowser()]);
});

Deno.test.afterAll(async () => {
  await browser?.close();
  await guarded?.[Symbol.asyncDispose]();
  for (const server of Object.values(servers ?? {})) await server[Symbol.asyncDispose]();
});

async function logIn(page: Page, path: string, token = guarded.owner): Promise<void> {
  await page.goto(guarded.url + path);
  await page.getByLabel("Token", { exact: true }).fill(token);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.waitForURL(guarded.url + path);
}

/** The same for a page with scripts: what is written before they run may be lost. */
async function logInLive(page: Page, path: string, token = guarded.owner): Promise<void> {
  await logIn(page, path, token);
  await untilLive(page);
}

browserTest("security pages can be read by everybody, empty and with hostile names", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await logIn(page, "/security");
  await page.getByText("A token is required").waitFor();
  await assertReadable(page, "security");
  await page.goto(`${guarded.url}/security/projects`);
  await page.getByText("No projects yet").waitFor();
  await guarded.admin.saveProject({ name: "site", description: HOSTILE, servers: ["git"] });
  await guarded.token({ name: HOSTILE, project: "site", servers: ["git"], tools: ["!*.push"] });
  await page.reload();
  await page.getByRole("heading", { name: "site" }).waitFor();
  await assertReadable(page, "security-projects");
  await page.goto(`${guarded.url}/security/tokens`);
  await page.getByText("servers git; tools all except *.push").waitFor();
  await assertReadable(page, "security-tokens");
  assert.equal(await page.locator("img").count(), 0);
  assert.match(await page.title(), /^Tokens/);
  assert.deepEqual(complaints, []);
});

browserTest(
  "the login says where no token is needed, and what to do about a wrong one",
  async () => {
    await using gateway = await startGateway();
    await using open = await openPage(browser);
    const { page, complaints } = open;
    await page.goto(`${gateway.url}/login`);
    await page.getByText("No token is needed on this machine").waitFor();
    await page.getByLabel("Token", { exact: true }).fill("qm_wrong");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByText("The token is unknown, revoked or expired").waitFor();
    await assertReadable(page, "login-wrong");
    assert.doesNotMatch(await page.getByRole("main").textContent() ?? "", /Authorization|`/);
    await page.getByRole("link", { name: "go to the dashboard" }).click();
    await page.getByRole("heading", { name: "Dashboard" }).waitFor();
    assert.deepEqual(complaints, []);
  },
);

browserTest("a token without a name is refused beside the field", async () => {
  await using open = await openPage(browser, { javaScriptEnabled: false });
  const { page } = open;
  await logIn(page, "/security/tokens");
  await page.getByLabel("Name", { exact: true }).fill(" ");
  await page.getByRole("button", { name: "Create token" }).click();
  const problem = page.getByRole("alert");
  assert.equal(await problem.textContent(), "Enter a name, such as the token's owner or purpose");
  assert.equal(await page.getByText("INVALID_ARGUMENTS").count(), 0);
});

browserTest("a token is made and revoked without scripts", async () => {
  await using open = await openPage(browser, { javaScriptEnabled: false });
  const { page } = open;
  await logIn(page, "/security/tokens");
  await page.getByLabel("Name", { exact: true }).fill("ci");
  await page.getByLabel("Servers", { exact: true }).fill("files");
  await page.getByLabel("Tools", { exact: true }).fill("!*.write_*");
  await page.getByRole("button", { name: "Preview access" }).click();
  await page.getByText("2 of 3 tools").waitFor();
  assert.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "ci");
  assert.equal(await page.locator("#admits").getByText("write_file").count(), 0);
  assert.equal((await guarded.admin.tokens()).filter(({ name }) => name === "ci").length, 0);

  await page.getByRole("button", { name: "Create token" }).click();
  await page.getByText("it will not be shown again").waitFor();
  const token = await page.getByLabel("the token", { exact: true }).innerText();
  await page.getByText("Claude Code", { exact: true }).click();
  const command = await page.getByLabel("command for Claude Code", { exact: true }).innerText();
  assert.ok(command.endsWith(`--header "Authorization: Bearer ${token}"`), command);
  assert.ok(!page.url().includes(token));
  const visitor = await Visitor.open(guarded.url, "/mcp?expose=all", token);
  assert.ok((await visitor.tools()).includes("files_read_file"));
  await page.goto(`${guarded.url}/security/tokens`);
  assert.ok(!(await page.content()).includes(token), "it is shown once");

  // Names are known by one token alone, and what was written stays.
  await page.getByLabel("Name", { exact: true }).fill("ci");
  await page.getByRole("button", { name: "Create token" }).click();
  await page.getByText('Token "ci" already exists').waitFor();
  assert.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "ci");

  await page.getByRole("button", { name: "Revoke ci" }).click();
  await page.getByRole("dialog", { name: "Revoke ci?" }).getByText("1 client connected").waitFor();
  await page.getByRole("button", { name: "Revoke token" }).click();
  await page.getByRole("heading", { level: 1, name: "Tokens" }).waitFor();
  assert.equal((await visitor.request("tools/list")).status, 401);
});

browserTest("a project is made, filled, and kept while a token is for it", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  await logInLive(page, "/security/projects");
  await page.getByRole("textbox", { name: "Name" }).fill("numbers");
  await page.getByRole("button", { name: "Create project" }).click();
  await page.getByText("Project created.").waitFor();
  await untilLive(page);
  const card = page.locator(".card", { has: page.getByRole("heading", { name: "numbers" }) });
  await card.getByLabel("files").check();
  await card.getByRole("button", { name: "Save numbers" }).click();
  await page.getByText("Project saved.").waitFor();
  const saved = (await guarded.admin.projects()).find(({ name }) => name === "numbers");
  assert.deepEqual(saved?.servers, ["files"]);
  const bound = await guarded.token({ name: "bound", project: "numbers" });
  await card.getByRole("button", { name: "Delete numbers" }).click();
  await page.getByRole("button", { name: "Delete project" }).last().click();
  await page.getByText("limited to it (bound)").waitFor();
  await guarded.revoke(bound);
  // Else it would then belong to all other projects.
  await card.getByLabel("files").uncheck();
  await card.getByRole("button", { name: "Save numbers" }).click();
  await page.getByText("Project saved.").waitFor();
  await card.getByRole("button", { name: "Delete numbers" }).click();
  await page.getByRole("dialog", { name: "Delete numbers?" })
    .getByRole("button", { name: "Delete project" }).click();
  await page.getByText("Project deleted.").waitFor();
  assert.deepEqual(complaints, []);
});

browserTest("logging out everywhere ends the other browser", async () => {
  const { text } = await guarded.token({ name: "two browsers" });
  await using first = await openPage(browser);
  await using second = await openPage(browser);
  for (const { page } of [first, second]) await logInLive(page, "/security", text);
  await first.page.getByRole("button", { name: "Log out everywhere" }).click();
  await first.page.getByRole("button", { name: "Log in" }).waitFor();
  await second.page.getByRole("link", { name: /^Toolsets/ }).first().click();
  await second.page.getByRole("button", { name: "Log in" }).waitFor();
  assert.equal(second.page.url(), `${guarded.url}/login?then=%2Ftoolsets`);
});

browserTest("a token that may only read is told so in the console, with a way back", async () => {
  const { text } = await guarded.token({ name: "reader", rights: ["read"] });
  await using open = await openPage(browser);
  const { page } = open;
  await logInLive(page, "/servers/git", text);
  await page.getByRole("button", { name: /^Restart/ }).first().click();
  await page.getByRole("heading", { name: "Not allowed" }).waitFor();
  await page.getByText("This token may not manage here").waitFor();
  await assertReadable(page, "refused");
  await page.getByRole("main").getByRole("link", { name: "Go back" }).click();
  await page.waitForURL(`${guarded.url}/servers/git`);

  await page.goto(`${guarded.url}/security`);
  await page.getByRole("main").getByRole("link", { name: "Audit log" }).first().click();
  await page.getByText("This token may not manage here").waitFor();
  await page.goto(`${guarded.url}/security/tokens`);
  await page.getByText("This token may not manage here").waitFor();
  assert.equal(await page.getByRole("table").count(), 0);
});
