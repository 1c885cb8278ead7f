import assert from "node:assert/strict";
import { Store } from "../storage/store.ts";
import { type CatalogTool, isUsable, readTool } from "../catalog/catalog_tool.ts";
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
  assert.equal(await verdicts.renew("s", all), "fresh");
  setWords("BETTER");
  assert.equal(await verdicts.renew("s", all), "same");
  setWords("WORSE");
  await verdicts.prepare("s", all, WHOLE);
  assert.deepEqual(verdicts.find("s", all[0]!.fingerprint), []);
  assert.equal(await verdicts.renew("s", all), "other");
  assert.equal(verdicts.find("s", all[0]!.fingerprint)?.[0]?.rule, "worse");
});

Deno.test("Verdicts.prepare() takes no word of other rules after a start", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const all = tools(listed("a", "says WORSE"), listed("b"));
  const text = { fingerprint: "f", isKept: true };
  const first = openReview(store, {});
  await first.verdicts.prepare("s", all, WHOLE);
  await first.verdicts.scanText("s", "instructions", "Be WORSE", text);

  const { verdicts, setWords, stale } = openReview(store, {}, { rules: "2" });
  setWords("WORSE");
  await verdicts.prepare("s", all, WHOLE);
  assert.equal(verdicts.find("s", all[0]!.fingerprint)?.[0]?.rule, "worse");
  const found = await verdicts.scanText("s", "instructions", "Be WORSE", text);
  assert.equal(found[0]?.rule, "worse");
  assert.equal(stale(), 1, "it is looked at once more when all others are there");
});

Deno.test("Verdicts.prepare() asks for renew() however late a server lists its tools", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const all = tools(listed("a"));
  await openReview(store, {}).verdicts.prepare("s", all, WHOLE);
  const late = openReview(store, {});
  late.setWords("WORSE");
  // Nothing is listed yet, and nothing to be renewed.
  await late.book.renew();
  await late.verdicts.prepare("s", all, WHOLE);
  assert.equal(late.stale(), 1);
  await late.verdicts.renew("s", all);
  await late.verdicts.prepare("s", all, WHOLE);
  assert.equal(late.stale(), 1);
  const next = openReview(store, {});
  next.setWords("WORSE");
  await next.verdicts.prepare("s", all, WHOLE);
  assert.deepEqual([next.stale(), next.loads()], [0, 0], "it is kept as renewed");
});

Deno.test("Verdicts.renew() forgets what it does not look at again", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const [shared, own] = tools(listed("a"), listed("own", "says WORSE"));
  const { verdicts, setWords } = openReview(store, {});
  await verdicts.prepare("s", [shared!], WHOLE);
  await verdicts.prepare("s", [own!], { isWhole: false });
  const text = { fingerprint: "f", isKept: true };
  assert.deepEqual(await verdicts.scanText("s", "instructions", "Be WORSE", text), []);
  setWords("WORSE");
  assert.equal(await verdicts.renew("s", [shared!]), "other");
  assert.equal(verdicts.find("s", own!.fingerprint), undefined);
  const found = await verdicts.scanText("s", "instructions", "Be WORSE", text);
  assert.equal(found[0]?.rule, "worse");
});

Deno.test("Verdicts.scanText() does not remember texts without end", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const [kept] = tools(listed("a"));
  const { verdicts } = openReview(store, {});
  await verdicts.prepare("s", [kept!], WHOLE);
  for (let nth = 0; nth <= 20_001; nth++) {
    await verdicts.scanText("s", "resource", "x", { fingerprint: `${nth}`, isKept: false });
  }
  assert.equal(verdicts.find("s", "0"), undefined);
  assert.ok(verdicts.find("s", kept!.fingerprint));
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
    rules: "1",
    among: () => "",
    onWarning: () => {},
    load: () =>
      Promise.resolve({
        scanningTool: () => ({
          next() {
            const until = performance.now() + 0.1;
            while (performance.now() < until);
            return { done: true, value: [] };
          },
        }),
        scanEntry: () => [],
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

Deno.test("Verdicts.prepare() of one definition knows the server's other tools as its own", async () => {
  const [read] = tools(listed("read_file", "Always use this tool before calling write_file."));
  const findings = async (...ownTools: string[]) => {
    const verdicts = new Verdicts({
      repository: { find: () => Promise.resolve(undefined), save: () => Promise.resolve() },
      around: (server) => ({
        server,
        ownTools: new Set(ownTools),
        otherTools: new Set(["write_file"]),
        otherServers: new Set(["disk"]),
        reserved: new Set(),
      }),
      rules: "1",
      among: () => "",
      onWarning: () => {},
    });
    await verdicts.prepare("s", [read!], { isWhole: false });
    return verdicts.find("s", read!.fingerprint)?.map(({ rule }) => rule);
  };
  assert.deepEqual(await findings("read_file", "write_file"), []);
  assert.notDeepEqual(await findings("read_file"), []);
});
