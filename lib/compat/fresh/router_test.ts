import assert from "node:assert/strict";
import { joinPath, Router, scopesOf } from "./router.ts";

function match(router: Router<string>, path: string, method: "GET" | "HEAD" | "POST" = "GET") {
  return router.match(method, new URL(path, "http://localhost"));
}

Deno.test("Router.match() prefers a literal path to a pattern that was added before", () => {
  const router = new Router<string>();
  router.add("GET", "/posts/:id", "dynamic");
  router.add("GET", "/posts/new", "literal");
  assert.equal(match(router, "/posts/new").item, "literal");
  assert.equal(match(router, "/posts/7").item, "dynamic");
});

Deno.test("Router.match() takes the first pattern and the first item that were added", () => {
  const router = new Router<string>();
  router.add("GET", "/a/:x", "first");
  router.add("GET", "/a/:y", "second");
  router.add("GET", "/a/:x", "third");
  assert.equal(match(router, "/a/1").item, "first");
});

Deno.test("Router.match() decodes parameters, and throws if they cannot be decoded", () => {
  const router = new Router<string>();
  router.add("GET", "/users/:name", "user");
  router.add("GET", "/files/:path*", "file");
  assert.deepEqual(match(router, "/users/J%C3%BCrgen%20X").params, { name: "Jürgen X" });
  assert.throws(() => match(router, "/users/%E0%A4%A"), URIError);
  assert.deepEqual(match(router, "/files/a/b").params, { path: "a/b" });
  assert.deepEqual(match(router, "/files").params, { path: "" });
});

Deno.test("Router.match() tells an unknown path from a method that is not allowed", () => {
  const router = new Router<string>();
  router.add("GET", "/only-get", "item");
  assert.equal(match(router, "/nothing").pattern, null);
  const post = match(router, "/only-get", "POST");
  assert.equal(post.pattern, "/only-get");
  assert.equal(post.item, undefined);
  assert.deepEqual(post.allowed, ["GET"]);
  assert.equal(match(router, "/only-get", "HEAD").item, "item");
});

Deno.test("Router.match() ignores a trailing slash, but for a route that has it", () => {
  const router = new Router<string>();
  router.add("GET", "/plain", "plain");
  router.add("GET", "/both", "without");
  router.add("GET", "/both/", "with");
  assert.equal(match(router, "/plain/").item, "plain");
  assert.equal(match(router, "/both/").item, "with");
  assert.equal(match(router, "/both").item, "without");
});

Deno.test("joinPath() puts paths below a base", () => {
  assert.equal(joinPath("", "/foo"), "/foo");
  assert.equal(joinPath("/", "/foo"), "/foo");
  assert.equal(joinPath("*", "/foo"), "/foo");
  assert.equal(joinPath("/foo/bar", "/"), "/foo/bar");
  assert.equal(joinPath("/foo", "*"), "/foo/*");
  assert.equal(joinPath("/foo", "*", true), "/foo");
  assert.equal(joinPath("/foo/*", "/bar"), "/foo/bar");
});

Deno.test("scopesOf() gives the folders of a path", () => {
  for (const path of ["*", "/", "/*"]) assert.deepEqual(scopesOf(path), []);
  assert.deepEqual(scopesOf("/foo/bar/"), ["foo", "bar"]);
  assert.deepEqual(scopesOf("/api{/:opt}?/end"), ["api", "end"]);
});
