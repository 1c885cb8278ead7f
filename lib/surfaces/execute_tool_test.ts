import assert from "node:assert/strict";
import { Catalog } from "../catalog/catalog.ts";
import { GatewayError } from "../core/errors.ts";
import { forwardTo, ToolArguments } from "./execute_tool.ts";

function toolWith(properties: Record<string, unknown>, required: string[] = []) {
  const catalog = new Catalog();
  const inputSchema = { type: "object", properties, required, additionalProperties: false };
  catalog.setListed("git", [JSON.stringify({ name: "push", inputSchema })]);
  return catalog.of("git").tools[0]!;
}

function refusal(work: () => unknown): GatewayError {
  try {
    work();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error("Nothing was refused");
}

Deno.test("ToolArguments takes an object, or one as a text", () => {
  for (const given of [{ a: 1 }, '{"a":1}', ' {\n"a": 1}\n']) {
    assert.deepEqual(ToolArguments.parse(given), { a: 1 });
  }
  for (const given of [{}, "", "  ", "{}"]) assert.deepEqual(ToolArguments.parse(given), {});
  for (const given of [null, 1, [], "[]", "1", "null", "{", '"{}"']) {
    assert.ok(!ToolArguments.safeParse(given).success, JSON.stringify(given));
  }
});

Deno.test("forwardTo() calls with arguments that fit", () => {
  const tool = toolWith({ remote: { type: "string" } });
  assert.deepEqual(forwardTo(tool, { remote: "origin" }, "parameters"), {
    forward: tool,
    argumentsIn: "parameters",
  });
});

Deno.test("forwardTo() names each place and what was expected there", () => {
  const tool = toolWith({
    remote: { type: "string" },
    refs: { type: "array", items: { type: "object", properties: { id: { type: "integer" } } } },
  }, ["remote"]);
  const refused = (args: Record<string, unknown>) =>
    refusal(() => forwardTo(tool, args, "arguments"));
  const { code, message, details } = refused({ refs: [{ id: 1 }, { id: "x" }], force: true });
  assert.equal(code, "INVALID_ARGUMENTS");
  assert.match(message, /^git\.push: "remote" is missing; /);
  assert.match(message, /refs\.1\.id: must be "integer", not string/);
  assert.match(message, /force: is not a parameter of this tool/);
  assert.deepEqual(details.suggestedTools, ["get_tool_description", "tool_discovery"]);
  assert.equal(details.recoverySteps?.[0], "Correct these arguments and call again");
});
