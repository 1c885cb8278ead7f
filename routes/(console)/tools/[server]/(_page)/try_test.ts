import assert from "node:assert/strict";
import { resultText } from "../../../../../lib/core/rpc.ts";
import { Redactor } from "../../../../../lib/telemetry/redact.ts";
import { outcomeOf, tryForm } from "./try.ts";

function fieldsOf(inputSchema: Record<string, unknown>) {
  return tryForm({ name: "t", inputSchema: { type: "object", ...inputSchema } });
}

Deno.test("tryForm() has a field for each property, by what it takes", () => {
  const { fields, isJsonOnly } = fieldsOf({
    required: ["city"],
    properties: {
      city: { type: "string", description: "Where" },
      days: { type: "integer", minimum: 1, maximum: 14, default: 3 },
      ratio: { type: ["number", "null"] },
      loud: { type: "boolean" },
      unit: { enum: ["c", "f", 1] },
      note: { anyOf: [{ type: "string" }, { type: "null" }] },
      either: { anyOf: [{ type: "string" }, { type: "number" }] },
      tags: { type: "array", items: { type: "string" } },
      where: { $ref: "#/$defs/place" },
    },
    $defs: { place: { type: "object", properties: { lat: { type: "number" } } } },
  });
  assert.equal(isJsonOnly, false);
  assert.deepEqual(fields.map(({ path, kind }) => `${path} ${kind}`), [
    "city text",
    "days integer",
    "ratio number",
    "loud boolean",
    "unit choice",
    "note text",
    "either json",
    "tags json",
    "where json",
  ]);
  assert.deepEqual([fields[0]?.isRequired, fields[0]?.description], [true, "Where"]);
  assert.deepEqual([fields[1]?.limits, fields[1]?.defaultValue], ["1 to 14", "3"]);
  assert.deepEqual(fields[4]?.choices, ['"c"', '"f"', "1"]);
});

Deno.test("tryForm() falls back to JSON where fields would not do", () => {
  assert.equal(fieldsOf({ additionalProperties: true }).isJsonOnly, true);
  assert.equal(fieldsOf({ anyOf: [{}] }).isJsonOnly, true);
  const many = Object.fromEntries(Array.from({ length: 61 }, (_, n) => [`p${n}`, {}]));
  assert.equal(fieldsOf({ properties: many }).isJsonOnly, true);
  assert.deepEqual(fieldsOf({}), { fields: [], isJsonOnly: false, risk: "changes" });
});

Deno.test("tryForm() asks before a tool that does not say it is harmless", () => {
  const risk = (annotations: Record<string, unknown>) =>
    tryForm({ name: "t", inputSchema: { type: "object" }, annotations }).risk;
  assert.equal(risk({ destructiveHint: true }), "destroys");
  assert.equal(risk({ readOnlyHint: true }), undefined);
  assert.equal(risk({}), "changes");
  const tool = { name: "t", inputSchema: { type: "object" as const } };
  const reads = { ...tool, annotations: { readOnlyHint: true } };
  assert.equal(tryForm(reads, true).risk, "asked", "a mode does not believe it");
});

function outcome(result: unknown, redactor = new Redactor()) {
  const response = resultText(1, JSON.stringify(result));
  return outcomeOf({ request: "{}", response, messages: [], ms: 12 }, redactor);
}

Deno.test("outcomeOf() shows texts, pictures and structured content", () => {
  const shown = outcome({
    content: [
      { type: "text", text: "<b>hi</b>" },
      { type: "image", mimeType: "image/png", data: "aGk=" },
      { type: "resource_link", uri: "file:///x", name: "x" },
    ],
    structuredContent: { a: 1 },
    isError: true,
  });
  assert.deepEqual(shown.parts.slice(0, 2), [
    { kind: "text", text: "<b>hi</b>" },
    { kind: "image", mimeType: "image/png", url: "data:image/png;base64,aGk=" },
  ]);
  assert.equal(shown.parts[2]?.kind, "other");
  assert.equal(shown.structured?.text, '{\n  "a": 1\n}');
  assert.equal(shown.isError, true);
});

Deno.test("outcomeOf() draws no picture that could run something or is none", () => {
  for (
    const image of [
      { mimeType: "image/svg+xml", data: "aGk=" },
      { mimeType: "text/html", data: "aGk=" },
      { mimeType: 'image/png"><script>', data: "aGk=" },
      { mimeType: "image/png", data: '"><script>' },
    ]
  ) {
    const { parts } = outcome({ content: [{ type: "image", ...image }] });
    assert.equal(parts[0]?.kind, "other", image.mimeType);
  }
});

Deno.test("outcomeOf() cuts a long text and says how long it was", () => {
  const shown = outcome({ content: [{ type: "text", text: "é".repeat(1_000_000) }] });
  const [part] = shown.parts;
  assert.ok(part?.kind === "text");
  assert.equal(part.text.length, 100_000);
  assert.equal(part.cutFrom, 2_000_000);
  assert.equal(shown.response.text.length, 50_000);
  assert.ok(shown.bytes > 2_000_000);
});

Deno.test("outcomeOf() shows an error of the protocol, and what is no result at all", () => {
  const response = '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no such tool"}}';
  const shown = outcomeOf({ request: "{}", response, messages: [], ms: 1 }, new Redactor());
  assert.equal(shown.isError, true);
  assert.deepEqual(shown.parts, [
    { kind: "text", text: "The server returned error -32602: no such tool" },
  ]);
  assert.equal(outcome("nonsense").isError, true);
});

Deno.test("outcomeOf() shows no secret that the gateway knows, wherever it comes from", () => {
  const redactor = new Redactor();
  redactor.learn(["hunter-two", "73317331"]);
  const response = resultText(
    1,
    JSON.stringify({
      content: [
        { type: "text", text: 'It is "hunter-two"' },
        { type: "resource_link", uri: "x://hunter-two", size: 73317331 },
      ],
      structuredContent: { value: "hunter-two", pin: 73317331 },
    }),
  );
  const shown = outcomeOf({
    request: '{"params":{"q":"hunter-two"}}',
    response,
    messages: ['{"params":{"data":"hunter-two"}}', "not JSON: hunter-two"],
    ms: 1,
  }, redactor);
  assert.doesNotMatch(JSON.stringify(shown), /hunter-two|73317331/);
  assert.equal(shown.isError, false);
  assert.deepEqual(shown.parts[0], { kind: "text", text: 'It is "[redacted]"' });
});
