import assert from "node:assert/strict";
import { stubGateway } from "./testing/stub_gateway.ts";
import { toolPage } from "./tool_page.ts";

const gateway = stubGateway({
  servers: [{
    name: "files",
    tools: [
      { name: "read/file", annotations: { readOnlyHint: true, destructiveHint: true } },
      { name: "remove", annotations: { destructiveHint: true } },
      { name: "odd", annotations: "not an object" },
    ],
  }],
});

Deno.test("toolPage() tells a tool's hints about itself", () => {
  const labels = (name: string) => {
    const page = toolPage(gateway, "files", name);
    assert.ok("hints" in page);
    return page.hints.map(({ label }) => label);
  };
  assert.deepEqual(labels("read/file"), ["Read-only"]);
  assert.deepEqual(labels("remove"), ["Destructive"]);
  assert.deepEqual(labels("odd"), []);
});

Deno.test("toolPage() offers the nearest names for one that is not there", () => {
  assert.deepEqual(toolPage(gateway, "files", "remov"), { missing: "remov", nearest: ["remove"] });
  assert.deepEqual(toolPage(gateway, "nowhere", "remove"), { missing: "remove", nearest: [] });
});
