import assert from "node:assert/strict";
import { frameOf } from "./frame.ts";
import { stubGateway } from "./testing/stub_gateway.ts";

Deno.test("frameOf() names the port, or the host where there is none", () => {
  assert.equal(frameOf(stubGateway()).place, ":3333");
  const address = "https://tools.example.com";
  assert.equal(frameOf({ ...stubGateway(), address }).place, "tools.example.com");
});

Deno.test("frameOf() tells whether optimization is on", () => {
  assert.equal(frameOf(stubGateway()).isOptimizing, false);
  assert.equal(frameOf(stubGateway({ options: { enableOptimization: true } })).isOptimizing, true);
});

Deno.test("frameOf() counts what waits under Security", () => {
  assert.equal(frameOf(stubGateway()).counts.security, 0);
  assert.equal(frameOf(stubGateway(), undefined, 3).counts.security, 3);
});

Deno.test("frameOf() says which event the page was made after, where that is known", () => {
  assert.equal(frameOf(stubGateway(), "run-7").madeAt, "run-7");
  assert.ok(!("madeAt" in frameOf(stubGateway())));
});
