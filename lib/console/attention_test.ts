import assert from "node:assert/strict";
import type { Gateway } from "../gateway.ts";
import type { OptimizationJob } from "../core/optimization.ts";
import { BROKEN_CACHE } from "../core/failure_cause.ts";
import type { ServerStatus } from "../core/server.ts";
import {
  decisionItems,
  emptyToolset,
  jobsToAttend,
  serverFix,
  stagedRestore,
  stalePromotions,
  toDecide,
  toolsToReview,
} from "./attention.ts";
import { stubGateway } from "./testing/stub_gateway.ts";

function job(id: string, status: OptimizationJob["status"], tools: string[]): OptimizationJob {
  return {
    id,
    status,
    tools: tools.map((toolName) => ({ server: "git", toolName })),
    updatedAt: "2026-01-01T00:00:00.000Z",
  } as OptimizationJob;
}

function optimizing(jobs: OptimizationJob[], isOptimizing = true) {
  return {
    isOptimizing: () => isOptimizing,
    optimization: () => Promise.resolve({ jobs: { list: () => Promise.resolve(jobs) } }),
  } as unknown as Gateway;
}

Deno.test("jobsToAttend() lists jobs that wait or failed, with what sets them right", async () => {
  const items = await jobsToAttend(optimizing([
    job("j1", "running", ["a"]),
    job("j2", "paused", ["b"]),
    job("j3", "failed", ["c", "d"]),
    job("j4", "completed", ["e"]),
  ]));
  assert.deepEqual(items.map(({ kind, subject, fixes }) => [kind, subject, fixes[0]?.action]), [
    ["job-waiting", "git.b", { action: "resume-job", job: "j2" }],
    ["job-failed", "2 tools", { action: "retry-job", job: "j3" }],
  ]);
  assert.match(items[1]?.fixes[0]?.warning ?? "", /may cost money/);
});

Deno.test("jobsToAttend() says nothing of a failure that a later job made good", async () => {
  const jobs = [job("later", "completed", ["a", "b"]), job("earlier", "failed", ["a"])];
  assert.deepEqual(await jobsToAttend(optimizing(jobs)), []);
});

Deno.test("jobsToAttend() does not load the optimizer while optimization is off", async () => {
  const gateway = {
    ...optimizing([], false),
    optimization: () => assert.fail("It was loaded"),
  } as unknown as Gateway;
  assert.deepEqual(await jobsToAttend(gateway), []);
});

Deno.test("stalePromotions() lists those whose server changed its words, to keep or revert", () => {
  const promotions = {
    list: () => ["stale", "fresh"].map((toolName) => ({ server: "git", toolName })),
    staleness: (_server: string, tool: string) =>
      tool === "stale"
        ? { reasons: ["the sibling log is gone"], before: "a", now: "a" }
        : undefined,
  } as unknown as Gateway["promotions"];
  const [item, ...others] = stalePromotions({ promotions });
  assert.deepEqual(others, []);
  assert.equal(item?.href, "/optimization/git/stale");
  assert.match(
    item?.detail ?? "",
    /^Since it was promoted, the sibling log is gone\. Test it again/,
  );
  assert.deepEqual(item?.fixes.map(({ action }) => action.action), [
    "keep-promotion",
    "revert-promotion",
  ]);
});

function reviewing(held: number, quarantined: number): Gateway["review"] {
  const items = [
    { server: "git", tool: "push", state: "quarantined" },
    { server: "git", tool: "pull", state: "held" },
  ];
  return {
    count: () => ({ held, quarantined }),
    waiting: () => items,
  } as unknown as Gateway["review"];
}

Deno.test("toolsToReview() names a tool that is alone, and counts several", () => {
  const shown = (review: Gateway["review"]) =>
    toolsToReview({ review }).map(({ kind, subject, isName, detail }) => [
      kind,
      subject,
      isName,
      detail.split(/[,;]/)[0],
    ]);
  assert.deepEqual(shown(reviewing(1, 1)), [
    ["quarantined", "git.push", true, "Its definition looks like an attack"],
    ["changed-tools", "git.pull", true, "Its server changed it"],
  ]);
  assert.deepEqual(shown(reviewing(2, 3)), [
    ["quarantined", "3 tools", false, "Their definitions look like attacks"],
    ["changed-tools", "2 tools", false, "Their servers changed them"],
  ]);
  assert.deepEqual(shown(reviewing(0, 0)), []);
});

Deno.test("toDecide() leads to calls and programs that wait, with their number", async () => {
  const gateway = (calls: number, programs: number) => ({
    review: { count: () => ({ total: 0 }) } as Gateway["review"],
    waitingUpdates: () => 0,
    approvals: () => Promise.resolve({ list: () => Array(calls).fill({}) } as never),
    consents: () => Promise.resolve({ count: () => Promise.resolve(programs) } as never),
  });
  const items = await toDecide(gateway(2, 1));
  assert.deepEqual(items.map(({ subject, href }) => [subject, href]), [
    ["2 calls", "/security/approvals"],
    ["1 request", "/security/consents"],
  ]);
  assert.deepEqual(await toDecide(gateway(0, 0)), []);
});

Deno.test("stagedRestore() warns of a backup that the next start puts in place", async () => {
  const restore = (found: object) =>
    ({ staged: { find: () => Promise.resolve(found) } }) as unknown as Gateway["restore"];
  const [item] = await stagedRestore({ restore: restore({ staged: {} }) });
  assert.equal(item?.kind, "restore-waiting");
  assert.deepEqual(await stagedRestore({ restore: restore({ checked: {} }) }), []);
  assert.deepEqual(await stagedRestore({ restore: {} }), []);
});

Deno.test("serverFix() repairs a broken npx cache, and restarts whatever else fails", () => {
  const fix = (reason: string) =>
    serverFix({ name: "git", state: "failed", reason, source: { kind: "store" } } as ServerStatus);
  assert.deepEqual(fix(`Exited. ${BROKEN_CACHE}; retrying soon`), {
    verb: "Repair",
    action: { action: "repair-server", server: "git" },
  });
  assert.equal(fix("Exited").verb, "Restart");
});

Deno.test("serverFix() leads to the login, for a restart cannot log in", () => {
  const fix = (state: ServerStatus["state"], source: ServerStatus["source"]) =>
    serverFix({ name: "git", state, source } as ServerStatus);
  assert.deepEqual(fix("failed", { kind: "store" }), {
    verb: "Restart",
    action: { action: "restart-server", server: "git" },
  });
  const own = fix("needs_login", { kind: "store" });
  assert.ok("href" in own);
  assert.equal(own.href, "/servers/git/~login");
  const inFile = fix("needs_login", { kind: "file", path: "/x/.mcp.json" });
  assert.ok("href" in inFile);
  assert.match(inFile.advice, /in \/x\/\.mcp\.json/);
});

Deno.test("emptyToolset() raises the alarm where clients get none of the equipped tools", () => {
  const found = (states: { state: string; isComing?: boolean }[] | undefined) =>
    emptyToolset({
      toolsets: {
        toolsets: {
          equippedBy: () => states && { name: "dev", tools: [] },
          tools: () => states,
        },
      } as unknown as Gateway["toolsets"],
    });
  assert.deepEqual(found(undefined), []);
  assert.deepEqual(found([{ state: "gone" }, { state: "registered" }]), []);
  assert.deepEqual(found([{ state: "gone" }, { state: "waiting", isComing: true }]), []);
  const [item] = found([{ state: "gone" }, { state: "waiting", isComing: false }]);
  assert.deepEqual([item?.subject, item?.href], ["dev", "/toolsets/dev"]);
  assert.match(
    item?.detail ?? "",
    /none of its tools: 1 tool is no longer there, 1 tool is waiting/,
  );
  assert.deepEqual(item?.fixes[0]?.action, { action: "unequip-toolset" });
  assert.match(found([])[0]?.detail ?? "", /the toolset is empty/);
});

Deno.test("decisionItems() ranks what fails, is slow, is not found and is never used", () => {
  const now = Date.now();
  const call = { at: now, server: "git", tool: "push", ms: 10, ok: true };
  const search = { query: "send a fax", found: [], count: 0, isHit: false };
  const description = "A long description. ".repeat(400);
  const servers = [
    { name: "git", tools: [{ name: "push" }, { name: "pull" }] },
    { name: "slow", tools: [{ name: "crawl" }] },
    { name: "dead", tools: [{ name: "weight", description }] },
    { name: "small", tools: [{ name: "cheap" }] },
  ];
  const calls = [
    ...Array.from({ length: 4 }, () => ({ ...call, ok: false })),
    call,
    { ...call, tool: "pull", ok: false },
    ...Array.from({ length: 5 }, () => ({ ...call, server: "slow", tool: "crawl", ms: 9_000 })),
    { ...call, search },
  ];
  const decisions = (more: typeof calls = [], isComplete = true) => {
    const gateway = stubGateway({ servers, calls: [...calls, ...more] });
    const { stats } = gateway.callStats();
    return decisionItems(gateway, { stats, isComplete }).map(({ kind, subject }) =>
      `${kind} ${subject}`
    );
  };
  const found = ["failing git.push", "slow slow", "missed “send a fax”"];
  // Nobody knows after an hour what is never used.
  assert.deepEqual(decisions(), found);
  const old = { ...call, at: now - 3 * 24 * 60 * 60_000 };
  assert.deepEqual(decisions([old]), [...found, "unused dead"]);
  assert.deepEqual(decisions([old], false), found);
  const missed = (query: string, endpoint: string) => ({
    ...call,
    endpoint,
    search: { ...search, query },
  });
  assert.deepEqual(decisions([missed("typed by hand", "cli")]), found);
  const more = ["a", "b", "c", "d"].map((query) => missed(query, "mcp?default"));
  assert.deepEqual(decisions(more).slice(2), [
    "missed “send a fax”",
    "missed “a”",
    "missed “b”",
    "missed and 2 more",
  ]);
});
