import assert from "node:assert/strict";
import { contentText } from "./tools_call.ts";

Deno.test("contentText() gives text as it is, and describes the rest", () => {
  const content = [
    { type: "text", text: "two\nlines" },
    { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" },
    { type: "resource_link", uri: "file:///a.txt", name: "a" },
    { type: "resource", resource: { uri: "file:///b.txt", mimeType: "text/plain", text: "of b" } },
    { type: "resource", resource: { uri: "file:///c.bin", blob: "AAAA" } },
    { type: "hologram", x: 1 },
  ];
  assert.equal(
    contentText({ content }),
    "two\nlines\n" +
      "[image: image/png, 8 bytes]\n" +
      "[link: a <file:///a.txt>]\n" +
      "[resource: file:///b.txt, text/plain]\nof b\n" +
      "[resource: file:///c.bin, 3 bytes]\n" +
      '[hologram: {"type":"hologram","x":1}]\n',
  );
  assert.equal(contentText({ content: [] }), "");
});

Deno.test("contentText() shows structured content where there is nothing else", () => {
  assert.equal(contentText({ content: [], structuredContent: { a: 1 } }), '{\n  "a": 1\n}\n');
});
