import assert from "node:assert/strict";
import { type Browser, launchBrowser } from "./browser.ts";
import { assertReadable, browserTest, goLive, openPage } from "./console_pages.ts";
import { findClaude } from "./fixtures/claude_cli.ts";
import { type ModelReply, startModelStandIn, toolResultsOf } from "./fixtures/model_stand_in.ts";
import { startGateway } from "./gateway.ts";

const claude = await findClaude();
let browser: Browser;

Deno.test.beforeAll(async () => {
  browser = await launchBrowser();
});

Deno.test.afterAll(async () => {
  await browser?.close();
});

browserTest("evaluator that was found is named, and a real request says how it went", async () => {
  if (claude === undefined && !Deno.env.get("CI")) return;
  assert.ok(claude !== undefined, "The claude CLI cannot be installed here");
  let reply: ModelReply = { text: "I cannot say" };
  await using model = startModelStandIn((request) => {
    const forecast = request.tools.find(({ name }) => name.includes("weather_forecast"));
    // After its call the CLI asks once more.
    if (forecast === undefined || toolResultsOf(request).length > 0) return { text: "Done" };
    return reply.toolUse === undefined
      ? reply
      : { toolUse: { name: forecast.name, input: { city: "Lisbon" } } };
  });
  await using gateway = await startGateway([
    ...["--evaluator", "claude-cli", "--claude-path", claude, "--eval-model", "stand-in"],
  ], { env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "sk-any" } });
  await using open = await openPage(browser);
  const { page, complaints } = open;
  page.setDefaultTimeout(60_000);

  // While it is off nothing is started, nor spent.
  const off = await fetch(`${gateway.url}/settings`, {
    method: "POST",
    body: new URLSearchParams({ action: "evaluator-test" }),
  });
  assert.equal(off.status, 403);
  assert.match(await off.text(), /optimization is off, and the test is a real model call/);
  assert.equal(model.requests.length, 0);

  await goLive(page, `${gateway.url}/settings`);
  await page.getByRole("button", { name: "Switch optimization on" }).click();
  await page.getByText("Optimization is on.").waitFor();
  await page.getByRole("button", { name: "Check the evaluator" }).click();
  await page.getByText(claude).first().waitFor();
  await page.getByText(/^2\.1\.\d+ \(Claude Code\)$/).waitFor();
  await page.getByText(/Makes one real model request/).waitFor();
  assert.equal(model.requests.length, 0);

  await page.getByRole("button", { name: "Run a test" }).click();
  await page.getByText(/it called no tool instead of weather_forecast/).waitFor();
  assert.ok(model.requests.length > 0);
  reply = { toolUse: { name: "", input: {} } };
  await page.getByRole("button", { name: "Run a test" }).click();
  await page.getByText(/It works\. .*chose the right one of two tools/).waitFor();
  await page.getByText(/, with .*, in [\d.]+ (s|ms)/).waitFor();
  await assertReadable(page, "settings-evaluator");
  reply = { status: 401 };
  await page.getByRole("button", { name: "Run a test" }).click();
  await page.getByText(/It does not work\. The model API denied access/).waitFor();
  assert.deepEqual(complaints, []);
});
