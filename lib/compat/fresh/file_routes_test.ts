import assert from "node:assert/strict";
import { compareIds, fileSteps, patternOf } from "./file_routes.ts";

Deno.test("patternOf() maps file names to URL patterns", () => {
  const expected = {
    "/index": "/",
    "/about": "/about",
    "/blog/index": "/blog",
    "/blog/[slug]": "/blog/:slug",
    "/blog/[slug]/comments": "/blog/:slug/comments",
    "/old/[...path]": "/old/:path*",
    "/docs/[[version]]/index": "/docs{/:version}?",
    "/[[name]]": "/{:name}?",
    "/(group)/index": "/",
    "/(group)/[[name]]/(other)/index": "/{:name}?",
    "/foo/[mod]@[version]": "/foo/:mod@:version",
    "/foo/[bar].json": "/foo/:bar.json",
  };
  for (const [id, pattern] of Object.entries(expected)) assert.equal(patternOf(id), pattern);
  assert.equal(patternOf("/foo/(group)/bar", true), "/foo/(group)/bar");
});

Deno.test("patternOf() refuses names that have no meaning", () => {
  for (const id of ["/[a][b]", "/foo]", "/[foo]]", "/x-[[name]]", "/[[name]]-x"]) {
    assert.throws(() => patternOf(id), SyntaxError);
  }
});

Deno.test("compareIds() puts what wraps first and what is open last", () => {
  const sorted = [
    "/_app",
    "/_middleware",
    "/_layout",
    "/_error",
    "/index",
    "/foo/_middleware",
    "/foo/_layout",
    "/foo/index",
    "/foo/bar",
    "/foo/[id]",
    "/foo/[...slug]",
    "/(group)/_layout",
    "/(group)/deep/page",
    "/[org]/index",
    "/[...rest]",
  ];
  assert.deepEqual(sorted.toReversed().sort(compareIds), sorted);
  assert.deepEqual(sorted.toSorted(() => -1).sort(compareIds), sorted);
});

Deno.test("fileSteps() names the file whose exports it cannot use", () => {
  assert.throws(() => fileSteps([{ id: "/x/_layout", module: {} }]), /routes\/x\/_layout/);
  assert.throws(() => fileSteps([{ id: "/x", module: { other: 1 } }]), /routes\/x/);
  assert.throws(
    () => fileSteps([{ id: "/_middleware", module: { handler: { GET() {} } } }]),
    /routes\/_middleware/,
  );
});
