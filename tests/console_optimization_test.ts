import assert from "node:assert/strict";
import { RESTART_NOTE } from "../lib/optimizer/report.ts";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  launchBrowser,
  type Page,
  within,
} from "./browser.ts";
import { connect, type EndpointClient } from "./combined_endpoints.ts";
import {
  assertFits,
  assertReadable,
  browserTest,
  goLive,
  openContext,
  type OpenPage,
  openPageIn,
} from "./console_pages.ts";
import { findClaude } from "./fixtures/claude_cli.ts";
import { LIBRARY_TOOLS, POOR_DESCRIPTION } from "./fixtures/library_server.ts";
import { startGateway, until } from "./gateway.ts";
import { GOOD, Lab, PROMPTS, VAGUE } from "./optimization.ts";

const TOOL = "/optimization/library/find_books";
const API = "/api/optimization/tools/library/find_books";
/** A job of nine runs of the real CLI. */
const JOB_MS = 300_000;
/** Set-up, a page's audit or picture, and closing. */
const STEP_MS = 120_000;
/** What a page is to show is there by then. */
const SHOWN_MS = 60_000;
/** One of each category. */
const [DIRECT, , INDIRECT, , NEGATIVE] = PROMPTS;
const ASKED = [DIRECT!, INDIRECT!, NEGATIVE!];
/** The model answers so many requests, and then none until it is let go on. */
const FREE_REQUESTS = 3;

const claude = await findClaude();
// In CI nothing is left out: there, what cannot run has failed.
const ignore = claude === undefined && !Deno.env.get("CI");

let lab: Lab;
const model = Promise.withResolvers<void>();
let browser: Browser;
/** Of all pages with scripts: what one of them has loaded, the next one has. */
let context: BrowserContext;

Deno.test.beforeAll(async () => {
  if (!ignore) await within(setUp(), 2 * STEP_MS, "The set-up");
});

async function setUp(): Promise<void> {
  assert.ok(claude !== undefined, "The claude CLI cannot be installed here");
  const onRequest = ({ number }: { number: number }) => {
    if (number > FREE_REQUESTS) return model.promise;
  };
  [lab, browser] = await Promise.all([Lab.open({ claude, onRequest }), launchBrowser()]);
  context = await newContext();
  const enabled = LIBRARY_TOOLS.map(({ name }) => name).filter((name) => name !== "delete_member");
  await api("PUT", "/api/servers/library/tools", { enabled });
  await api("POST", `${API}/prompts`, {
    prompts: ASKED.map(({ category, prompt, expectedTool }) => ({
      category,
      prompt,
      ...expectedTool === undefined ? {} : { expectedBehavior: { expectedTool } },
    })),
  });
  for (const description of [VAGUE, GOOD]) await api("POST", `${API}/candidates`, { description });
}

Deno.test.afterAll(async () => {
  model.resolve();
  try {
    if (browser) await within(browser.close(), STEP_MS, "Closing the browser");
  } finally {
    if (lab) await within(lab[Symbol.asyncDispose](), STEP_MS, "Closing the gateways");
  }
});

function test(name: string, fn: () => Promise<void>): void {
  const why = ignore ? " (skipped: the claude CLI cannot be installed here)" : "";
  browserTest(name + why, fn, ignore);
}

async function api(method: string, path: string, body: unknown) {
  const response = await fetch(lab.gateway.url + path, {
    method,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(STEP_MS),
  });
  const text = await response.text();
  assert.ok(response.ok, text);
  return JSON.parse(text);
}

async function newContext(options?: BrowserContextOptions): Promise<BrowserContext> {
  const made = await openContext(browser, options);
  made.setDefaultTimeout(SHOWN_MS);
  made.setDefaultNavigationTimeout(STEP_MS);
  return made;
}

async function openPage(from = context): Promise<OpenPage> {
  const { page, complaints } = await openPageIn(from);
  const close = () => within(page.close(), STEP_MS, "Closing a page");
  return { page, complaints, [Symbol.asyncDispose]: close };
}

function inspect(page: Page, name: string): Promise<void> {
  return within(assertReadable(page, `optimization-${name}`), STEP_MS, `The audit of ${name}`);
}

/** A client of the library's own endpoint. */
function connectClient(): Promise<EndpointClient> {
  return connect(lab.gateway.url, "/servers/library/mcp?names=original");
}

/** Waits until a client was told that tools changed and lists this description. */
async function hears(client: EndpointClient, description: string): Promise<void> {
  await until(async () => {
    if (client.told.tools.length === 0) return undefined;
    const { tools } = await client.client.listTools();
    const found = tools.find(({ name }) => name === "find_books");
    return found?.description === description || undefined;
  });
  client.told.tools.length = 0;
}

async function tabTo(page: Page, wanted: RegExp): Promise<void> {
  for (let presses = 0; presses < 120; presses++) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => document.activeElement?.textContent ?? "");
    if (wanted.test(focused.trim())) return;
  }
  throw new Error(`The keyboard does not reach ${wanted}`);
}

test("an optimization is chosen, estimated, started and followed in the browser", async () => {
  await using open = await openPage();
  await using other = await openPage();
  const { page, complaints } = open;
  await Promise.all([
    goLive(page, `${lab.gateway.url}/optimization`),
    goLive(other.page, `${lab.gateway.url}/optimization`),
  ]);
  await page.getByText("0 of 5 tools optimized").waitFor();
  const table = page.getByRole("table", { name: /^Tools/ });
  await table.getByRole("row", { name: /^find_books .*Never evaluated/ }).waitFor();
  assert.match(await table.getByRole("row").last().innerText(), /delete_member[^]*Disabled/);
  await inspect(page, "overview");
  await page.getByRole("searchbox", { name: "Filter tools" }).fill("hours");
  await page.waitForURL(/q=hours/);
  await table.getByRole("row", { name: /^find_books/ }).waitFor({ state: "detached" });
  // Filters and order are in the address, and the keyboard opens a row.
  await goLive(page, `${lab.gateway.url}/optimization?state=new&sort=tool&dir=desc`);
  await table.getByRole("row", { name: /^delete_member/ }).waitFor({ state: "detached" });
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(/library\/renew_loan/);
  await page.goBack();
  await table.getByRole("link", { name: "library" }).first().click();
  await page.getByRole("heading", { level: 1, name: "Optimize library" }).waitFor();
  const disabled = page.getByRole("checkbox", { name: /^delete_member/ });
  assert.ok(await disabled.isDisabled() && !await disabled.isChecked());
  await page.getByText("Disabled (not exposed)").waitFor();
  await page.getByText("Selected for optimization: 4 of 4").waitFor();
  for (const name of ["list_loans", "opening_hours", "renew_loan"]) {
    await page.getByRole("checkbox", { name: new RegExp(`^${name}`) }).uncheck();
  }
  await page.getByText("Selected for optimization: 1 of 4").waitFor();
  assert.equal(await page.getByLabel("Candidates per tool").inputValue(), "4");
  assert.equal(await page.getByLabel("Auto-promote threshold").inputValue(), "85");
  assert.ok(await page.getByRole("radio", { name: /^Thorough/ }).isChecked());
  await page.getByText(/can find gains of \d+ points or more with 240 prompts/).waitFor();
  await page.getByText(/A candidate that new prompts confirm to be better/).waitFor();
  await page.getByText(/tested with every prompt/).waitFor({ state: "detached" });
  // A model of its own makes the form's estimate as the operation does.
  await page.getByLabel("Tools the model gets").fill("equipped");
  await page.getByText(/no toolset is equipped/).waitFor();
  await page.getByLabel("Tools the model gets").fill("discovery");
  await page.getByText(/can find gains of \d+ points or more with 240 prompts/).waitFor();
  await page.getByLabel("Tools the model gets").fill("");
  await page.getByRole("radio", { name: /^Quick/ }).check();
  await page.getByLabel("Candidates per tool").fill("2");
  await page.getByRole("spinbutton", { name: "Prompts per category" }).fill("1");
  await page.getByLabel("Promote automatically").uncheck();
  await page.getByLabel("Generate missing").uncheck();
  await page.getByText(/1 tool, up to 9 runs, about \d+ (s|min), cost not known yet/).waitFor();
  await inspect(page, "form");

  await page.getByRole("button", { name: "Start optimization" }).click();
  await page.waitForURL(/~jobs\//);
  const job = page.locator(".job");
  await job.getByText(/Testing candidate [12]\/2 for find_books/).waitFor({ timeout: JOB_MS });
  await job.getByText(/negative \d\/\d/).waitFor();
  // In another tab, which was open before, without a reload.
  await other.page.locator(".job").getByText(/Testing candidate/).waitFor();
  await inspect(page, "job");
  await job.getByRole("button", { name: "Pause" }).click();
  await job.getByText("Paused", { exact: true }).first().waitFor();
  model.resolve();
  await other.page.locator(".job").getByRole("button", { name: "Resume" }).click();
  await job.getByText("Running", { exact: true }).waitFor();
  await job.getByText("Completed").waitFor({ timeout: JOB_MS });
  await page.getByText("Optimization of library.find_books is complete").waitFor();
  await other.page.locator(".row", { hasText: "library.find_books" }).getByText("Completed")
    .waitFor();
  assert.deepEqual([...complaints, ...other.complaints], []);
});

test("promote in the browser reaches a connected client, and so does revert", async () => {
  await using open = await openPage();
  await using other = await openPage();
  await using client = await connectClient();
  const { page, complaints } = open;
  await Promise.all([
    goLive(page, lab.gateway.url + TOOL),
    goLive(other.page, `${lab.gateway.url}/optimization`),
  ]);
  await other.page.getByRole("row", { name: /^find_books .*Better candidate: 1\/3 → 3\/3/ })
    .waitFor();
  await goLive(other.page, lab.gateway.url + TOOL);
  await page.getByText("Tested against 3 prompts (1 direct, 1 indirect, 1 negative)").waitFor();
  await page.getByText("Proposed, not confirmed: evaluate it thoroughly").first().waitFor();
  await page.getByText(/quick evidence from 3 prompts/).waitFor();
  const overall = page.locator(".score-row", { hasText: "Overall" });
  assert.match(
    await overall.innerText(),
    /1\/3 \(33 %\)[\s\S]*3\/3 \(100 %\)[\s\S]*\+66.7 points \(95 % interval -6 to 94\)/,
  );
  assert.equal(await overall.locator("svg .score-whisker").count(), 6);
  await page.getByRole("table", { name: "With this description" }).getByRole("row", {
    name: /^find_books 2 0/,
  }).waitFor();
  await page.getByRole("table", { name: /Search rank/ }).getByText("#1").first().waitFor();
  await inspect(page, "result");

  await page.getByLabel("Reason for promoting").fill("I read the runs");
  await page.getByRole("button", { name: "Promote against the verdict" }).click();
  await page.getByText(RESTART_NOTE).waitFor();
  await hears(client, GOOD);
  await page.getByText("Optimized, promoted").waitFor();
  await other.page.getByText("Optimized, promoted").waitFor();
  await goLive(other.page, `${lab.gateway.url}/optimization`);
  await other.page.getByText("1 of 5 tools optimized").waitFor();
  const row = other.page.getByRole("row", { name: /^find_books/ });
  await row.getByText("Promoted", { exact: true }).waitFor();
  await row.getByText("3/3 (100 %)").waitFor();

  await page.getByRole("button", { name: "Revert to original" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revert to original" }).click();
  await page.getByText("The server's own description is active again").waitFor();
  await hears(client, POOR_DESCRIPTION);
  await other.page.getByText("0 of 5 tools optimized").waitFor();
  // Somebody has decided: the candidate waits no longer.
  await row.getByText("Correct in only 1/3 runs").last().waitFor();
  assert.deepEqual([...complaints, ...other.complaints], []);
});

test("prompts show what came of them, and are added, edited and retired", async () => {
  await using open = await openPage();
  const { page, complaints } = open;
  await goLive(page, `${lab.gateway.url}${TOOL}?tab=prompts`);
  await page.getByText("Correct in all evaluations: 3/3 (100 %)").waitFor();
  await page.getByRole("link", { name: "Canonical description" }).click();
  await page.getByText("Correct in all evaluations: 1/3 (33 %)").waitFor();
  const row = page.locator(".prompt", { hasText: DIRECT!.prompt });
  await row.getByText("Failed").waitFor();
  await row.getByText("no tool called").waitFor();
  await row.getByText("Model response").click();
  await row.getByText("No tool is needed for that.").waitFor();
  const negative = page.locator(".prompt", { hasText: NEGATIVE!.prompt });
  await negative.getByText("Passed").waitFor();
  await negative.getByText(/not called; .*opening_hours was/).waitFor();
  await inspect(page, "prompts");

  // As a link from elsewhere fills it in.
  const asked = "Is there a book on how to keep bees?";
  const query = new URLSearchParams({ prompt: asked, category: "indirect" });
  await goLive(page, `${lab.gateway.url}${TOOL}?${query}`);
  const form = page.locator("form", { hasText: "Add prompt" });
  assert.equal(await form.getByLabel("Prompt", { exact: true }).inputValue(), asked);
  assert.equal(await form.getByLabel("Category").inputValue(), "indirect");
  // What does not fit together is refused, and stays as it was typed.
  await form.getByLabel("Expected tool").fill("opening_hours");
  await form.getByRole("button", { name: "Add prompt" }).click();
  await page.getByRole("alert").getByText("opening_hours").waitFor();
  assert.equal(await form.getByLabel("Prompt", { exact: true }).inputValue(), asked);
  assert.equal(await form.getByLabel("Expected tool").inputValue(), "opening_hours");
  await form.getByLabel("Expected tool").fill("");
  await form.getByRole("button", { name: "Add prompt" }).click();
  const added = page.locator(".prompt", { hasText: asked });
  await added.getByText("Not run").waitFor();
  await added.getByText("Edit", { exact: false }).first().click();
  await added.getByLabel("Prompt", { exact: true }).fill("Too short");
  await added.getByLabel("Notes").fill("Bees");
  // The browser's own check is not what guards it.
  await added.locator("form").first().evaluate((form) => form.setAttribute("novalidate", ""));
  await added.getByRole("button", { name: "Save prompt" }).click();
  await page.getByRole("alert").getByText("10 to 4000 characters").waitFor();
  const again = page.locator(".prompt", { hasText: asked });
  assert.equal(await again.getByLabel("Prompt", { exact: true }).inputValue(), "Too short");
  await again.getByLabel("Prompt", { exact: true }).fill("Which novels are about bees?");
  await again.getByRole("button", { name: "Save prompt" }).click();
  const edited = page.locator(".prompt", { hasText: "Which novels are about bees?" });
  await edited.getByText("version 2").waitFor();
  await edited.getByText("Edit", { exact: false }).first().click();
  await edited.getByRole("button", { name: /^Retire/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Retire prompt" }).click();
  await page.getByText("Prompt retired").first().waitFor();
  await edited.waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
});

test("a candidate is proposed, promoted against the verdict with a reason, and taken back", async () => {
  await using open = await openPage();
  await using client = await connectClient();
  const { page, complaints } = open;
  await goLive(page, `${lab.gateway.url}${TOOL}?tab=candidates`);
  await page.locator(".candidate", { hasText: "Handles things." }).waitFor();
  const field = page.getByLabel("Description", { exact: true });
  await field.fill("x".repeat(295));
  await page.getByText("295/280, 15 too many").waitFor();
  await inspect(page, "candidates");
  await page.getByRole("button", { name: "Save candidate" }).click();
  await page.getByRole("alert").getByText("exceeds 280 character limit (got 295)").waitFor();
  assert.equal((await page.getByLabel("Description", { exact: true }).inputValue()).length, 295);
  await page.getByLabel("Description", { exact: true }).fill("Looks up books.");
  await page.getByRole("button", { name: "Save candidate" }).click();
  const proposed = page.locator(".candidate", { hasText: "Looks up books." });
  await proposed.getByText("Not evaluated yet.").waitFor();
  assert.equal(await proposed.getByText("run evaluations first").count(), 0);

  const vague = page.locator(".candidate", { hasText: "Handles things." });
  await vague.getByText(/Do not promote/).waitFor();
  await vague.getByText("Promote anyway", { exact: true }).click();
  await vague.getByLabel("Reason for promoting").fill("A trial for a day");
  await vague.getByRole("button", { name: "Promote against the verdict" }).click();
  await page.getByText(RESTART_NOTE).waitFor();
  await page.getByText("Reason for the promotion: A trial for a day").waitFor();
  await hears(client, VAGUE);

  await page.getByRole("link", { name: "History" }).click();
  const rows = page.locator(".rows > .row");
  await rows.first().getByText("A trial for a day").waitFor();
  await inspect(page, "history");
  const first = rows.filter({ hasText: GOOD }).last();
  await first.getByRole("button", { name: "Restore this" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Restore this" }).click();
  await hears(client, GOOD);
  await page.getByText("The earlier promotion is active again").waitFor();
  await page.getByRole("button", { name: "Revert to original" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revert to original" }).click();
  await hears(client, POOR_DESCRIPTION);
  assert.deepEqual(complaints, []);
});

test("promote works by keyboard alone", async () => {
  await using open = await openPage();
  await using client = await connectClient();
  const { page, complaints } = open;
  await goLive(page, `${lab.gateway.url}/optimization`);
  await page.keyboard.press("Tab");
  await tabTo(page, /^find_books$/);
  await page.keyboard.press("Enter");
  await page.waitForURL(/find_books/);
  await page.getByText("Proposed, not confirmed: evaluate it thoroughly").first().waitFor();
  await tabTo(page, /^Promote against the verdict Candidate 2$/);
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.type("I read the runs");
  await page.keyboard.press("Enter");
  await hears(client, GOOD);
  await page.getByText(RESTART_NOTE).waitFor();
  assert.deepEqual(complaints, []);
});

test("the pages can be read and promote reverted without JavaScript", async () => {
  await using open = await openPage(await newContext({ javaScriptEnabled: false }));
  await using client = await connectClient();
  const { page } = open;
  await page.goto(`${lab.gateway.url}/optimization/library`);
  await page.getByRole("checkbox", { name: /^list_loans/ }).uncheck();
  await page.getByLabel("Candidates per tool").fill("1");
  await page.getByRole("button", { name: "Update estimate" }).click();
  await page.getByText(/^Estimate: \d tools, up to [\d,]+ runs/).waitFor();
  assert.equal(await page.getByLabel("Candidates per tool").inputValue(), "1");
  assert.ok(!await page.getByRole("checkbox", { name: /^list_loans/ }).isChecked());
  await page.goto(lab.gateway.url + TOOL);
  await page.getByText("Optimized, promoted").waitFor();
  await page.getByRole("button", { name: "Revert to original" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revert to original" }).click();
  await page.getByText("The server's own description is active again").waitFor();
  await hears(client, POOR_DESCRIPTION);
});

test("a job that could test nothing says so and why, and what it worked with", async () => {
  await using open = await openPage();
  const { page, complaints } = open;
  await goLive(page, `${lab.gateway.url}/optimization`);
  const request = { server: "library", tools: ["renew_loan"], options: { generate: false } };
  const { job: { id } } = await api("POST", "/api/optimization/jobs", request);
  const row = page.locator(".row", { hasText: "library.renew_loan" });
  const said = row.locator(".state.tone-warn", { hasText: "Finished: nothing could be tested" });
  await said.waitFor();
  await row.getByText(/there are no prompts/).waitFor();
  await goLive(page, `${lab.gateway.url}/optimization/~jobs/${id}`);
  await page.getByText("This job has ended; its results are kept").waitFor();
  await page.locator(".job").getByText("0/1 tool tested").waitFor();
  await page.locator(".notice.tone-warn").getByText(/there are no prompts/).waitFor();
  const repeats = page.locator(".fact", { hasText: "Runs per prompt" });
  assert.match(await repeats.innerText(), /1\s+default for thorough/);
  await inspect(page, "job-empty");
  assert.deepEqual(complaints, []);
});

test("batch page says what it would do, and the report comes in three formats", async () => {
  await using open = await openPage();
  const { page, complaints } = open;
  await goLive(page, `${lab.gateway.url}/optimization`);
  await page.getByRole("link", { name: "Optimize all" }).click();
  await page.getByRole("heading", { name: "Optimize all servers" }).waitFor();
  await page.getByText("4 tools to optimize").waitFor();
  await page.getByText(/4 tools, up to [\d,]+ runs/).waitFor();
  await page.getByLabel("Budget: maximum runs").fill("10");
  await page.getByText(/4 tools, up to 10 runs/).waitFor();
  await inspect(page, "batch");
  await goLive(page, `${lab.gateway.url}/optimization`);
  for (const [label, file] of [["JSON", "json"], ["Markdown", "md"], ["CSV", "csv"]] as const) {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: label, exact: true }).click(),
    ]);
    assert.equal(download.suggestedFilename(), `optimization.${file}`);
  }
  assert.deepEqual(complaints, []);
});

test("optimization is switched on and off in the console where the start did not", async () => {
  const { url } = await lab.start({ enabled: false });
  await using open = await openPage();
  const { page, complaints } = open;
  await page.goto(`${url}/optimization`);
  await page.getByRole("heading", { name: "Optimization is off" }).waitFor();
  await page.getByText("0 of 5 tools optimized").waitFor();
  assert.equal(await page.getByRole("link", { name: "Optimize all" }).count(), 0);
  await inspect(page, "off");
  await page.getByRole("button", { name: "Switch optimization on" }).click();
  await page.getByRole("link", { name: "Optimize all" }).waitFor();
  await page.getByRole("button", { name: "Switch optimization off" }).click();
  await page.getByRole("heading", { name: "Optimization is off" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("the table says at the top that nothing can be evaluated, and how to change that", async () => {
  await using gateway = await startGateway([
    "--enable-optimization",
    ...["--evaluator", "claude-cli", "--claude-path", "claude-is-not-here"],
  ]);
  await using open = await openPage();
  const { page, complaints } = open;
  await page.goto(`${gateway.url}/optimization`);
  const notice = page.locator(".notice.tone-warn", { hasText: "Evaluations cannot run" });
  await notice.getByText(/npm install -g @anthropic-ai\/claude-code/).waitFor();
  await notice.getByRole("button", { name: "Check again" }).waitFor();
  await assertFits(page, "no evaluator");
  assert.deepEqual(complaints, []);
});
