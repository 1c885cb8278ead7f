import assert from "node:assert/strict";
import { join } from "@std/path";
import { type Browser, launchBrowser, type Page, within } from "./browser.ts";
import { connect, tool } from "./combined_endpoints.ts";
import { browserTest, goLive, openPage } from "./console_pages.ts";
import { choosingModel } from "./fixtures/choosing_model.ts";
import { type ModelStandIn, startModelStandIn } from "./fixtures/model_stand_in.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";
import { type RunningGateway, startGateway, until } from "./gateway.ts";

const LIMIT_MS = 60_000;

let folder: string;
let git: ScriptedServer;
let model: ModelStandIn;
/** Two on the same data. */
let here: RunningGateway;
let there: RunningGateway;
let browser: Browser;

Deno.test.beforeAll(async () => {
  folder = await Deno.makeTempDir({ prefix: "quartermaster_live_" });
  git = new ScriptedServer([tool("status"), tool("commit")]);
  model = startModelStandIn(choosingModel({}).script);
  const mcpServers = { git: { type: "http", url: git.url } };
  await Deno.writeTextFile(join(folder, ".mcp.json"), JSON.stringify({ mcpServers }));
  const start = () =>
    startGateway(
      ["--enable-optimization", "--evaluator", "messages-api", "--eval-model", "stand-in"],
      {
        dataDir: folder,
        env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "any" },
      },
    );
  here = await start();
  [there, browser] = await Promise.all([start(), launchBrowser()]);
  for (const { url } of [here, there]) {
    await until(async () =>
      (await (await fetch(`${url}/readyz`)).json()).servers.ready === 1 || undefined
    );
  }
});

Deno.test.afterAll(async () => {
  await browser?.close();
  await here?.stop();
  await there?.stop();
  await model?.[Symbol.asyncDispose]();
  await git?.[Symbol.asyncDispose]();
  await Deno.remove(folder, { recursive: true });
});

async function post({ url }: RunningGateway, path: string, body: unknown) {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  assert.ok(response.ok, JSON.stringify(answer));
  return answer;
}

const buildToolset = (gateway: RunningGateway, name: string) =>
  post(gateway, "/api/toolsets", { name, tools: ["git.status"] });

async function call(gateway: RunningGateway, name: string): Promise<void> {
  await using client = await connect(gateway.url, "/servers/git/mcp");
  assert.ok(!(await client.call(`git.${name}`)).isError);
}

/** Hears the live channel of a gateway. */
class Listener implements AsyncDisposable {
  readonly #closing = new AbortController();
  readonly #reading: Promise<void>;
  #text = "";

  private constructor(response: Response) {
    const text = response.body!.pipeThrough(new TextDecoderStream());
    this.#reading = (async () => {
      for await (const chunk of text) this.#text += chunk;
    })().catch(() => {});
  }

  static async open({ url }: RunningGateway, since = ""): Promise<Listener> {
    const closing = new AbortController();
    const response = await fetch(`${url}/api/events?since=${since}`, { signal: closing.signal });
    const listener = new Listener(response);
    listener.#closing.signal.addEventListener("abort", () => closing.abort());
    return listener;
  }

  /** The first event of a kind whose data fits. */
  hears(kind: string, fits: RegExp): Promise<string> {
    return until(() =>
      this.#text.split("\n\n").find((event) =>
        event.includes(`event: ${kind}\n`) && fits.test(event)
      )
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#reading;
  }
}

async function momentOf({ url }: RunningGateway, path: string): Promise<string> {
  const html = await (await fetch(url + path)).text();
  const moment = /[0-9a-f]{8}-\d+(?=["\\&])/.exec(html)?.[0];
  assert.ok(moment, "The page does not say when it was made");
  return moment;
}

Deno.test("a page hears what came between its making and the opening of its channel", async () => {
  const moment = await momentOf(here, "/toolsets");
  await buildToolset(here, "between");
  await using listener = await Listener.open(here, moment);
  await listener.hears("toolsets", /data/);
});

Deno.test("a page of another gateway's run is told to begin anew", async () => {
  const moment = await momentOf(there, "/toolsets");
  await using listener = await Listener.open(here, moment);
  await listener.hears("reset", /data: \{\}/);
});

Deno.test("the live channel tells what another gateway on the same data does", async (t) => {
  await using listener = await Listener.open(there);

  await t.step("calls", async () => {
    const dashboard = async () => await (await fetch(there.url)).text();
    // From now on it counts.
    assert.doesNotMatch(await dashboard(), /\b1 call\b/);
    await call(here, "commit");
    await listener.hears("activity", /"tool":"commit"/);
    await listener.hears("calls", /data/);
    assert.match(await dashboard(), /\b1 call\b/);
  });

  await t.step("candidates", async () => {
    const path = "/api/optimization/tools/git/status/candidates";
    await post(here, path, { description: "Says what is changed in the working tree" });
    await listener.hears("optimization", /data: \{\}/);
  });

  await t.step("jobs and how far they are, in few words", async () => {
    const prompts = ["direct", "indirect", "negative"].map((category) => ({
      category,
      prompt: `A ${category} question about the working tree`,
      expectedBehavior: { shouldCallTool: category !== "negative" },
    }));
    await post(here, "/api/optimization/tools/git/status/prompts", { prompts });
    const { job } = await post(here, "/api/optimization/jobs", {
      server: "git",
      tools: ["status"],
      options: { generate: false },
    });
    const event = await listener.hears("optimization", new RegExp(`"id":"${job.id}"`));
    assert.match(event, /"percent":\d/);
    assert.doesNotMatch(event, /"evaluationId"|"options"/);
    await listener.hears("optimization", new RegExp(`"id":"${job.id}","status":"(?!running)`));
  });

  await t.step("toolsets and servers", async () => {
    await buildToolset(here, "elsewhere");
    await listener.hears("toolsets", /data/);
    await post(here, "/api/servers", { name: "second", url: git.url });
    await listener.hears("server", /"name":"second"/);
  });
});

browserTest("a page opened late and one fetched late show what came meanwhile", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  page.setDefaultTimeout(LIMIT_MS);
  const opening = Promise.withResolvers<void>();
  await page.route("**/api/events*", async (route) => {
    await opening.promise;
    await route.continue();
  });
  await page.goto(`${here.url}/toolsets`);
  await buildToolset(here, "late-channel");
  opening.resolve();
  await page.getByRole("link", { name: "late-channel" }).first().waitFor();

  await page.unroute("**/api/events*");
  await goLive(page, `${here.url}/settings`);
  const change = await holdNext(page, /\/toolsets\b/);
  await page.getByRole("link", { name: "Toolsets" }).first().click();
  await within(change.held, LIMIT_MS, "Asking for the page");
  await using listener = await Listener.open(here);
  await buildToolset(here, "late-page");
  await listener.hears("toolsets", /data/);
  change.letGo();
  await page.getByRole("link", { name: "late-page" }).first().waitFor();
  assert.deepEqual(complaints, []);
});

browserTest("a live update that comes late does not take the place of the next page", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  page.setDefaultTimeout(LIMIT_MS);
  await goLive(page, `${here.url}/optimization/git/status`);
  const address = /\/git\/status\?fresh-partial=/;
  const update = await holdNext(page, address);
  const path = "/api/optimization/tools/git/status/candidates";
  await post(here, path, { description: "Lists what is changed and not committed yet" });
  await within(update.held, LIMIT_MS, "Asking for the page");
  await page.getByRole("link", { name: "Toolsets" }).first().click();
  const heading = page.getByRole("heading", { level: 1, name: "Toolsets" });
  await heading.waitFor();
  const late = page.waitForResponse(address);
  update.letGo();
  await (await late).finished();
  await page.evaluate(() => new Promise((shown) => requestAnimationFrame(shown)));
  await heading.waitFor();
  assert.deepEqual(complaints, []);
});

browserTest("live updates keep what is typed, and the error of a form", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  page.setDefaultTimeout(LIMIT_MS);
  const propose = (description: string) =>
    post(here, "/api/optimization/tools/git/status/candidates", { description });
  /** Lets all timers of the page run, once it has heard of a change. */
  const hear = async (change: () => Promise<unknown>) => {
    await page.clock.install();
    await change();
    const count = () => page.locator(".nav-count").nth(2).textContent();
    const before = await count();
    await buildToolset(here, `after-${crypto.randomUUID().slice(0, 8)}`);
    // Events come in order: the new count says that the change was heard.
    await until(async () => await count() !== before || undefined);
    await page.clock.runFor(10_000);
  };

  await goLive(page, `${here.url}/optimization/~comparisons`);
  const path = /~comparisons\?fresh-partial=/;
  const update = await holdNext(page, path);
  await propose("Lists changes beside a form");
  await within(update.held, LIMIT_MS, "Asking for the page");
  const name = page.getByLabel("Name");
  await name.fill("unchecked");
  await page.getByLabel("What the user asks for").fill("What changed?");
  const late = page.waitForResponse(path);
  update.letGo();
  await (await late).finished();
  await page.evaluate(() => new Promise((shown) => requestAnimationFrame(shown)));
  assert.equal(await name.inputValue(), "unchecked");

  await page.getByRole("button", { name: "Save task" }).click();
  await page.getByRole("alert").waitFor();
  await page.locator('.live[data-state="live"]').waitFor();
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("fresh-partial")) asked.push(request.url());
  });
  await hear(() => propose("Lists changes after a form"));
  assert.ok(await page.getByRole("alert").isVisible());
  await page.getByRole("status").getByText("Updates paused").waitFor();

  await goLive(page, `${here.url}/settings`);
  const option = page.locator(".option-input").first();
  await option.fill("not saved yet");
  await hear(() => post(here, "/api/settings.log_level", { level: "debug" }));
  assert.equal(await option.inputValue(), "not saved yet");
  assert.deepEqual(asked, []);
  assert.deepEqual(complaints.filter((text) => !text.includes("422")), []);
});

browserTest("the activity page shows another gateway's calls in their place", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  page.setDefaultTimeout(LIMIT_MS);
  await goLive(page, `${there.url}/activity`);
  const rows = page.locator(".calls-table tbody tr[data-call]");
  const before = await rows.count();
  await call(here, "status");
  await call(there, "commit");
  // They come one by one, and a call before them may come late too.
  await until(async () => {
    const tools = await rows.locator("[data-row-link]").allInnerTexts();
    const newest = tools.slice(0, 2).map((text) => text.trim()).join();
    return newest === "commit,status" && tools.length >= before + 2 || undefined;
  });
  assert.deepEqual(complaints, []);
});

browserTest("clearing the calls in one gateway empties the open page of another", async () => {
  await using open = await openPage(browser);
  const { page, complaints } = open;
  page.setDefaultTimeout(LIMIT_MS);
  await call(here, "status");
  await goLive(page, `${there.url}/activity`);
  await page.locator(".calls-table tbody tr[data-call]").first().waitFor();
  const cleared = await fetch(`${here.url}/activity/~clear`, {
    method: "POST",
    headers: { origin: here.url },
    redirect: "manual",
  });
  assert.equal(cleared.status, 303);
  await cleared.body?.cancel();
  await page.getByRole("heading", { name: "No calls yet" }).waitFor();
  assert.deepEqual(complaints, []);
});

browserTest("the tool page waits for a server that connects, and shows its tool then", async () => {
  const gate = Promise.withResolvers<void>();
  await using slow = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    async (request) => {
      await gate.promise;
      return await fetch(new Request(git.url, request));
    },
  );
  try {
    const url = `http://127.0.0.1:${slow.addr.port}/mcp`;
    await post(here, "/api/servers?check=false", { name: "slow", url });
    await using open = await openPage(browser);
    const { page, complaints } = open;
    page.setDefaultTimeout(LIMIT_MS);
    await goLive(page, `${here.url}/tools/slow/status`);
    await page.getByRole("heading", { name: "The server is starting" }).waitFor();
    gate.resolve();
    await page.getByText("Does status").first().waitFor();
    assert.deepEqual(complaints, []);
  } finally {
    gate.resolve();
    await fetch(`${here.url}/api/servers/slow`, {
      method: "DELETE",
      headers: { "content-type": "application/json" },
    }).then((response) => response.body?.cancel());
  }
});

/** Fetches the next answer for such a path, and gives it to the page only when it is let go. */
async function holdNext(page: Page, path: RegExp) {
  const held = Promise.withResolvers<void>();
  const going = Promise.withResolvers<void>();
  await page.route(path, async (route) => {
    const response = await route.fetch();
    held.resolve();
    await going.promise;
    await route.fulfill({ response });
  }, { times: 1 });
  return { held: held.promise, letGo: () => going.resolve() };
}
