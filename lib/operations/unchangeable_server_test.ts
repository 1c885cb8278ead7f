import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { refuseUnchangeable } from "./servers_admin.ts";

Deno.test("refuseUnchangeable() names the file to edit, and lets pass what was added", () => {
  refuseUnchangeable("a", { kind: "store" });
  assert.throws(() => refuseUnchangeable("a", { kind: "file", path: "/x/.mcp.json" }), (error) => {
    assert.ok(error instanceof GatewayError && error.code === "ACCESS_DENIED");
    assert.match(error.toBody().recoverySteps.join(), /Edit \/x\/\.mcp\.json/);
    return true;
  });
  assert.throws(() => refuseUnchangeable("weather", { kind: "demo" }), /demo server cannot be/);
});
