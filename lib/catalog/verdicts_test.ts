import assert from "node:assert/strict";
import { Store } from "../storage/store.ts";
import { type CatalogTool, isUsable, readTool } from "./catalog_tool.ts";
import { listed, openReview } from "./testing/open_review.ts";
import { Verdicts } from "./verdicts.ts";

function tools(...texts: string[]): CatalogTool[] {
  return texts.map((text) => readTool("s", text, 0)).filter(isUsable);
}

const WHOLE = { isWhole: true };

Deno.test("Verdicts.prepare() looks at each definition once, and not again after a start", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const all = tools(listed("a"), listed("b", "EVIL"));
  const first = openReview(store, {});
  await first.verdicts.prepare("s", all, WHOLE);
  assert.deepEqual(first.verdicts.find("s", all[0]!.fingerprint), []);
  assert.equal(first.verdicts.find("s", all[1]!.fingerprint)?.[0]?.rule, "evil");

  const clean = openReview(store, {});
  await first.verdicts.prepare("t", all.slice(0, 1), WHOLE);
  await clean.verdicts.prepare("t", all.slice(0, 1), WHOLE);
  assert.equal(clean.loads(), 0);
  const second = openReview(store, {});
  await second.verdicts.prepare("s", all, WHOLE);
  assert.equal(second.verdicts.find("s", all[1]!.fingerprint)?.[0]?.rule, "evil");
  // Loaded to judge what was found, and nothing else.
  assert.equal(second.loads(), 1);
});

Deno.test("Verdicts.prepare() of single clients' tools does not replace what is kept", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const [shared, own] = tools(listed("a"), listed("own"));
  const first = openReview(store, {});
  await first.verdicts.prepare("s", [shared!], WHOLE);
  await first.verdicts.prepare("s", [own!], { isWhole: false });
  const second = openReview(store, {});
  await second.verdicts.prepare("s", [shared!], WHOLE);
  assert.equal(second.loads(), 0);
  assert.equal(second.verdicts.find("s", own!.fingerprint), undefined);
});

Deno.test("Verdicts quarantines what cannot be looked at", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const { verdicts, warnings } = openReview(store, {});
  const [crash] = tools(listed("a", "CRASH"));
  await verdicts.prepare("s", [crash!], WHOLE);
  const findings = verdicts.find("s", crash!.fingerprint) ?? [];
  assert.deepEqual(findings.map(({ rule }) => rule), ["scan-failed"]);
  assert.equal(verdicts.verdict(findings), "quarantine");
  assert.equal(warnings.length, 1);
});

Deno.test("Verdicts.renew() looks again where the surroundings are others", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const { verdicts, setWords } = openReview(store, {});
  const all = tools(listed("a", "says WORSE"));
  await verdicts.prepare("s", all, WHOLE);
  assert.equal(await verdicts.renew("s", all), false);
  setWords("BETTER");
  assert.equal(await verdicts.renew("s", all), false);
  setWords("WORSE");
  await verdicts.prepare("s", all, WHOLE);
  assert.deepEqual(verdicts.find("s", all[0]!.fingerprint), []);
  assert.equal(await verdicts.renew("s", all), true);
  assert.equal(verdicts.find("s", all[0]!.fingerprint)?.[0]?.rule, "worse");
});

Deno.test("Verdicts.prepare() lets others have their turn while it looks at thousands", async () => {
  const all = tools(...Array.from({ length: 2_000 }, (_, index) => listed(`tool_${index}`)));
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const verdicts = new Verdicts({
    repository: { find: () => Promise.resolve(undefined), save: () => Promise.resolve() },
    around: (server) => ({
      server,
      otherTools: new Set(),
      otherServers: new Set(),
      reserved: new Set(),
    }),
    stamp: () => "",
    onWarning: () => {},
    load: () =>
      Promise.resolve({
        scanTool() {
          const until = performance.now() + 0.1;
          while (performance.now() < until);
          return [];
        },
        scanText: () => [],
        verdictOf: () => "clean" as const,
      }),
  });
  await verdicts.prepare("s", all, WHOLE);
  clearInterval(timer);
  // 200 ms of work in slices of a few: others came in between again and again.
  assert.ok(turns >= 10, `${turns} turns`);
  assert.ok(all.every(({ fingerprint }) => verdicts.find("s", fingerprint)?.length === 0));
});
