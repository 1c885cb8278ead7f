import assert from "node:assert/strict";
import { isUsable, readTool } from "../catalog/catalog_tool.ts";
import { GatewayError } from "../core/errors.ts";
import { Cancellation } from "../core/async.ts";
import { checkParamHeaders } from "./param_headers.ts";

const tool = readTool(
  "s",
  JSON.stringify({
    name: "t",
    inputSchema: {
      type: "object",
      properties: {
        region: { type: "string", "x-mcp-header": "Region" },
        count: { type: "integer", "x-mcp-header": "Count" },
      },
    },
  }),
  0,
);

/** The code of the refusal, if the call is refused. */
function check(args: object, sent?: Record<string, string>): string | undefined {
  assert.ok(isUsable(tool));
  const header = sent && ((name: string) => sent[name] ?? null);
  const params = { name: "t", arguments: args };
  const signal = new Cancellation();
  try {
    checkParamHeaders(tool, {
      id: 1,
      method: "tools/call",
      params,
      text: "",
      signal,
      header,
      send: () => {},
    });
  } catch (error) {
    return GatewayError.from(error).code;
  }
}

Deno.test("checkParamHeaders() wants headers that repeat the arguments, where there are headers", () => {
  assert.equal(check({ region: "eu" }), undefined, "stdio has none");
  assert.equal(check({}, {}), undefined);
  assert.equal(check({ region: "eu" }, {}), "HEADER_MISMATCH");
  assert.equal(check({ region: "eu" }, { "mcp-param-region": "us" }), "HEADER_MISMATCH");
  assert.equal(check({ region: "eu" }, { "mcp-param-region": "eu" }), undefined);
  assert.equal(check({ region: "é" }, { "mcp-param-region": "=?base64?w6k=?=" }), undefined);
  assert.equal(check({ region: "é" }, { "mcp-param-region": "=?base64?w6k?=" }), "HEADER_MISMATCH");
  assert.equal(check({ count: 42 }, { "mcp-param-count": "42.0" }), undefined);
  assert.equal(check({ count: 42 }, { "mcp-param-count": "" }), "HEADER_MISMATCH");
});
