import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { LimitUsesRepository } from "../storage/access_repositories.ts";
import { twoMailboxes } from "../storage/testing/two_mailboxes.ts";
import type { Bound } from "./call_limits.ts";
import { LimitShares } from "./limit_shares.ts";

const bound = (more: Partial<Bound>): Bound => ({ key: "a", whose: "This token", ...more });

/** Two gateways that count calls on one store; the clock is theirs. */
async function twoGateways(
  { checkMs, storeMs = 2_000 }: { checkMs?: number; storeMs?: number } = {},
) {
  await using stack = new AsyncDisposableStack();
  const mailboxes = stack.use(await twoMailboxes({ checkMs }));
  const uses = new LimitUsesRepository(mailboxes.store);
  const clock = { now: 1_000_000_000 };
  const gone = new Set<string>();
  const warnings: string[] = [];
  const open = (mailbox: typeof mailboxes.here) =>
    stack.use(
      new LimitShares({
        uses,
        mailbox,
        isAlive: (id) => Promise.resolve(!gone.has(id)),
        onWarning: (warning) => warnings.push(warning),
        storeMs,
        now: () => clock.now,
      }),
    );
  const [here, there] = [open(mailboxes.here), open(mailboxes.there)];
  const opened = stack.move();
  return {
    ...{ here, there, uses, clock, warnings, mailboxes, gone },
    kill(id: string) {
      gone.add(id);
      mailboxes.end(id);
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** The refusal, if it is one. */
async function begin(shares: LimitShares, call: object, ...bounds: Bound[]) {
  try {
    await shares.begin(call, bounds);
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    assert.equal(error.code, "LIMIT_EXCEEDED");
    return error;
  }
}

Deno.test("LimitShares.begin() lets no more calls through two gateways than one limit a minute", async () => {
  await using gateways = await twoGateways();
  const { here, there, clock } = gateways;
  const five = bound({ perMinute: 5 });
  const flood = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, nth) => begin(nth % 2 ? here : there, {}, five)),
    );
  const admitted = (outcomes: unknown[]) => outcomes.filter((one) => one === undefined).length;
  assert.equal(admitted(await flood(3)), 3);
  clock.now += 30_000;
  const outcomes = await flood(20);
  assert.equal(admitted(outcomes), 2);
  const refusal = outcomes.find((one) => one !== undefined);
  assert.match(
    refusal?.message ?? "",
    /^This token is limited to 5 per minute: try again in 32 s$/,
  );
  clock.now += 31_000;
  assert.equal(admitted(await flood(4)), 0, "within a minute of the first");
  clock.now += 1_000;
  assert.equal(admitted(await flood(20)), 3, "the two of half a minute ago still count");
  assert.equal(await begin(here, {}, bound({ key: "b", perMinute: 5 })), undefined);
});

Deno.test("LimitShares takes many calls of a large limit at once, and gives back what it does not use", async () => {
  await using gateways = await twoGateways();
  const { here, there, uses } = gateways;
  const many = bound({ perMinute: 6_000 });
  assert.equal(await begin(here, {}, many), undefined);
  for (let nth = 1; nth < 10; nth++) assert.equal(here.begin({}, [many]), undefined, "no access");
  await begin(here, {}, many);
  await begin(there, {}, many);
  const begun = async () =>
    (await uses.resolve("a")).value.begun.reduce((sum, [, count]) => sum + count, 0);
  assert.equal(await begun(), 30);
  await here[Symbol.asyncDispose]();
  await there[Symbol.asyncDispose]();
  assert.equal(await begun(), 12);
});

Deno.test("LimitShares.begin() bounds what is under way at both, and moves places that are not used", async () => {
  await using gateways = await twoGateways();
  const { here, there } = gateways;
  const two = bound({ concurrent: 2 });
  const [first, second] = [{}, {}];
  assert.equal(await begin(here, first, two), undefined);
  assert.equal(await begin(here, second, two), undefined);
  const refusal = await begin(there, {}, two);
  assert.match(refusal?.message ?? "", /^This token has reached its limit of 2 concurrent calls/);
  here.end(first);
  here.end(first);
  const third = {};
  assert.equal(await begin(there, third, two), undefined, "the place has moved");
  assert.ok(await begin(there, {}, two));
  here.end(second);
  there.end(third);
  const one = bound({ key: "one", concurrent: 1 });
  for (let nth = 0; nth < 12; nth++) {
    const [gateway, call] = [nth % 2 ? here : there, {}];
    assert.equal(await begin(gateway, call, one), undefined, `call ${nth}`);
    gateway.end(call);
  }
});

Deno.test("LimitShares.begin() may be asked at both for the other's places at once", async () => {
  await using gateways = await twoGateways();
  const { here, there } = gateways;
  const two = bound({ concurrent: 2 });
  assert.equal(await begin(here, {}, two), undefined);
  assert.equal(await begin(there, {}, two), undefined);
  assert.ok((await Promise.all([begin(here, {}, two), begin(there, {}, two)])).every(Boolean));
});

Deno.test("LimitShares.begin() counts by no bound where one of them refuses", async () => {
  await using gateways = await twoGateways();
  const { here, there } = gateways;
  const token = bound({ key: "token", perMinute: 1, concurrent: 1 });
  const server = bound({ key: "server", perMinute: 1 });
  const first = {};
  assert.equal(await begin(here, first, server), undefined);
  for (let nth = 0; nth < 5; nth++) assert.ok(await begin(here, {}, token, server));
  assert.equal(await begin(here, {}, token), undefined, "nothing of the refused ones counts");
  assert.ok(await begin(there, {}, token));
});

Deno.test("LimitShares.begin() returns a call to the second it was counted in, and none that was not", async () => {
  await using gateways = await twoGateways();
  const { here, there, uses, clock } = gateways;
  const [many, five] = [bound({ key: "many", perMinute: 6_000 }), bound({ perMinute: 5 })];
  const place = bound({ key: "place", concurrent: 1 });
  const begun = async (limit: string) => (await uses.find(limit))?.value.begun ?? [];
  assert.equal(await begin(there, {}, place), undefined);
  assert.equal(await begin(here, {}, five), undefined);
  const { find, save } = uses;
  uses.find = async (limit) => {
    const found = await find.call(uses, limit);
    if (limit !== place.key) return found;
    uses.find = find;
    clock.now += 5_000;
    await begin(here, {}, many);
    return found;
  };
  assert.ok(await begin(here, {}, many, place));
  uses.save = (use, versionstamp) =>
    use.limit === five.key
      ? Promise.reject(new GatewayError("STORAGE_UNAVAILABLE"))
      : save.call(uses, use, versionstamp);
  assert.ok(await begin(here, {}, five, place));
  uses.save = save;
  await here[Symbol.asyncDispose]();
  assert.deepEqual(await begun(five.key), [[1_000_000, 1]]);
  assert.deepEqual(await begun(many.key), [[1_000_005, 1]]);
});

Deno.test("LimitShares: the places of a killed gateway are free once its lease has expired", async () => {
  await using gateways = await twoGateways();
  const { here, there, kill } = gateways;
  const one = bound({ concurrent: 1 });
  assert.equal(await begin(here, {}, one), undefined);
  assert.ok(await begin(there, {}, one));
  kill("here");
  assert.equal(await begin(there, {}, one), undefined);
});

Deno.test("LimitShares: a gateway whose lease expired counts again once it is back", async () => {
  await using gateways = await twoGateways();
  const { here, there, gone } = gateways;
  const two = bound({ concurrent: 2 });
  assert.equal(await begin(here, {}, two), undefined);
  gone.add("here");
  const calls = [{}, {}];
  for (const call of calls) assert.equal(await begin(there, call, two), undefined);
  gone.delete("here");
  for (const call of calls) there.end(call);
  assert.equal(await begin(here, {}, two), undefined);
  assert.ok(await begin(there, {}, two));
});

Deno.test("LimitShares.sweep() deletes what a killed gateway has left, and nothing that counts", async () => {
  await using gateways = await twoGateways();
  const { here, there, uses, clock, kill } = gateways;
  const limits = async () => (await uses.values()).map(({ limit }) => limit);
  await begin(here, {}, bound({ key: "place", concurrent: 1 }));
  await begin(here, {}, bound({ key: "minute", perMinute: 5 }));
  await there.sweep();
  assert.deepEqual(await limits(), ["minute", "place"]);
  kill("here");
  await there.sweep();
  assert.deepEqual(await limits(), ["minute"]);
  clock.now += 62_000;
  await there.sweep();
  assert.deepEqual(await limits(), []);
});

Deno.test("LimitShares.begin() refuses a call while the holder of all places does not answer", async () => {
  await using gateways = await twoGateways({ checkMs: 60_000 });
  const { here, there, mailboxes, warnings } = gateways;
  const one = bound({ concurrent: 1 });
  assert.equal(await begin(here, {}, one), undefined);
  const hung = Promise.withResolvers<string>();
  mailboxes.here.handle("limit places", () => hung.promise);
  assert.match((await begin(there, {}, one))?.message ?? "", /limit of 1 concurrent calls/);
  const minute = bound({ key: "minute", perMinute: 1 });
  assert.equal(await begin(there, {}, minute), undefined);
  assert.ok(await begin(there, {}, minute), "limits are shared on");
  assert.deepEqual(warnings, []);
  hung.resolve("");
});

Deno.test("LimitShares.begin() lets a gateway's own count decide while the store is away", async () => {
  await using gateways = await twoGateways();
  const { here, uses, warnings } = gateways;
  uses.find = () => Promise.reject(new GatewayError("STORAGE_UNAVAILABLE"));
  const one = bound({ concurrent: 1, perMinute: 1 });
  const calls = Array.from({ length: 3 }, () => ({}));
  for (const call of calls) assert.equal(await begin(here, call, one), undefined);
  for (const call of calls) here.end(call);
  assert.equal(here.begin({}, [one]), undefined, "it is not asked again and again");
  assert.deepEqual(warnings, ["Shared call limits are unavailable: each gateway enforces its own"]);
});

Deno.test("LimitShares.begin() waits while other gateways are faster, and does not take the store for away", async () => {
  await using gateways = await twoGateways({ storeMs: 300 });
  const { here, uses, warnings } = gateways;
  const one = bound({ perMinute: 1 });
  const save = uses.save.bind(uses);
  let conflictsUntil = Infinity;
  uses.save = (use, versionstamp) =>
    performance.now() < conflictsUntil
      ? Promise.reject(new GatewayError("CONFLICT"))
      : save(use, versionstamp);
  const refusal = await begin(here, {}, one);
  assert.match(refusal?.message ?? "", /^This token is busy: .*: try again in 1 s$/);
  conflictsUntil = performance.now() + 450;
  assert.equal(await begin(here, {}, one), undefined, "it is counted once the others are done");
  assert.match((await begin(here, {}, one))?.message ?? "", /limited to 1 per minute/);
  assert.deepEqual(warnings, []);
});
