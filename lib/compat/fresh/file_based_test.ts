import assert from "node:assert/strict";
import { fixtureHandler } from "./fixture/start.ts";

Deno.test("fsRoutes()", async (t) => {
  const handler = await fixtureHandler();
  const get = async (path: string, init?: RequestInit) => {
    const response = await handler(new Request(`http://localhost${path}`, init));
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const content = async (path: string) =>
    /<!--frsh:partial:main:replace:-->(.*)<!--\/frsh:partial-->/s.exec((await get(path)).text)?.[1];

  await t.step("finds literal, dynamic, optional and catch-all routes", async () => {
    assert.match(await content("/users/me") ?? "", /<h1>Me<\/h1>/);
    assert.match(await content("/users/7") ?? "", /<h1>User 7<\/h1>/);
    assert.match(await content("/docs") ?? "", /<h1>Docs latest<\/h1>/);
    assert.match(await content("/docs/v2") ?? "", /<h1>Docs v2<\/h1>/);
    assert.equal((await get("/files/a/b%20c", { method: "DELETE" })).text, "DELETE a/b c");
    assert.match(
      await content("/x/mod@1.2") ?? "",
      /<h1>mod at 1\.2 \(\/x\/:module@:version\)<\/h1>/,
    );
    assert.equal((await get("/override")).status, 404);
  });

  await t.step("wraps pages in app, layouts and middlewares", async () => {
    assert.match(
      await content("/") ?? "",
      /^<div class="root-layout" data-trail="main>root"><h1>Home/,
    );
    assert.match(
      await content("/admin") ?? "",
      /^<div class="admin-layout" data-trail="main>root>admin"><h1>Admin/,
    );
    assert.match(
      await content("/grouped") ?? "",
      /^<div class="root-layout".*?"><div class="group-layout">/,
    );
    const print = (await get("/admin/print")).text;
    assert.match(print, /<body><h1>Print<\/h1><\/body>/);
  });

  await t.step("does not make routes of (_folders)", async () => {
    for (const path of ["/local", "/(_islands)/local", "/note"]) {
      assert.equal((await get(path)).status, 404);
    }
  });

  await t.step("shows _404 and the nearest _error", async () => {
    const missing = await get("/no/such/page");
    assert.equal(missing.status, 404);
    assert.match(missing.text, /<h1 id="missing">Nothing at \/no\/such\/page<\/h1>/);

    const failed = await get("/fails");
    assert.equal(failed.status, 500);
    assert.match(failed.text, /<h1 id="error">Broken: &lt;\/script>&lt;b>in the page/);

    const locked = await get("/admin?locked");
    assert.equal(locked.status, 418);
    assert.equal(locked.headers.get("x-error"), "admin");
    assert.match(locked.text, /<h1 id="admin-error">HttpError: locked<\/h1>/);
  });

  await t.step("does not use _error for routes that were added before the files", async () => {
    const early = await get("/early-error");
    assert.deepEqual([early.status, early.text], [500, "Internal server error"]);
  });

  await t.step("answers 404 where a file has no handler for the method", async () => {
    assert.equal((await get("/users/7", { method: "DELETE" })).status, 404);
    assert.equal((await get("/echo")).status, 404);
    assert.equal((await get("/users/7", { method: "HEAD" })).status, 200);
  });

  await t.step("handles a form's POST with a redirect", async () => {
    const body = new URLSearchParams({ name: "Ada & co" });
    const done = await get("/form", { method: "POST", body });
    assert.deepEqual([done.status, done.headers.get("location")], [
      303,
      "/form?said=Ada%20%26%20co",
    ]);
    const again = await get("/form", { method: "POST", body: new URLSearchParams({ name: "" }) });
    assert.equal(again.status, 422);
    assert.match(again.text, /A name is needed/);
  });

  await t.step("sends no script to a page that needs none", async () => {
    const print = await get("/admin/print");
    assert.doesNotMatch(print.text, /<script/);
    assert.equal(print.headers.get("link"), null);
    const page = await get("/grouped");
    assert.match(page.headers.get("link") ?? "", /local\.js>; rel="modulepreload"/);
  });

  await t.step("merges <Head> into the document's head", async () => {
    const { text } = await get("/head");
    const head = /<head>(.*)<\/head>/s.exec(text)?.[1] ?? "";
    assert.match(head, /<title>Head page<\/title><meta name="description" content="from the page"/);
    assert.match(head, /<meta name="robots" content="noindex"\/><style id="late-style" nonce="/);
    assert.equal(head.match(/<title>/g)?.length, 1);
    assert.doesNotMatch(text.slice(text.indexOf("<body")), /robots|<title>/);
  });

  await t.step("marks links to the page and to what is above it", async () => {
    const { text } = await get("/islands");
    assert.match(
      text,
      /<a href="\/islands" id="nav-islands" data-current="true" aria-current="page">/,
    );
    assert.match(text, /<a href="\/" id="nav-home" data-ancestor="true" aria-current="true">/);
    assert.match(text, /<a href="\/page\/1" id="nav-page">/);
    const { text: head } = await get("/head?island");
    assert.match(head, /<a href="\/" id="nav-in-island" data-ancestor="true" aria-current="true">/);
  });

  await t.step("names the island and the prop that cannot be sent", async () => {
    for (const [kind, what] of [["function", "a function"], ["class", "a Custom"]]) {
      const { status, text } = await get(`/bad_props?kind=${kind}`);
      assert.equal(status, 500);
      const prop = "&quot;options.list[0]&quot; of island &quot;panel&quot;";
      assert.ok(text.includes(`Cannot send the prop ${prop} to the browser: it is ${what}`), text);
    }
  });

  await t.step("lets no text out of its place", async () => {
    const hostile = `"'></p></script><script>alert(1)</script><!-- --> --!> \u2028 \uD800 :/`;
    for (const suffix of ["", "&fresh-partial=true"]) {
      const { status, text } = await get(
        `/injection?text=${encodeURIComponent(hostile.toWellFormed())}${suffix}`,
      );
      assert.equal(status, 200);
      assert.doesNotMatch(text, /<script>alert/);
      const comments = text.match(/<!--.*?-->/g) ?? [];
      assert.ok(
        comments.every((comment) => /^<!--\/?frsh:[\w:%.!'*~()-]*-->$/.test(comment)),
        text,
      );
      const scripts = text.match(/<script[\s>]/g)?.length;
      assert.equal(scripts, suffix === "" ? 3 : 2);
    }
  });

  await t.step("streams", async () => {
    const response = await handler(new Request("http://localhost/events"));
    const reader = response.body!.getReader();
    assert.equal(new TextDecoder().decode((await reader.read()).value), "data: one\n\n");
    assert.equal(new TextDecoder().decode((await reader.read()).value), "data: two\n\n");
    assert.equal((await reader.read()).done, true);
  });
});
