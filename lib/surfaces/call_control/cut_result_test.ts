import assert from "node:assert/strict";
import { cutResult, partsOf } from "./cut_result.ts";

const text = (text: string, more: object = {}) => JSON.stringify({ type: "text", text, ...more });
const image = (size: number) =>
  JSON.stringify({ type: "image", data: "A".repeat(size), mimeType: "image/png" });

function cut(content: string[], most: number, structured?: string) {
  return cutResult({ content, structured }, {
    most,
    replacement: (what, _size, page) => `${what} on ${page}`,
  });
}

Deno.test("partsOf() gives what came, and nothing for what is no result of a tool", () => {
  const parts = partsOf(
    '{"content":[{"n":12345678901234567890}, {"b":1}],"structuredContent":{"a":1.0}}',
  );
  assert.deepEqual(parts, {
    content: ['{"n":12345678901234567890}', '{"b":1}'],
    structured: '{"a":1.0}',
  });
  assert.deepEqual(partsOf('{"task":{}}'), { content: [], structured: undefined });
  assert.equal(partsOf('{"content":"x"}'), undefined);
});

Deno.test("cutResult() leaves alone what fits", () => {
  assert.equal(cut([text("a".repeat(50)), text("b".repeat(50))], 100), undefined);
});

Deno.test("cutResult() cuts a text at a line, and puts all that follows on pages, in order", () => {
  const long = Array.from({ length: 100 }, (_, nth) => `line ${nth}`).join("\n");
  const annotations = { annotations: { audience: ["user"] } };
  const done = cut([text(long, annotations), text("after")], 200)!;
  assert.equal(done.content.length, 1);
  const head = JSON.parse(done.content[0]!);
  assert.deepEqual(head.annotations, annotations.annotations);
  assert.match(head.text, /\n$/);
  assert.ok(head.text.length <= 200);
  const pages = done.pages.map((page) => page.kind === "text" ? page.text : "");
  assert.equal(head.text + pages.join(""), `${long}\nafter`);
  assert.ok(pages.every((page) => page.length <= 200));
});

Deno.test("cutResult() never cuts an image: it is there whole, or on a page of its own", () => {
  const done = cut([text("before"), image(5_000), text("after"), image(20)], 200)!;
  assert.deepEqual(done.content, [
    text("before"),
    text("image (image/png) on 2"),
    text("after"),
    image(20),
  ]);
  assert.deepEqual(done.pages, [
    { kind: "blob", data: "A".repeat(5_000), mimeType: "image/png" },
  ]);
});

Deno.test("cutResult() gives an embedded file as what it is, and other blocks as JSON, many on a page", () => {
  const file = { type: "resource", resource: { uri: "x:y", mimeType: "a/b", blob: "QUJD" } };
  const link = (nth: number) => JSON.stringify({ type: "resource_link", uri: `x:${nth}` });
  const links = Array.from({ length: 10 }, (_, nth) => link(nth));
  const done = cut([text("x".repeat(300)), JSON.stringify(file), ...links], 200)!;
  const kinds = done.pages.map((page) => page.mimeType);
  assert.deepEqual(kinds, ["text/plain", "a/b", "application/json", "application/json"]);
  const blocks = done.pages.slice(2).flatMap((page) =>
    page.kind === "text" ? JSON.parse(page.text) : []
  );
  assert.deepEqual(blocks, links.map((text) => JSON.parse(text)));
});

Deno.test("cutResult() keeps structured content whole, or puts it on a page whole", () => {
  const small = JSON.stringify({ rows: "y".repeat(100) });
  const kept = cut([text("x".repeat(300))], 250, small)!;
  assert.equal(kept.structured, small);
  assert.ok(JSON.parse(kept.content[0]!).text.length <= 250 - small.length);
  const large = JSON.stringify({ rows: "y".repeat(1_000) });
  const moved = cut([text("short")], 250, large)!;
  assert.equal(moved.structured, undefined);
  assert.deepEqual(moved.content, [text("Structured content on 2"), text("short")]);
  assert.deepEqual(moved.pages, [{ kind: "text", text: large, mimeType: "application/json" }]);
});
