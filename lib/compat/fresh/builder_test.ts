import { fromFileUrl, join } from "@std/path";
import assert from "node:assert/strict";
import { launchBrowser } from "../../../tests/browser.ts";
import { FIXTURE } from "./fixture/start.ts";
import { App, staticFiles } from "./mod.ts";
import { Builder } from "./dev.ts";

const CONFIG = fromFileUrl(new URL("../../../deno.json", import.meta.url));

Deno.test("Builder.build() writes an app that runs without bundler, write or run permission", async () => {
  await using out = await tempDir();
  await new Builder({ root: FIXTURE, outDir: out.path }).build();
  const flags = [
    "--allow-net=127.0.0.1",
    "--allow-read",
    "--allow-env",
    "--deny-write",
    "--deny-run",
  ];
  await using server = await startProcess(
    ["serve", "--cached-only", "--no-prompt", ...flags, "--config", CONFIG],
    ["--host", "127.0.0.1", "--port", "0", join(out.path, "server.js")],
  );

  const page = await (await fetch(`${server.url}/islands`)).text();
  assert.match(page, /<button type="button" id="first">3<\/button>/);
  const urls = [...page.matchAll(/(?:src|href)="(\/[^"]+__frsh_c[^"]+|\/_fresh\/[^"]+)"/g)];
  const island = /"(\/_fresh\/js\/\w+\/counter\.js)"/.exec(page)?.[1];
  for (const path of [...urls.map(([, url]) => url), island]) {
    const response = await fetch(server.url + path);
    assert.equal(response.status, 200, path);
    assert.equal(response.headers.get("cache-control"), "public, max-age=31536000, immutable");
    assert.equal(
      (await response.arrayBuffer()).byteLength,
      Number(response.headers.get("content-length")),
    );
  }
  assert.equal(urls.length, 2);

  const plain = await fetch(`${server.url}/img/dot.svg`);
  assert.equal(plain.headers.get("content-type"), "image/svg+xml");
  const etag = plain.headers.get("etag") ?? "";
  await plain.body?.cancel();
  const known = await fetch(`${server.url}/img/dot.svg`, { headers: { "if-none-match": etag } });
  assert.equal(known.status, 304);
  for (const path of ["/.hidden", "/..%2fserver.js", "/server.js", "/x/mod@1"]) {
    const response = await fetch(server.url + path);
    await response.body?.cancel();
    assert.equal(response.status, path === "/x/mod@1" ? 200 : 404, path);
  }
});

Deno.test("Builder.build() gives the same build twice and leaves nothing of an older one", async () => {
  await using project = await copyProject();
  const builder = new Builder({ root: project.path });
  const out = join(project.path, "_fresh");
  const files = async () => (await list(out)).sort();
  await builder.build();
  const first = await files();
  await builder.build();
  assert.deepEqual(await files(), first);
  await Deno.writeTextFile(join(project.path, "static/new.txt"), "new");
  await builder.build();
  const second = await files();
  assert.ok(second.some((path) => path.endsWith("/new.txt")));
  assert.equal(second.length, first.length + 1);
});

Deno.test("Builder.build() leaves the old build in place when the new one fails", async () => {
  await using project = await copyProject();
  const builder = new Builder({ root: project.path });
  await builder.build();
  const before = await Deno.readTextFile(join(project.path, "_fresh/server.js"));
  await Deno.writeTextFile(join(project.path, "islands/broken.tsx"), "export default function (");
  await assert.rejects(builder.build(), /Cannot bundle the islands/);
  assert.equal(await Deno.readTextFile(join(project.path, "_fresh/server.js")), before);
});

Deno.test("Builder takes the first of several static folders that has a file", async () => {
  await using project = await copyProject();
  await Deno.mkdir(join(project.path, "more"));
  await Deno.writeTextFile(join(project.path, "more/a.txt"), "second");
  await Deno.writeTextFile(join(project.path, "more/b.txt"), "second");
  await Deno.symlink(join(project.path, "main.ts"), join(project.path, "more/link.txt"));
  const applySnapshot = await new Builder({ root: project.path, staticDir: ["static", "more"] })
    .build({ snapshot: "memory" });
  const app = new App<unknown>().use(staticFiles());
  applySnapshot(app);
  const handler = app.handler();
  const text = async (path: string) =>
    await (await handler(new Request(`http://localhost${path}`))).text();
  assert.equal(await text("/a.txt"), "first");
  assert.equal(await text("/b.txt"), "second");
  assert.equal(await text("/link.txt"), "Not Found");
});

Deno.test({
  name: "Builder.listen() serves, and a page reloads when another process takes over",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const dev = fromFileUrl(new URL("./fixture/dev.ts", import.meta.url));
    const start = (port: string) =>
      startProcess(["run", "-A", "--no-lock", "--config", CONFIG], [dev, port]);
    const browser = await launchBrowser();
    try {
      let url: string;
      {
        await using first = await start("0");
        url = first.url;
        const page = await browser.newPage();
        await page.goto(`${url}/slots`);
        await page.click("#sibling");
        await page.evaluate(() => document.documentElement.dataset.marked = "yes");
        assert.equal(await page.locator("#sibling").textContent(), "sibling 1");
      }
      await using _second = await start(new URL(url).port);
      const page = browser.contexts()[0]?.pages()[0];
      assert.ok(page);
      await page.waitForFunction(() => document.documentElement.dataset.marked === undefined);
      await page.click("#sibling");
      assert.equal(await page.locator("#sibling").textContent(), "sibling 1");
    } finally {
      await browser.close();
    }
  },
});

async function tempDir(): Promise<{ path: string } & AsyncDisposable> {
  const path = await Deno.makeTempDir({ prefix: "compat_" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

/** The smallest project there is: an app, an island, a static file. */
async function copyProject(): Promise<{ path: string } & AsyncDisposable> {
  const project = await tempDir();
  for (const dir of ["islands", "static", "routes"]) await Deno.mkdir(join(project.path, dir));
  const write = (path: string, text: string) => Deno.writeTextFile(join(project.path, path), text);
  await write("main.ts", "export const app = {};");
  await write("islands/empty.tsx", "export default function Empty() { return null; }");
  await write("static/a.txt", "first");
  return project;
}

async function list(dir: string): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of Deno.readDir(dir)) {
    const path = join(dir, entry.name);
    if (entry.isDirectory) found.push(...await list(path));
    else found.push(path);
  }
  return found;
}

/** Starts deno and waits for the address it prints. */
async function startProcess(
  flags: string[],
  args: string[],
): Promise<{ url: string } & AsyncDisposable> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...flags, ...args],
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const output = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let url: string | undefined;
  while (url === undefined) {
    const { value, done } = await output.read();
    if (done) throw new Error(`The process ended before it listened:\n${text}`);
    text += value;
    url = /http:\/\/127\.0\.0\.1:\d+(?=\/)/.exec(text)?.[0];
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
      await output.cancel();
    },
  };
}
