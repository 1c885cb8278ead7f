import assert from "node:assert/strict";
import { LIMITS, textsOf } from "./texts.ts";

Deno.test("textsOf() finds every text of a definition and its path, the description early", () => {
  const { texts, isCut } = textsOf({
    inputSchema: {
      type: "object",
      properties: {
        path: { description: "in", default: "a", enum: ["b", "c"], pattern: "d", const: "e" },
      },
    },
    outputSchema: { properties: { done: { title: "out" } } },
    annotations: { title: "an" },
    _meta: { note: "me" },
    icons: [{ src: "https://icons.example/a.png" }],
    description: "de",
    title: "ti",
    name: "na",
  });
  const values = texts.filter(({ kind }) => kind === "value");
  assert.deepEqual(
    values.map(({ where, text }) => `${where}=${text}`),
    [
      "name=na",
      "title=ti",
      "description=de",
      "inputSchema.properties.path.description=in",
      "inputSchema.properties.path.default=a",
      "inputSchema.properties.path.enum[0]=b",
      "inputSchema.properties.path.enum[1]=c",
      "inputSchema.properties.path.pattern=d",
      "inputSchema.properties.path.const=e",
      "outputSchema.properties.done.title=out",
      "annotations.title=an",
      "_meta.note=me",
      "icons[0].src=https://icons.example/a.png",
    ],
  );
  assert.ok(texts.some(({ kind, text }) => kind === "key" && text === "path"));
  assert.equal(isCut, false);
});

Deno.test("textsOf() stops at its limits and says so", () => {
  const long = textsOf({ description: "x".repeat(LIMITS.characters + 1), title: "t" });
  assert.equal(long.isCut, true);
  assert.equal(long.texts.reduce((sum, { text }) => sum + text.length, 0), LIMITS.characters);

  let deep: unknown = "bottom";
  for (let i = 0; i < 100_000; i++) deep = { a: deep };
  assert.equal(textsOf({ inputSchema: deep }).isCut, true);

  const many = Object.fromEntries(Array.from({ length: LIMITS.nodes + 1 }, (_, i) => [i, i]));
  assert.equal(textsOf({ inputSchema: many }).isCut, true);
});
