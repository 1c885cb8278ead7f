import assert from "node:assert/strict";
import { Catalog } from "../../catalog/catalog.ts";
import { LiveTrialPlan } from "../../core/live_trial.ts";
import { PromotionsRepository } from "../../storage/promotions_repository.ts";
import { Store } from "../../storage/store.ts";
import { failure } from "../../storage/testing/failures.ts";
import { TrialSessionsRepository } from "../../storage/trial_sessions_repository.ts";
import { Promotions } from "../promotions.ts";
import { LiveTrials } from "./trials.ts";

const TOOL = { server: "library", tool: "find" };
const TEXT = JSON.stringify({ name: "find", description: "Own", inputSchema: { type: "object" } });

/** One gateway on a store. */
function gateway(store: Store, time: { now: number }) {
  const catalog = new Catalog();
  catalog.setListed("library", [TEXT]);
  const audited: string[] = [];
  const promotions = new Promotions({
    repository: new PromotionsRepository(store),
    canonical: () => "Own",
    onChange: (all) => catalog.setPromotions(all),
    onAudit: ({ action, from }) => void audited.push(`${action} ${from ?? ""}`.trim()),
    now: () => time.now,
  });
  const sessions = new TrialSessionsRepository(store);
  const ended: string[] = [];
  const trials = new LiveTrials({
    promotions,
    served: catalog.served,
    sessions,
    // The tests say when to look.
    isCommand: true,
    onEnded: (message) => void ended.push(message),
    onWarning: (message, details) => assert.fail(`${message} ${JSON.stringify(details)}`),
    now: () => time.now,
  });
  const profile = { protocolVersion: "2025-11-25", capabilities: {} };
  let calls = 0;
  const call = (unit: string, isBad: (arm: string) => boolean) => {
    const trial = trials.unitOf(TOOL, { profile, unit });
    assert.ok(trial);
    const ok = !isBad(trial.arm);
    const error = ok ? {} : { error: "INVALID_ARGUMENTS" };
    trials.noteCall({
      ...TOOL,
      ...error,
      id: `call ${calls++}`,
      at: time.now,
      endpoint: "servers/library",
      session: unit,
      principal: "everyone",
      ms: 1,
      ok,
      trial,
    });
    return trial;
  };
  return {
    catalog,
    promotions,
    trials,
    sessions,
    audited,
    ended,
    call,
    end: (unit: string) => trials.noteEnded({ profile, unit }),
    promote: () =>
      promotions.promote({
        server: "library",
        toolName: "find",
        candidateId: "c1",
        description: "Promoted",
        by: "person",
        ab: LiveTrialPlan.parse({}),
      }),
    [Symbol.asyncDispose]: () => trials[Symbol.asyncDispose](),
  };
}

Deno.test("two gateways count the sessions of both, and one of them reverts, once", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const time = { now: Date.UTC(2026, 0, 1) };
  await using one = gateway(store, time);
  await using other = gateway(store, time);
  const { trial } = await one.promote();
  await other.promotions.load();
  for (let nth = 0; nth < 30; nth++) {
    time.now += 1_000;
    const at = nth % 2 === 0 ? one : other;
    // Its second call is at the other gateway.
    at.call(`session ${nth}`, (arm) => arm === "promoted");
    await at.trials.save();
    (at === one ? other : one).call(`session ${nth}`, () => false);
    (at === one ? other : one).end(`session ${nth}`);
    await one.trials.save();
    await other.trials.save();
  }
  const summary = await one.trials.summaryOf(trial!);
  assert.equal(summary.promoted.sessions + summary.other.sessions, 30);
  assert.equal(summary.promoted.bad, summary.promoted.sessions);
  assert.equal(summary.other.bad, 0);
  assert.equal(summary.promoted.refused, summary.promoted.sessions);
  assert.deepEqual(await other.trials.summaryOf(trial!), summary);

  await Promise.all([one.trials.check(), other.trials.check()]);
  const history = await one.promotions.history("library", "find");
  assert.deepEqual(history.map(({ action, by }) => `${action} ${by}`), [
    "revert trial",
    "promote person",
  ]);
  assert.match(
    history[0]?.reason ?? "",
    /^Live A\/B: the promoted description did worse: bad outc/,
  );
  assert.deepEqual(history[0]?.trialResult?.summary, summary);
  await other.promotions.load();
  assert.equal(other.promotions.of("library", "find"), undefined);
  assert.deepEqual(other.catalog.of("library").tools[0]?.text, TEXT);
  assert.deepEqual([...one.audited, ...other.audited].filter((line) => line.includes("A/B")), [
    "promotion.revert live A/B",
  ]);
  assert.deepEqual(await one.sessions.list(trial!.id), [], "what was recorded is gone");
});

Deno.test("a trial whose gateway was killed before it could decide is decided by the next", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const time = { now: Date.UTC(2026, 0, 1) };
  const killed = gateway(store, time);
  await killed.promote();
  for (let nth = 0; nth < 30; nth++) {
    killed.call(`session ${nth}`, (arm) => arm === "other");
    time.now += 1;
  }
  await killed.trials.save();
  await using next = gateway(store, time);
  await next.promotions.load();
  await next.trials.check();
  assert.ok(next.promotions.of("library", "find")?.trial, "these sessions may go on");
  time.now += 31 * 60_000;
  await next.trials.check();
  const kept = next.promotions.of("library", "find");
  assert.equal(kept?.trial, undefined);
  assert.equal(kept?.trialResult?.outcome, "better");
  assert.equal(next.catalog.served.hasTrials, false);
  await killed[Symbol.asyncDispose]();
});

Deno.test("retries and marks count, and a person can stop a trial", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const time = { now: Date.UTC(2026, 0, 1) };
  await using one = gateway(store, time);
  const { trial } = await one.promote();
  const first = one.call("a", () => true);
  one.call("a", () => false);
  const marked = one.call("b", () => false);
  one.trials.noteMark(marked);
  one.end("a");
  one.end("b");
  one.end("never called");
  time.now += 1;
  const { promoted, other } = await one.trials.summaryOf(trial!);
  const sum = (of: (arm: typeof promoted) => number) => of(promoted) + of(other);
  assert.deepEqual(
    [sum(({ retries }) => retries), sum(({ marked }) => marked), sum(({ bad }) => bad)],
    [1, 1, 2],
  );
  assert.equal(sum(({ sessions }) => sessions), 2, "what was never shown is not recorded");
  assert.notEqual(first.unit, "a", "a session's id is not stored");

  const again = one.promotions.startTrial({ ...TOOL, by: "person" }, LiveTrialPlan.parse({}));
  await failure(again, "CONFLICT");
  const kept = await one.trials.stop(TOOL, "person");
  assert.deepEqual([kept.description, kept.trial], ["Promoted", undefined]);
  assert.equal(kept.trialResult?.outcome, "stopped");
  await failure(one.trials.stop(TOOL, "person"), "NOT_FOUND");
  assert.match(one.ended[0] ?? "", /Live A\/B of library\.find ended: stopped by a person/);
  const started = await one.promotions.startTrial(
    { ...TOOL, by: "person" },
    LiveTrialPlan.parse({ share: 20 }),
  );
  assert.deepEqual([started.trial?.share, started.trialResult], [20, undefined]);
  await one.promotions.revert({ ...TOOL, by: "person" });
  const [, step] = await one.promotions.history("library", "find");
  const restored = await one.promotions.revert({ ...TOOL, to: step!.id, by: "person" });
  assert.equal(restored?.trial, undefined, "a restored description is served to all");
});

Deno.test("a promotion for a family has a place of its own", async () => {
  await using store = await Store.open({ location: ":memory:" });
  await using one = gateway(store, { now: Date.UTC(2026, 0, 1) });
  const { promotions } = one;
  await one.promote();
  const own = { server: "library", toolName: "find", candidateId: "c2", by: "person" } as const;
  const gpt = await promotions.promote({ ...own, description: "For GPT", family: "gpt" });
  assert.deepEqual(promotions.allOf("library", "find").map(({ description }) => description), [
    "Promoted",
    "For GPT",
  ]);
  assert.deepEqual(promotions.of("library", "find", "gpt"), gpt);
  await promotions.load();
  assert.equal(promotions.list().length, 2);
  const [step] = await promotions.history("library", "find");
  assert.equal(step?.family, "gpt");
  assert.match(
    (await failure(promotions.revert({ ...TOOL, family: "claude", by: "person" }), "NOT_FOUND"))
      .message,
    /Cannot revert "library\.find for claude"/,
  );
  await promotions.revert({ ...TOOL, family: "gpt", by: "person" });
  assert.equal(promotions.of("library", "find")?.description, "Promoted");
  assert.equal(promotions.of("library", "find", "gpt"), undefined);
  // The step says whose it was.
  await promotions.revert({ ...TOOL, to: step!.id, by: "person" });
  assert.equal(promotions.of("library", "find", "gpt")?.description, "For GPT");
  assert.equal(promotions.staleness("library", "find", "gpt"), undefined);
});
