import assert from "node:assert/strict";
import {
  chainIn,
  directIn,
  endpointsIn,
  everyRoute,
  METHODS,
  methodsOf,
  pathOf,
} from "./every_route.ts";

const UNMAPPED = /^Error: Cannot tell which paths /;

Deno.test("everyRoute() finds every family of routes", async () => {
  const routes = await everyRoute({ "s/[name]": "box", "tokens/[id]": "t1" });
  const found = new Set(routes.flatMap(({ methods, path }) => methods.map((m) => `${m} ${path}`)));
  for (
    const route of [
      "GET /",
      "POST /login",
      "HEAD /servers/any",
      "POST /api/server.remove",
      "PATCH /any",
      "POST /mcp",
      "DELETE /s/box/mcp",
      "OPTIONS /g/mcp",
      "GET /toolsets/any/mcp",
      "GET /healthz",
      "GET /api/events",
      "GET /.well-known/oauth-protected-resource/s/box/mcp",
      "GET /console.css",
    ]
  ) {
    assert.ok(found.has(route), route);
  }
  assert.ok([...found].some((route) => /^GET \/_fresh\/js\/\w+\/.+\.js$/.test(route)));
  assert.ok(!found.has("POST /healthz"));
});

Deno.test("pathOf() fills parameters, and knows what is no route", () => {
  const things = { "tools/[id]": "hammer", "[id]": "other" };
  const paths = {
    "routes/index.tsx": "/",
    "routes/(console)/tools/[id]/~edit.tsx": "/tools/hammer/~edit",
    "routes/jobs/[id]/index.ts": "/jobs/other",
    "routes/[[language]]/[...rest].ts": "/any/any",
    "routes/client.json.ts": "/client.json",
    "routes/api/_middleware.ts": undefined,
    "routes/(_parts)/read.ts": undefined,
  };
  for (const [file, path] of Object.entries(paths)) assert.equal(pathOf(file, things), path, file);
  for (const file of ["routes/a.md", "routes/[a][b].ts", "routes/x-[id].ts", "routes/a+b.ts"]) {
    assert.throws(() => pathOf(file, things), UNMAPPED, file);
  }
});

Deno.test("methodsOf() gives what a module answers, and fails on one that it cannot read", () => {
  const noop = () => {};
  assert.deepEqual(methodsOf("a.ts", { handler: { PUT: noop } }), ["PUT"]);
  assert.deepEqual(methodsOf("a.ts", { handlers: { GET: noop } }), ["GET", "HEAD"]);
  assert.deepEqual(methodsOf("a.ts", { handler: { POST: noop }, default: noop }), [
    "POST",
    "GET",
    "HEAD",
  ]);
  assert.deepEqual(methodsOf("a.ts", { handler: noop }), METHODS);
  for (
    const module of [
      {},
      { handler: { BREW: noop } },
      { default: noop, config: { routeOverride: "/elsewhere" } },
    ]
  ) {
    assert.throws(() => methodsOf("a.ts", module), UNMAPPED);
  }
});

Deno.test("endpointsIn() fails on a pattern or a kind of endpoint that it cannot follow", () => {
  const base = String.raw`= /^https?:\/\/[^/?#]+`;
  const query = String.raw`(\?[^#]*)?$/;`;
  const [endpoint] = endpointsIn(String.raw`const A ${base}\/mcp${query}`, {});
  assert.equal(endpoint?.path, "/mcp");
  for (
    const source of [
      String.raw`const A ${base}\/hidden${query}`,
      String.raw`const A ${base}\/a+\/mcp${query}`,
      String.raw`const A = /^https?:\/\/.*\/mcp$/;`,
      `  | { kind: "secret" }`,
    ]
  ) {
    assert.throws(() => endpointsIn(source, {}), UNMAPPED, source);
  }
});

Deno.test("directIn() takes listed paths, and fails on one that is compared", () => {
  const paths = directIn("a.ts", `  "/a": () => {},\n  "/b/c": async () => {},`, []).map((
    { path },
  ) => path);
  assert.deepEqual(paths, ["/a", "/b/c"]);
  for (
    const source of [
      `if (pathname === "/a") return;`,
      `if (url.pathname === SECRET) return;`,
      "if (pathname.startsWith(`${BASE}/`)) return;",
      `if ("/a" === pathname) return;`,
      `switch (pathname) {`,
    ]
  ) {
    assert.throws(() => directIn("a.ts", source, []), UNMAPPED, source);
  }
});

Deno.test("chainIn() takes paths of the app's chain, and fails on one that it cannot read", () => {
  const routes = chainIn(`app\n  .use(first)\n  .get("/a", b)\n  .all("/c", d)\n  .fsRoutes();`);
  assert.deepEqual(routes.map(({ path, methods }) => [path, methods]), [
    ["/a", ["GET", "HEAD"]],
    ["/c", METHODS],
  ]);
  for (const source of ["", `  .get(path, a)`, `  .mountApp("/a", b)`, `  .get("/a/:id", b)`]) {
    assert.throws(() => chainIn(source), UNMAPPED, source);
  }
});
