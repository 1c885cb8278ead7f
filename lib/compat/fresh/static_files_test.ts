import assert from "node:assert/strict";
import { App, staticFiles } from "./mod.ts";
import { applyBuild, type Build, NO_BUILD, type StaticFile } from "./build.ts";
import { fixtureHandler } from "./fixture/start.ts";
import { asset, assetSrcSet } from "./runtime.ts";

const CACHED = "public, max-age=31536000, immutable";

Deno.test("staticFiles()", async (t) => {
  const handler = await fixtureHandler();
  const get = async (path: string, init?: RequestInit) => {
    const response = await handler(new Request(`http://localhost${path}`, init));
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

  await t.step("serves with type, length and ETag, and revalidates", async () => {
    const file = await get("/styles.css");
    assert.equal(file.status, 200);
    assert.equal(file.headers.get("content-type"), "text/css; charset=utf-8");
    assert.equal(file.headers.get("content-length"), String(file.text.length));
    assert.equal(file.headers.get("cache-control"), "no-cache");
    const etag = file.headers.get("etag") ?? "";
    const known = await get("/styles.css", { headers: { "if-none-match": `"x", ${etag}` } });
    assert.deepEqual([known.status, known.text], [304, ""]);
    const changed = await get("/styles.css", { headers: { "if-none-match": '"x"' } });
    assert.equal(changed.status, 200);
  });

  await t.step("caches for a year what carries the build's mark", async () => {
    assert.match(asset("/styles.css?a=b#c"), /^\/styles\.css\?a=b&__frsh_c=\w+#c$/);
    assert.equal((await get(asset("/styles.css"))).headers.get("cache-control"), CACHED);
    const other = await get("/styles.css?__frsh_c=old&a=b");
    assert.deepEqual([other.status, other.headers.get("location")], [307, "/styles.css?a=b"]);
  });

  await t.step("caches the browser's modules for a year", async () => {
    const page = await get("/islands");
    const src = /<script type="module" src="([^"]+)"/.exec(page.text)?.[1] ?? "";
    const script = await get(src);
    assert.equal(script.status, 200);
    assert.equal(script.headers.get("content-type"), "text/javascript; charset=utf-8");
    assert.equal(script.headers.get("cache-control"), CACHED);
  });

  await t.step("answers HEAD without a body and refuses other methods", async () => {
    const head = await get("/styles.css", { method: "HEAD" });
    assert.deepEqual([head.status, head.text], [200, ""]);
    assert.ok(Number(head.headers.get("content-length")) > 0);
    assert.equal((await get("/styles.css", { method: "POST" })).status, 405);
  });

  await t.step("leaves alone what is no public file", async () => {
    const paths = [
      "/..%2fmain.ts",
      "/%2e%2e/main.ts",
      "/img/..%2f..%2fmain.ts",
      "/..%5cmain.ts",
      "/.hidden",
      "/img",
      "/img/",
      "/styles.css%00",
      "/%E0%A4%A",
      "//styles.css/",
    ];
    for (const path of paths) assert.equal((await get(path)).status, 404, path);
  });

  await t.step("marks the sources of images by itself", async () => {
    assert.match((await get("/")).text, /<img src="\/img\/dot\.svg\?__frsh_c=\w+" alt\/?/);
    assert.match(
      assetSrcSet("/a.png 1x, /b.png 2x"),
      /^\/a\.png\?__frsh_c=\w+ 1x, \/b\.png\?__frsh_c=\w+ 2x$/,
    );
    assert.equal(asset("https://example.com/a.png"), "https://example.com/a.png");
    assert.equal(asset("//example.com/a.png"), "//example.com/a.png");
  });
});

Deno.test("staticFiles() in development caches nothing", async () => {
  const file: StaticFile = {
    hash: "abc",
    size: 1,
    immutable: true,
    open: () => Promise.resolve(new Uint8Array([65])),
  };
  const build: Build = { ...NO_BUILD, find: (path) => path === "/a" ? file : undefined };
  const app = new App<unknown>({ basePath: "/base" }).use(staticFiles());
  applyBuild(app, build, "development");
  const response = await app.handler()(
    new Request("http://localhost/base/a", { headers: { "if-none-match": 'W/"abc"' } }),
  );
  assert.equal(await response.text(), "A");
  assert.equal(response.headers.get("cache-control"), "no-cache");
  assert.equal(response.headers.get("etag"), null);
});
