import assert from "node:assert/strict";
import { launchBrowser, type Page } from "../../../tests/browser.ts";
import { startFixture } from "./fixture/start.ts";

const NOT_SHOWN: [what: string, link: string, said: RegExp][] = [
  ["a page without a partial", "#to-bare", /no partials/],
  ["what is not a page", "#to-text", /not a page/],
  ["a page that cannot be fetched", "#next", /Failed to fetch/],
];

Deno.test({
  name: "a page in a real browser",
  // Playwright keeps timers and its connection to the browser.
  sanitizeOps: false,
  sanitizeResources: false,
  async fn(t) {
    await using fixture = await startFixture();
    const browser = await launchBrowser();
    const context = await browser.newContext();
    const page = await context.newPage();
    page.setDefaultTimeout(5_000);
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(error.stack ?? error.message));
    page.on("console", (message) => {
      // Chromium tells of every answer that is no success; some are meant here.
      if (message.type() === "error" && !/status of (404|422|500)/.test(message.text())) {
        problems.push(message.text());
      }
    });
    const open = async (path: string) => {
      await page.goto(fixture.url + path);
      await ready(page);
    };
    const step = (name: string, run: () => Promise<void>) =>
      t.step({
        name,
        sanitizeOps: false,
        sanitizeResources: false,
        async fn() {
          problems.length = 0;
          await run();
          // Also every violation of the policy, which has nonces and no 'unsafe-inline'.
          assert.deepEqual(problems, []);
        },
      });
    const text = async (selector: string) => await page.locator(selector).textContent();
    const path = () => page.url().slice(fixture.url.length);

    try {
      await step("islands wake and share a signal", async () => {
        await open("/islands");
        await page.click("#first");
        await page.click("#second");
        assert.equal(await text("#first"), "5");
        assert.equal(await text("#second"), "5");
      });

      await step("islands get every type of prop as it was", async () => {
        await open("/props");
        assert.deepEqual(await page.locator("#kinds li").allTextContents(), [
          "text: </script><script>alert(1)</script><!--\u2028\u2029'\"`&amp;",
          "number: 1.5",
          "negativeZero: -0",
          "notANumber: NaN",
          "yes: true",
          "nothing: null",
          "missing: undefined",
          "big: 12345678901234567890n",
          'list: [1,["two"],{"three":3}]',
          'object: {"nested":{"deep":"</textarea>"}}',
          "date: Date 1970-01-01T00:00:00.000Z",
          "url: URL https://example.com/?a=b",
          "pattern: /a+<b>/gi",
          "set: Set x,y",
          "map: Map k,1",
          "bytes: Uint8Array 0,127,255",
        ]);
        assert.equal(await text("#same"), "true");
        assert.equal(await text("#derived"), "6");
        await page.click("#signal");
        assert.equal(await text("#signal"), "signal!");
      });

      await step("islands hold JSX and other islands, shown or not", async () => {
        await open("/slots");
        assert.equal(await text("#heading"), "<heading>");
        assert.equal(await text("#static"), "static");
        await page.click("#in-slot");
        assert.equal(await text("#in-slot"), "in-slot 6");
        await page.click("#inner > .toggle");
        await page.click("#hidden");
        assert.equal(await text("#hidden"), "hidden 8");
        await page.click("#outer > .toggle");
        assert.equal(await page.locator("#in-slot").count(), 0);
        await page.click("#outer > .toggle");
        assert.equal(await text("#static"), "static");
        await page.click("#closed > .toggle");
        await page.click("#late-stepper");
        assert.equal(await text("#late-stepper"), "late-stepper 1");
        assert.equal(await text("#late"), "late");
        await page.click("#pair-b");
        assert.equal(await text("#pair-a"), "pair-a 0");
        assert.equal(await text("#pair-b"), "pair-b 11");
        await page.click("#sibling");
        assert.equal(await text("#sibling"), "sibling 1");
      });

      /** Does something while a page is there and its scripts are not. */
      const beforeScripts = async (load: () => Promise<unknown>, work: () => Promise<unknown>) => {
        const scripts = Promise.withResolvers<void>();
        await page.route("**/*.js", async (route) => {
          await scripts.promise;
          await route.continue();
        });
        await load();
        // It outlives a reload, and tells whether the page is awake.
        await page.evaluate(() => history.replaceState(null, ""));
        await work();
        scripts.resolve();
        await ready(page);
        await page.unroute("**/*.js");
      };

      await step("what was entered before the page woke stays, and its state knows", async () => {
        const load = () => page.goto(`${fixture.url}/entries`, { waitUntil: "commit" });
        await beforeScripts(load, async () => {
          await page.fill("#plain", "typed early");
          await page.uncheck("#served");
          await page.check("#box");
          await page.selectOption("#choice", "b");
          await page.fill("#text", "early");
          await page.keyboard.press("ArrowLeft");
        });
        assert.equal(await page.inputValue("#plain"), "typed early");
        assert.equal(await page.isChecked("#served"), false);
        assert.equal(await text("#entered"), "early b yes");
        await page.keyboard.type("-l");
        assert.equal(await page.inputValue("#text"), "earl-ly");
      });

      await step("what a browser puts back changes no box that is not in use", async () => {
        await open("/entries");
        const load = () => page.reload({ waitUntil: "commit" });
        await beforeScripts(load, async () => {
          await page.check("#box");
          await page.selectOption("#choice", "b");
          await page.fill("#text", "put back");
        });
        assert.equal(await page.isChecked("#box"), false);
        assert.equal(await text("#entered"), "put back a no");
        await beforeScripts(load, () => page.check("#box"));
        assert.equal(await text("#entered"), "served a yes");
      });

      await step("an island beside a route wakes", async () => {
        await open("/grouped");
        await page.click("#local");
        assert.equal(await text("#local"), "on");
      });

      await step("an island changes the document's head", async () => {
        await open("/head?island");
        await page.click("#head");
        await page.waitForFunction(() => document.title === "Count 1");
        assert.equal(await page.getAttribute("meta[name=count]", "content"), "1");
        assert.equal(await page.locator("meta[name=count]").count(), 1);
      });

      await step("styles of the page and of a later one apply under the policy", async () => {
        await open("/");
        assert.equal(await color(page, "body"), "rgb(1, 2, 3)");
        assert.equal(await color(page, "#styled"), "rgb(4, 5, 6)");
        await page.evaluate(() =>
          document.querySelector("#nav-page")?.setAttribute("href", "/head")
        );
        await page.click("#nav-page");
        await page.waitForSelector("#late-styled");
        assert.equal(await color(page, "#late-styled"), "rgb(7, 8, 9)");
        assert.equal(await page.title(), "Head page");
        assert.equal(
          await page.getAttribute("meta[name=description]", "content"),
          "from the page",
        );
      });

      await step("a link updates the partial and keeps what is outside", async () => {
        await open("/");
        await mark(page);
        await page.fill("#outside", "typed");
        await page.click("#nav-islands");
        await page.click("#first");
        assert.equal(await text("#second"), "4");
        assert.equal(path(), "/islands");
        assert.equal(await page.inputValue("#outside"), "typed");
        assert.equal(await page.getAttribute("#nav-islands", "aria-current"), "page");
        assert.equal(await page.getAttribute("#nav-home", "data-current"), null);
        assert.equal(await isMarked(page), true);
        await page.click("#nav-plain");
        await ready(page);
        assert.equal(await isMarked(page), false);
      });

      await step("a partial is diffed: input, island state and keyed rows survive", async () => {
        await open("/page/1");
        await mark(page);
        await page.fill("#kept", "typed");
        await page.fill(".row-a", "row a");
        await page.click("#kept-state");
        await page.click("#next");
        await page.waitForFunction(() => document.querySelector("#page")?.textContent === "Page 2");
        assert.equal(await page.inputValue("#kept"), "typed");
        assert.equal(await page.getAttribute("#kept", "placeholder"), "for 2");
        assert.equal(await text("#kept-state"), "kept-state 1");
        assert.equal(await text("#count"), "Count 2");
        assert.deepEqual(await page.locator("#rows li").allTextContents(), ["b ", "a "]);
        assert.equal(await page.inputValue(".row-a"), "row a");
        assert.equal(await isMarked(page), true);
      });

      await step("f-partial takes the content from another address", async () => {
        await open("/page/1");
        await page.click("#next-partial");
        await page.waitForFunction(() =>
          document.querySelector("#count")?.textContent === "Count 2 alone"
        );
        assert.equal(path(), "/page/2");
        assert.equal(await text("#page"), "Page 1");
      });

      await step("partials append, prepend and replace", async () => {
        await open("/page/1");
        const lines = async (count: number) => {
          await page.waitForFunction(
            (wanted) => document.querySelectorAll(".line").length === wanted,
            count,
          );
          return await page.locator(".line").allTextContents();
        };
        await page.click("#append");
        assert.deepEqual(await lines(2), ["first", "append"]);
        await page.click("#log-append");
        await page.click("#prepend");
        assert.deepEqual(await lines(3), ["prepend", "first", "append"]);
        assert.equal(await text("#log-append"), "log-append 1");
        await page.click("#append");
        assert.deepEqual(await lines(4), ["prepend", "first", "append", "append"]);
        await page.click("#replace");
        assert.deepEqual(await lines(1), ["replace"]);
        await page.click("#log-replace");
        assert.equal(await text("#log-replace"), "log-replace 1");
        assert.equal(path(), "/page/1");
      });

      await step("back and forward show the pages again, at their place", async () => {
        await open("/long");
        await mark(page);
        await page.evaluate(() => scrollTo(0, 1_000));
        await page.evaluate(() => document.querySelector<HTMLElement>("#leave")?.click());
        await page.waitForSelector("#page");
        await page.waitForFunction(() => scrollY === 0);
        await page.click("#next");
        await page.waitForFunction(() => document.querySelector("#page")?.textContent === "Page 2");
        await page.goBack();
        await page.waitForFunction(() => document.querySelector("#page")?.textContent === "Page 1");
        await page.goBack();
        await page.waitForSelector("#bottom");
        await page.waitForFunction(() => Math.abs(scrollY - 1_000) < 5);
        assert.equal(path(), "/long");
        await page.goForward();
        await page.waitForSelector("#page");
        assert.equal(path(), "/page/1");
        assert.equal(await isMarked(page), true);
      });

      await step("a fragment scrolls, on this page and on another", async () => {
        await open("/long");
        await mark(page);
        await page.evaluate(() => document.querySelector<HTMLElement>("#jump")?.click());
        await page.waitForFunction(() => scrollY > 500);
        assert.equal(path(), "/long#bottom");
        await page.goBack();
        await page.waitForFunction(() => location.hash === "");
        await open("/page/1");
        await mark(page);
        await page.click("#nav-bottom");
        await page.waitForFunction(() => scrollY > 500);
        assert.equal(await isMarked(page), true);
      });

      await step("a form with an action is sent in place, and follows a redirect", async () => {
        await open("/form");
        await mark(page);
        await page.fill("#name", "Ada");
        await page.fill("#notes", "kept");
        await page.click("#send");
        await page.waitForFunction(() => document.querySelector("#message")?.textContent === "Ada");
        assert.equal(path(), "/form?said=Ada");
        assert.equal(await page.inputValue("#notes"), "kept");
        await page.fill("#name", "");
        await page.click("#send");
        await page.waitForFunction(() =>
          document.querySelector("#message")?.textContent === "A name is needed"
        );
        await page.click("#search button");
        await page.waitForFunction(() =>
          document.querySelector("#result")?.textContent === "a b by button"
        );
        assert.equal(await isMarked(page), true);
      });

      await step("an indicator is on while its form is being sent", async () => {
        await open("/form");
        await page.click("#saver button");
        await page.waitForFunction(() =>
          document.querySelector("#message")?.textContent === "island"
        );
        assert.equal(await text("#seen"), "indicated");
        assert.equal(await text("#saver button"), "Save");
      });

      await step("a form without an action is left to the browser", async () => {
        await open("/form");
        await mark(page);
        await page.click("#send-plain");
        await page.waitForURL("**/form?said=plain");
        assert.equal(await isMarked(page), false);
      });

      for (const [what, link, said] of NOT_SHOWN) {
        await step(`${what} is not shown, as on the real package`, async () => {
          await open("/page/1");
          await page.route("**/page/2?*", (route) => route.abort());
          await Promise.all([page.waitForEvent("pageerror"), page.click(link)]);
          await page.unroute("**/page/2?*");
          assert.equal(await page.locator("#page").count(), 1);
          assert.match(problems.splice(0).join(), said);
        });
      }

      await step("an error page is shown in place", async () => {
        await open("/page/1");
        await mark(page);
        await page.click("#to-error");
        await page.waitForSelector("#error");
        assert.equal(path(), "/fails");
        assert.equal(await isMarked(page), true);
      });

      await step("hostile text stays text", async () => {
        const hostile = `"'></p></script><img src=x onerror=alert(1)>--><!--\u2028`;
        await open(`/injection?text=${encodeURIComponent(hostile)}`);
        assert.equal(await text("#attribute"), hostile);
        assert.equal(await page.getAttribute("#attribute", "title"), hostile);
        assert.equal(await text("#keyed"), hostile);
        assert.equal(await page.locator("img").count(), 0);
        const button = page.locator("button");
        await button.click();
        assert.equal(await button.textContent(), `${hostile} 1`);
      });

      await step("a click that is overtaken by another changes nothing", async () => {
        await open("/page/1");
        await page.route("**/page/2?*", async (route) => {
          await new Promise((resolve) => setTimeout(resolve, 300));
          await route.continue();
        });
        await page.click("#next");
        await page.click("#nav-islands");
        await page.waitForSelector("#first");
        await page.waitForTimeout(500);
        assert.equal(await page.locator("#page").count(), 0);
        assert.equal(path(), "/islands");
      });
    } finally {
      await browser.close();
    }
  },
});

/** The islands are awake: the runtime has taken the markers of the outermost ones. */
async function ready(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    document.querySelector("script[type=module]") === null || history.state?.fClientNav === true
  );
}

/** Leaves a mark that a page load would take away. */
async function mark(page: Page): Promise<void> {
  await page.evaluate(() => document.documentElement.dataset.marked = "yes");
}

async function isMarked(page: Page): Promise<boolean> {
  return await page.evaluate(() => document.documentElement.dataset.marked === "yes");
}

async function color(page: Page, selector: string): Promise<string> {
  return await page.locator(selector).evaluate((element) => getComputedStyle(element).color);
}
