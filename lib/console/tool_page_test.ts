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

Deno.test("toolPage() tells a tool's hints about itself", async () => {
  const labels = async (name: string) => {
    const page = await toolPage(gateway, "files", name);
    assert.ok("hints" in page);
    return page.hints.map(({ label }) => label);
  };
  assert.deepEqual(await labels("read/file"), ["Read-only"]);
  assert.deepEqual(await labels("remove"), ["Destructive"]);
  assert.deepEqual(await labels("odd"), []);
});

Deno.test("toolPage() offers the nearest names for one that is not there", async () => {
  assert.deepEqual(await toolPage(gateway, "files", "remov"), {
    missing: "remov",
    nearest: ["remove"],
  });
  assert.deepEqual(await toolPage(gateway, "nowhere", "remove"), {
    missing: "remove",
    nearest: [],
  });
});

Deno.test("toolPage() has the newest versions, and counts the older ones", async () => {
  const version = (seenAt: number) => ({
    text: JSON.stringify({ name: "t", description: `${seenAt}` }),
    fingerprint: `${seenAt}`,
    seenAt,
  });
  const kept = {
    server: "files",
    name: "t",
    version: 30,
    current: version(30),
    earlier: Array.from({ length: 20 }, (_, index) => version(29 - index)),
  };
  const page = await toolPage(
    stubGateway({
      servers: [{
        name: "files",
        tools: [{ name: "t" }, { name: "new" }],
        history: { tools: [kept], invalid: [] },
      }],
    }),
    "files",
    "t",
  );
  assert.ok("versions" in page);
  assert.deepEqual(page.versions?.map(({ version }) => version), [
    30,
    29,
    28,
    27,
    26,
    25,
    24,
    23,
    22,
    21,
  ]);
  assert.ok(page.versions?.every(({ diff }) => diff?.changes.length === 1));
  assert.equal(page.olderVersions, 20);
});
