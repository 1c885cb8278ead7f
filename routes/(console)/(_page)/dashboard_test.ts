import assert from "node:assert/strict";
import { problem, stubGateway } from "../../../lib/console/testing/stub_gateway.ts";
import { dashboardPage } from "./dashboard.ts";

Deno.test("dashboardPage() welcomes where only the demo is there", async () => {
  const demo = {
    name: "weather",
    source: { kind: "demo" },
    tools: [{ name: "get_radar" }],
  } as const;
  const first = await dashboardPage(
    stubGateway({ servers: [{ ...demo, tools: [...demo.tools] }] }),
  );
  assert.deepEqual(first.demo?.tools.map(({ name }) => name), ["get_radar"]);
  const second = await dashboardPage(stubGateway({ servers: [{ name: "mine" }] }));
  assert.equal(second.demo, undefined);
});

Deno.test("dashboardPage() tells a server's problem with the server, and only there", async () => {
  const mine = problem({ server: "b", message: "server b cannot start: X is not set" });
  const other = problem({ server: "b", message: "unknown key", line: 4 });
  const page = await dashboardPage(stubGateway({
    servers: [{ name: "a" }, {
      name: "b",
      state: "failed",
      reason: "X is not set (/home/me/.mcp.json:3:7)",
    }],
    problems: [
      other,
      mine,
      problem({ severity: "error", message: "bad" }),
    ],
  }));
  assert.deepEqual(page.attention.map(({ server, problem }) => [server.name, problem]), [[
    "b",
    mine,
  ]]);
  assert.deepEqual(page.problems.map(({ message }) => message), ["bad", "unknown key"]);
});

Deno.test("dashboardPage() lists a few of many and counts the rest", async () => {
  const servers = Array.from(
    { length: 30 },
    (_, index) => ({ name: `s${index}`, state: "failed" as const }),
  );
  const page = await dashboardPage(stubGateway({ servers }));
  assert.equal(page.attention.length + page.moreAttention, 30);
  assert.ok(page.attention.length < 10);
});

Deno.test("dashboardPage() says what is wrong with the data store", async () => {
  const page = await dashboardPage(stubGateway({ storeTrouble: "The disk is full" }));
  assert.equal(page.storeTrouble, "The disk is full");
  assert.equal((await dashboardPage(stubGateway())).storeTrouble, undefined);
});

Deno.test("dashboardPage() offers the click that helps, but not where the file is wrong", async () => {
  const page = await dashboardPage(stubGateway({
    servers: [
      { name: "a", state: "failed", reason: "It fell over" },
      { name: "b", state: "failed", reason: "X is not set (/home/me/.mcp.json:3:7)" },
    ],
    problems: [problem({ server: "b", message: "server b cannot start: X is not set" })],
  }));
  assert.deepEqual(page.attention.map(({ fix }) => fix), [
    { verb: "Restart", action: { action: "restart-server", server: "a" } },
    undefined,
  ]);
});

const CLIENT = {
  protocolVersion: "2025-11-25",
  transport: "http",
  endpoint: "mcp?default",
  principal: "everyone",
  connectedAt: 0,
  lastSeenAt: 0,
  calls: 4,
  errors: 0,
  searches: 1,
  sent: { baseline: 100, listed: 7, answered: 3 },
} as const;

Deno.test("dashboardPage() tells what models are given, by client and by day", async () => {
  const tokens = { baselineTokens: 1_000, listedTokens: 30, returnedTokens: 100 };
  const day = { calls: 1, errors: 0, searches: 2, ...tokens };
  const quiet = { ...day, searches: 0, baselineTokens: 0 };
  const gateway = stubGateway({
    servers: [{ name: "a", tools: [{ name: "on" }, { name: "off", isOff: true }] }],
    days: [{ day: "2026-01-31", ...day }, { day: "2026-01-30", ...quiet }],
    clients: [
      { ...CLIENT, id: "c1", name: "editor" },
      { ...CLIENT, id: "c2", name: "gone", endedAt: 1 },
    ],
    listings: [["c1", { tools: 3, tokens: 7, parts: [] }]],
  });
  const page = await dashboardPage(gateway);
  assert.deepEqual([page.exposed, page.counts.tools], [1, 2]);
  const { all, toolCount, clients, saved, days } = page.tokens;
  assert.ok(all.counted > 0 && toolCount === 1);
  assert.deepEqual(clients.map(({ name, listing, answered }) => [name, listing.tokens, answered]), [
    ["editor", 7, 3],
  ]);
  assert.deepEqual(saved, { tokens: 90, share: 0.9 });
  assert.deepEqual(days, [
    { day: "2026-01-31", searches: 2, listed: 30, answered: 100, baseline: 1_000 },
  ]);
  assert.deepEqual(page.map.clients.map(({ label }) => label), ["editor"]);

  const access = { grants: () => ({ may: (right: string) => right !== "manage" }) };
  const reader = await dashboardPage({ ...gateway, access } as unknown as typeof gateway);
  assert.deepEqual([reader.clients, reader.tokens.clients], [[], []]);
  assert.deepEqual(reader.map.clients.map(({ label }) => label), ["1 client"]);
});

Deno.test("dashboardPage() shows the stretch of time that is asked for", async () => {
  const now = Date.now();
  const call = { server: "a", ms: 10, ok: true };
  const gateway = stubGateway({
    calls: [{ ...call, at: now }, { ...call, at: now - 5 * 3_600_000, ok: false }],
  });
  const shown = async (range: string) => {
    const { calls } = await dashboardPage(gateway, new URLSearchParams({ range }));
    return [calls.range, calls.calls, calls.errors];
  };
  assert.deepEqual(await shown("1h"), ["1h", 1, 0]);
  assert.deepEqual(await shown("6h"), ["6h", 2, 1]);
  assert.deepEqual(await shown("nonsense"), ["24h", 2, 1]);
});

Deno.test("dashboardPage() puts calls that wait for a yes before everything else", async () => {
  const gateway = stubGateway();
  const { items } = await dashboardPage({
    ...gateway,
    approvals: () => Promise.resolve({ list: () => [{}] } as never),
    restore: { staged: { find: () => Promise.resolve({ staged: {} }) } as never },
  });
  assert.deepEqual(items.map(({ kind }) => kind), ["approval-waiting", "restore-waiting"]);
});

Deno.test("dashboardPage() puts an equipped toolset without live tools before what waits", async () => {
  const gateway = stubGateway();
  const toolset = { name: "dev", tools: [] };
  const toolsets = {
    ...gateway.toolsets.toolsets,
    equippedBy: () => toolset,
    tools: () => [{ state: "gone", isComing: false }],
    registered: () => [],
  };
  const { items } = await dashboardPage(
    { ...gateway, toolsets: { toolsets } } as unknown as typeof gateway,
  );
  assert.deepEqual(items.map(({ kind, subject }) => [kind, subject]), [["empty-toolset", "dev"]]);
});
