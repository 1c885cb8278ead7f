import assert from "node:assert/strict";
import type { Gateway } from "../../../../../lib/gateway.ts";
import { stubGateway } from "../../../../../lib/console/testing/stub_gateway.ts";
import { toolPage } from "./model.ts";

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

Deno.test("toolPage() says of no tool that it is gone before its server has listed any", async () => {
  for (const state of ["starting", "failed"] as const) {
    const page = await toolPage(stubGateway({ servers: [{ name: "slow", state }] }), "slow", "t");
    assert.ok("unlisted" in page);
    assert.deepEqual([page.unlisted, page.server.state], ["t", state]);
  }
  const ready = await toolPage(stubGateway({ servers: [{ name: "bare" }] }), "bare", "t");
  assert.deepEqual(ready, { missing: "t", nearest: [] });
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

Deno.test("toolPage() has a tool's names, and who has the one it would have", async () => {
  const page = await toolPage(
    stubGateway({
      servers: [
        { name: "git", tools: [{ name: "hub_x" }] },
        { name: "git_hub", tools: [{ name: "x" }] },
      ],
    }),
    "git_hub",
    "x",
  );
  assert.ok("knowledge" in page && page.knowledge);
  const { namespaced, flat, collision } = page.knowledge;
  assert.equal(namespaced, "git_hub.x");
  assert.match(flat, /^git_hub_x_\w+$/);
  assert.deepEqual(collision, {
    plain: "git_hub_x",
    keptBy: "git.hub_x",
    namespaced: "git_hub.x",
    flat,
  });
});

Deno.test("toolPage() names the other tool that is called the same once both are cut", async () => {
  const long = "search_".repeat(12);
  const tools = [{ name: `${long}b` }, { name: `${long}a` }];
  const page = await toolPage(
    stubGateway({ servers: [{ name: "git", tools }] }),
    "git",
    `${long}b`,
  );
  assert.ok("knowledge" in page && page.knowledge);
  const { flat, collision } = page.knowledge;
  assert.equal(flat.length, 60);
  assert.equal(collision?.cutLike, `git.${long}a`);
});

Deno.test("toolPage() has examples that fit, cost and related tools", async () => {
  const inputSchema = {
    type: "object" as const,
    properties: { path: { type: "string" } },
    required: ["path"],
  };
  const page = await toolPage(
    stubGateway({
      servers: [{
        name: "files",
        tools: [
          { name: "read_file", description: "Reads a file", inputSchema },
          { name: "write_file", description: "Writes a file" },
        ],
      }],
    }),
    "files",
    "read_file",
  );
  assert.ok("knowledge" in page && page.knowledge);
  const { examples, related, tokens } = page.knowledge;
  assert.deepEqual(Object.keys(JSON.parse(examples[0]?.json ?? "{}")), ["path"]);
  assert.deepEqual(related, [
    { server: "files", name: "write_file", namespaced: "files.write_file" },
  ]);
  assert.ok(tokens !== undefined && tokens > 0);
});

Deno.test("toolPage() says of a tool that is kept back why, and of a held change that it is", async () => {
  const item = { server: "files", fingerprint: "f", findings: [] };
  const items: ReturnType<Gateway["review"]["list"]>["items"] = [
    { ...item, tool: "bad", kind: "finding", state: "quarantined" },
    { ...item, tool: "added", kind: "added", state: "held" },
    { ...item, tool: "remove", kind: "changed", state: "held" },
  ];
  const review = {
    count: () => ({ held: 2, notices: 0, quarantined: 1, flagged: 0, total: 3 }),
    waiting: () => items,
  } as unknown as Gateway["review"];
  const reviewing = { ...gateway, review };
  for (const [name, state] of [["bad", "quarantined"], ["added", "held"]] as const) {
    const page = await toolPage(reviewing, "files", name);
    assert.ok("withheld" in page, name);
    assert.deepEqual([page.withheld, page.state, page.server.name], [name, state, "files"]);
  }
  const isHeld = async (name: string) => {
    const page = await toolPage(reviewing, "files", name);
    return "isHeld" in page && page.isHeld;
  };
  assert.equal(await isHeld("remove"), true);
  assert.equal(await isHeld("odd"), false);
  assert.ok("missing" in await toolPage(reviewing, "files", "nothing"));
});
