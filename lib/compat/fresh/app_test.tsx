import assert from "node:assert/strict";
import { Partial } from "./runtime.ts";
import { App, csp, HttpError, page, type PageProps } from "./mod.ts";

/** Made once and rendered for many requests. */
const KEPT = <script>1</script>;

interface State {
  trail: string;
}

async function get(app: App<State>, path: string, init?: RequestInit) {
  const response = await app.handler()(new Request(new URL(path, "http://localhost"), init));
  return { response, status: response.status, text: await response.text() };
}

/** The body's content, as plain text and tags. */
function body(html: string): string {
  return /<body[^>]*>(.*)<\/body>/s.exec(html)?.[1] ?? html;
}

function add(letter: string) {
  return (ctx: { state: State; next(): Promise<Response> }) => {
    ctx.state.trail = (ctx.state.trail ?? "") + letter;
    return ctx.next();
  };
}

Deno.test("App applies its chain from top to bottom", async () => {
  const app = new App<State>()
    .use(add("a"))
    .get("/one", (ctx) => ctx.text(ctx.state.trail))
    .use(add("b"), add("c"))
    .get("/two", (ctx) => ctx.text(ctx.state.trail));
  assert.equal((await get(app, "/one")).text, "a");
  assert.equal((await get(app, "/two")).text, "abc");
});

Deno.test("App.use() with a path covers what lies below it, not what looks like it", async () => {
  const app = new App<State>()
    .use(add("a"))
    .use("/admin", add("b"))
    .get("/admin", (ctx) => ctx.text(ctx.state.trail))
    .get("/admin/users/:id", (ctx) => ctx.text(ctx.state.trail))
    .get("/administrator", (ctx) => ctx.text(ctx.state.trail));
  assert.equal((await get(app, "/admin")).text, "ab");
  assert.equal((await get(app, "/admin/users/1")).text, "ab");
  assert.equal((await get(app, "/administrator")).text, "a");
});

Deno.test("App loads lazy middlewares and routes, and tries a failed import again", async () => {
  let loads = 0;
  const app = new App<State>()
    .get("/lazy", () => Promise.resolve(() => new Response("lazy")))
    .route("/route", () => {
      if (loads++ === 0) return Promise.reject(new HttpError(503, "not yet"));
      return Promise.resolve({ handler: () => new Response("route") });
    });
  const handler = app.handler();
  const text = async (path: string) =>
    await (await handler(new Request(`http://localhost${path}`))).text();
  assert.equal(await text("/lazy"), "lazy");
  assert.equal(await text("/lazy"), "lazy");
  assert.equal(await text("/route"), "not yet");
  assert.equal(await text("/route"), "route");
  assert.equal(loads, 2);
});

Deno.test("App answers 404, 405, OPTIONS and HEAD by what it knows", async () => {
  const app = new App<State>()
    .get("/x", (ctx) => ctx.text("body", { headers: { "x-get": "1" } }))
    .post("/x", (ctx) => ctx.text("posted"));
  assert.deepEqual(pick(await get(app, "/nothing")), [404, "Not Found"]);
  assert.deepEqual(pick(await get(app, "/x", { method: "PUT" })), [405, "Method Not Allowed"]);
  const options = await get(app, "/x", { method: "OPTIONS" });
  assert.equal(options.status, 204);
  assert.equal(options.response.headers.get("allow"), "GET, POST");
  const head = await get(app, "/x", { method: "HEAD" });
  assert.deepEqual([...pick(head), head.response.headers.get("x-get")], [200, "", "1"]);
});

function pick({ status, text }: { status: number; text: string }): [number, string] {
  return [status, text];
}

Deno.test("App.route() renders its component with the handler's data, status and headers", async () => {
  const app = new App<State>().route("/", {
    handler: { GET: () => page({ name: "<Ada>" }, { status: 201, headers: { "x-a": "b" } }) },
    component: ({ data }) => <h1>Hello {(data as { name: string }).name}</h1>,
  }).route("/plain", { component: () => <p>plain</p> })
    .route("/post", { handler: { POST: () => new Response("ok") }, component: () => <p>form</p> });
  const { status, text, response } = await get(app, "/");
  assert.equal(status, 201);
  assert.equal(response.headers.get("x-a"), "b");
  assert.equal(response.headers.get("content-type"), "text/html; charset=utf-8");
  assert.equal(body(text), "<h1>Hello &lt;Ada></h1>");
  assert.equal(body((await get(app, "/plain")).text), "<p>plain</p>");
  assert.equal(body((await get(app, "/post")).text), "<p>form</p>");
  assert.equal((await get(app, "/post", { method: "POST" })).text, "ok");
  assert.equal((await get(app, "/post", { method: "PUT" })).status, 405);
});

Deno.test("App.layout() nests by path; options leave out what is above", async () => {
  const wrap = (name: string) => ({ Component }: PageProps<unknown, State>) => (
    <div class={name}>
      <Component />
    </div>
  );
  const render = (ctx: { render(vnode: preact.VNode): Promise<Response> }) => ctx.render(<p />);
  const app = new App<State>()
    .appWrapper(wrap("app"))
    .layout("*", wrap("outer"))
    .layout("/in", wrap("inner"))
    .layout("/alone", wrap("alone"), { skipInheritedLayouts: true })
    .layout("/bare", wrap("bare"), { skipAppWrapper: true })
    .get("/", render)
    .get("/in", render)
    .get("/alone", render)
    .get("/bare", render)
    .get(
      "/none",
      (ctx) => ctx.render(<p />, {}, { skipInheritedLayouts: true, skipAppWrapper: true }),
    );
  const classes = async (path: string) =>
    [...(await get(app, path)).text.matchAll(/class="(\w+)"/g)].map((found) => found[1]).join(" ");
  assert.equal(await classes("/"), "app outer");
  assert.equal(await classes("/in"), "app outer inner");
  assert.equal(await classes("/alone"), "app alone");
  assert.equal(await classes("/bare"), "outer bare");
  assert.equal(await classes("/none"), "");
});

Deno.test("App awaits async components, which may answer by themselves", async () => {
  const app = new App<State>()
    .layout("/layout", async ({ Component }) => {
      await Promise.resolve();
      return (
        <section>
          <Component />
        </section>
      );
    })
    .route("/layout", { component: async () => <b>{await Promise.resolve("async")}</b> })
    .route("/direct", {
      component: async () => await Promise.resolve(new Response("direct", { status: 202 })),
    });
  assert.equal(body((await get(app, "/layout")).text), "<section><b>async</b></section>");
  assert.deepEqual(pick(await get(app, "/direct")), [202, "direct"]);
});

Deno.test("App.onError() takes the innermost page, and the next one when that fails", async () => {
  const thrower = () => {
    throw new Error("boom");
  };
  const app = new App<State>()
    .onError("*", (ctx) => ctx.text(`outer ${(ctx.error as Error).message}`, { status: 500 }))
    .onError("/in", { component: ({ error }) => <p>inner {(error as Error).message}</p> })
    .onError("/bad", () => {
      throw new Error("worse");
    })
    .get("/out", thrower)
    .get("/in/deep", thrower)
    .post("/in/deep", thrower)
    .get("/bad", thrower);
  assert.deepEqual(pick(await get(app, "/out")), [500, "outer boom"]);
  for (const method of ["GET", "POST"]) {
    const inner = await get(app, "/in/deep", { method });
    assert.equal(inner.status, 500);
    assert.equal(body(inner.text), "<p>inner boom</p>");
  }
  assert.deepEqual(pick(await get(app, "/bad")), [500, "outer worse"]);
  assert.deepEqual(pick(await get(app, "/unknown")), [500, "outer "]);
});

Deno.test("App.notFound() takes every 404, wherever it comes from", async () => {
  const app = new App<State>()
    .notFound({ component: () => <p>gone</p> })
    .onError("*", (ctx) => ctx.text("error", { status: 500 }))
    .get("/throws", () => {
      throw new HttpError(404);
    })
    .get("/other", () => {
      throw new HttpError(403, "no");
    });
  for (const path of ["/throws", "/unknown"]) {
    const { status, text } = await get(app, path);
    assert.deepEqual([status, body(text)], [404, "<p>gone</p>"]);
  }
  assert.equal((await get(app, "/other")).text, "error");
});

Deno.test("App hides what it does not know how to show", async () => {
  const app = new App<State>()
    .get("/secret", () => {
      throw new Error("password 123");
    })
    .get("/nothing", (() => {}) as unknown as () => Response);
  assert.deepEqual(pick(await get(app, "/secret")), [500, "Internal server error"]);
  assert.deepEqual(pick(await get(app, "/nothing")), [500, "Internal server error"]);
});

Deno.test("App sets ctx.error before anybody can catch the error", async () => {
  let seen: unknown;
  const app = new App<State>()
    .use(async (ctx) => {
      try {
        return await ctx.next();
      } catch (error) {
        seen = [error, ctx.error];
        return ctx.text("caught");
      }
    })
    .get("/", () => {
      return Promise.reject("text");
    });
  assert.equal((await get(app, "/")).text, "caught");
  assert.deepEqual(seen, ["text", "text"]);
});

Deno.test("App.mountApp() puts another app below a path, with its middlewares", async () => {
  const inner = new App<State>({ basePath: "/base" })
    .use(add("i"))
    .get("/", (ctx) => ctx.text(ctx.state.trail))
    .get("/:name", (ctx) => ctx.text(`${ctx.state.trail} ${ctx.params.name}`));
  const app = new App<State>({ basePath: "/top" })
    .use(add("o"))
    .get("/", (ctx) => ctx.text(ctx.state.trail))
    .mountApp("/foo", inner);
  assert.equal((await get(app, "/top")).text, "o");
  assert.equal((await get(app, "/top/foo/base")).text, "oi");
  assert.equal((await get(app, "/top/foo/base/x")).text, "oi x");
  assert.equal((await get(app, "/foo/base")).status, 404);
});

Deno.test("App believes the proxy's headers only when told to", async () => {
  const headers = { "x-forwarded-proto": "https", "x-forwarded-host": "example.com" };
  const app = (trustProxy: boolean) =>
    new App<State>({ trustProxy }).get("/", (ctx) => ctx.text(ctx.url.href));
  assert.equal((await get(app(false), "/", { headers })).text, "http://localhost/");
  assert.equal((await get(app(true), "/", { headers })).text, "https://example.com/");
});

Deno.test("Context.redirect() never leaves the site by accident and keeps partial requests partial", async () => {
  const app = new App<State>().get(
    "/go",
    (ctx) => ctx.redirect(ctx.url.searchParams.get("to") ?? "", 303),
  );
  const location = async (to: string, extra = "") =>
    (await get(app, `/go?to=${encodeURIComponent(to)}${extra}`)).response.headers.get("location");
  assert.equal(await location("/"), "/");
  assert.equal(await location("//evil.com/a//b?c=//d"), "/evil.com/a/b?c=//d");
  assert.equal(await location("/\\evil.com"), "/evil.com");
  assert.equal(await location("https://deno.com"), "https://deno.com");
  assert.equal(await location("/a?b#c", "&fresh-partial=true"), "/a?b&fresh-partial=true#c");
});

Deno.test("Context has the route, the parameters and helpers for answers", async () => {
  const app = new App<State>()
    .get(
      "/a/:id",
      (ctx) => ctx.json([ctx.route, ctx.params.id, ctx.isPartial, ctx.config.basePath]),
    )
    .get("/html", (ctx) => ctx.html("<b>x</b>", { status: 201 }));
  assert.equal((await get(app, "/a//7")).text, '["/a/:id","7",false,""]');
  const html = await get(app, "/html");
  assert.deepEqual([html.status, html.response.headers.get("content-type")], [
    201,
    "text/html; charset=utf-8",
  ]);
});

Deno.test("Context.stream() sends each chunk when it is there", async () => {
  const gate = Promise.withResolvers<void>();
  const app = new App<State>().get("/", (ctx) =>
    ctx.stream(async function* () {
      yield "first ";
      await gate.promise;
      yield new TextEncoder().encode("second");
    }, { headers: { "content-type": "text/event-stream" } }));
  const response = await app.handler()(new Request("http://localhost/"));
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  assert.equal((await reader.read()).value, "first ");
  gate.resolve();
  assert.equal((await reader.read()).value, "second");
  assert.equal((await reader.read()).done, true);
});

Deno.test("csp() replaces 'unsafe-inline' by the page's nonce, a new one each time", async () => {
  const app = new App<State>()
    .use(csp({ useNonce: true, csp: ["img-src 'self'", "style-src-elem 'unsafe-inline'"] }))
    .get("/", (ctx) => ctx.render(<script>1</script>))
    .get("/kept", (ctx) => ctx.render(KEPT))
    .get("/own", (ctx) => ctx.render(<script nonce="own">1</script>))
    .get("/text", (ctx) => ctx.text(""));
  const first = await get(app, "/");
  const policy = first.response.headers.get("content-security-policy") ?? "";
  const nonce = /<script nonce="(\w{32})">/.exec(first.text)?.[1];
  assert.ok(nonce);
  assert.match(policy, new RegExp(`script-src 'self' 'nonce-${nonce}';`));
  assert.match(policy, new RegExp(`style-src-elem 'nonce-${nonce}'`));
  assert.match(policy, /img-src 'self';/);
  assert.doesNotMatch(policy, /unsafe-inline|data:;\s*img/);
  assert.notEqual(/nonce="(\w+)"/.exec((await get(app, "/")).text)?.[1], nonce);
  const kept = await Promise.all([get(app, "/kept"), get(app, "/kept")]);
  assert.notEqual(kept[0]?.text, kept[1]?.text);
  assert.match((await get(app, "/own")).text, /<script nonce="own">/);
  const text = (await get(app, "/text")).response.headers.get("content-security-policy");
  assert.match(text ?? "", /script-src 'self' 'unsafe-inline'/);
});

Deno.test("<Partial> has a name of its own on the page", async () => {
  const app = new App<State>()
    .onError("*", (ctx) => ctx.text(String(ctx.error), { status: 500 }))
    .get("/", (ctx) => ctx.render(<>{[1, 2].map((n) => <Partial key={n} name="same" />)}</>));
  assert.deepEqual(pick(await get(app, "/")), [
    500,
    'Error: Cannot render two partials named "same" on one page',
  ]);
});
