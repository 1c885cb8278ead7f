import assert from "node:assert/strict";
import { withAdvice } from "./connect_advice.ts";

function stepsFor(message: string, code = "SERVER_DISCONNECTED"): string[] {
  return withAdvice({ code, message, steps: ["Look again"] }).steps;
}

Deno.test("withAdvice() says what helps with the common failures", () => {
  const advice: [string, RegExp][] = [
    ['command "x" is not on PATH', /Install the program/],
    ["Cannot reach a.example: connection refused", /Start the server/],
    ["HTTP 401 from a.example", /Authorization/],
    ["HTTP 404 from a.example, which is no answer in MCP", /path of the address/],
    ['Server "x" did not shake hands within 20 s', /in a terminal/],
    ['Server "x" exited with code 3', /what it wrote/],
  ];
  for (const [message, step] of advice) assert.match(stepsFor(message)[0] ?? "", step, message);
});

Deno.test("withAdvice() leaves other errors as they are", () => {
  assert.deepEqual(stepsFor("Something else"), ["Look again"]);
  assert.deepEqual(stepsFor('"x" is not on PATH', "CONFLICT"), ["Look again"]);
});
