import assert from "node:assert/strict";
import { Catalog } from "./catalog.ts";
import { fitsSchema } from "./tool_arguments.ts";
import { examplesOf } from "./tool_examples.ts";

function toolWith(schema: Record<string, unknown>) {
  const catalog = new Catalog();
  const inputSchema = { type: "object", ...schema };
  catalog.setListed("x", [JSON.stringify({ name: "x", inputSchema })]);
  return catalog.of("x").tools[0]!;
}

function invocations(schema: Record<string, unknown>, calls: Record<string, unknown>[] = []) {
  const tool = toolWith(schema);
  const examples = examplesOf(tool, calls);
  for (const { invocation } of examples) assert.ok(fitsSchema(tool, invocation));
  return examples.map(({ invocation }) => invocation);
}

Deno.test("examplesOf() uses what the schema says: choices, formats, examples in texts, known fields", () => {
  const properties = {
    owner: { type: "string" },
    repo: { type: "string" },
    issueNumber: { type: "integer" },
    state: { type: "string", enum: ["open", "closed"], default: "open" },
    since: { type: "string", format: "date-time" },
    label: { type: "string", description: "A label, e.g. `bug`" },
    files: { type: "array", items: { type: "string" } },
    depth: { type: "integer", description: "How deep, for example 3" },
    isDraft: { type: "boolean" },
    point: { type: "object", properties: { lat: { type: "number" } }, required: ["lat"] },
  };
  assert.deepEqual(invocations({ properties, required: Object.keys(properties) }), [{
    owner: "octocat",
    repo: "hello-world",
    issueNumber: 42,
    state: "closed",
    since: "2026-01-31T12:00:00Z",
    label: "bug",
    files: ["/home/user/project/README.md"],
    depth: 3,
    isDraft: true,
    point: { lat: 52.52 },
  }]);
  assert.deepEqual(invocations({ properties, required: ["owner"] }), [
    { owner: "octocat" },
    { owner: "octocat", state: "closed" },
  ]);
});

Deno.test("examplesOf() gives none where a value would be made up", () => {
  for (const name of ["query", "id", "text", "uuid", "value"]) {
    assert.deepEqual(
      invocations({ properties: { [name]: { type: "string" } }, required: [name] }),
      [],
    );
  }
  assert.deepEqual(invocations({}), [], "no arguments are no example");
  assert.deepEqual(invocations({ properties: { limit: { type: "integer", default: 5 } } }), []);
  const odd = { path: { type: "string", pattern: "^[A-Z]{3}$" } };
  assert.deepEqual(invocations({ properties: odd, required: ["path"] }), []);
});

Deno.test("examplesOf() prefers real calls, then the server's own examples", () => {
  const schema = {
    properties: { id: { type: "integer" } },
    required: ["id"],
    examples: [{ id: "wrong" }, { id: 7 }],
  };
  assert.deepEqual(invocations(schema), [{ id: 7 }]);
  assert.deepEqual(invocations(schema, [{ id: 1 }, { id: "x" }]), [{ id: 1 }, { id: 7 }]);
});
