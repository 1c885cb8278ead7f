import assert from "node:assert/strict";
import type { RawItem } from "../../../../../lib/trust/review_items.ts";
import { ReviewAdmin } from "../../../../../lib/trust/review_admin.ts";
import { listed, openReview } from "../../../../../lib/trust/testing/open_review.ts";
import { Store } from "../../../../../lib/storage/store.ts";
import { callBy, servicesOf } from "../../../../../lib/operations/testing/services.ts";
import { decideByForm, formOutcome } from "../../../../../lib/console/form_page.ts";
import { keyOf, REVIEW_DECISIONS, reviewPage } from "./model.ts";

const NONE = new URLSearchParams();
const POLICY = { policy: "hold", trust: "trusted", isEditable: true } as const;

function item(server: string, tool: string, more: Partial<RawItem> = {}): RawItem {
  return {
    server,
    tool,
    fingerprint: "f",
    findings: [],
    kind: "changed",
    state: "held",
    text: "{}",
    ...more,
  };
}

function stub(items: RawItem[], servers: string[] = []) {
  return {
    review: {
      waiting: () => items,
      decisions: () => Promise.resolve([]),
      policies: () => servers.map((server) => ({ ...POLICY, server })),
    },
    packages: () => Promise.resolve({ updates: () => Promise.resolve([]) }),
  };
}

const found = (rule: string) => ({
  rule,
  severity: "high" as const,
  where: "description",
  excerpt: "",
  why: "",
});

Deno.test("decideByForm() runs the operation that a form names, and says what is wrong with the rest", async () => {
  const decided: unknown[] = [];
  const review = {
    unwaive: (...given: unknown[]) => Promise.resolve(decided.push(given.slice(0, 3))),
    setPolicy: (...given: unknown[]) => Promise.resolve(decided.push(given.slice(0, 2))),
  } as unknown as ReviewAdmin;
  const decide = (form: Record<string, string>) =>
    decideByForm(
      REVIEW_DECISIONS,
      servicesOf({ review }),
      new URLSearchParams(form),
      callBy("everyone"),
    );
  const tool = { server: "s", tool: "t" };
  await decide({ action: "waive", ...tool, rule: "r", undo: "true" });
  await decide({ action: "policy", server: "s", changes: "hold" });
  assert.deepEqual(decided, [["s", "t", "r"], ["s", { changes: "hold" }]]);
  const wrong = [
    {},
    { action: "destroy", ...tool, fingerprint: "f" },
    { action: "approve", ...tool },
    { action: "policy", server: "s", changes: "never" },
    { action: "waive", ...tool, rule: "r", fingerprint: "f" },
    { action: "approve-selected" },
  ];
  for (const form of wrong) {
    await assert.rejects(decide(form as Record<string, string>), { code: "INVALID_ARGUMENTS" });
  }
});

Deno.test("reviewPage() says of each item what happened and what clients get", async () => {
  const items = [
    item("s", "t"),
    item("s", "t", { kind: "added" }),
    item("s", "t", { state: "notice" }),
    item("s", "t", { kind: "finding", state: "quarantined" }),
    item("s", "(instructions)", { kind: "finding", state: "quarantined" }),
    item("s", "t", { kind: "finding", state: "flagged" }),
  ];
  const { groups: [group] } = await reviewPage(stub(items));
  assert.deepEqual(group?.cards.map(({ id, effect }) => [id, effect]), [
    ["item-1", "Clients still get the previous version."],
    ["item-2", "Clients do not see it until it is approved."],
    ["item-3", "Clients already see the change."],
    ["item-4", "Clients cannot see or call the tool."],
    ["item-5", "Clients do not see this text."],
    ["item-6", "Clients see it without the passages below; a mark stands in their place."],
  ]);
});

Deno.test("reviewPage() knows which servers have something held back, and pages their policies", async () => {
  const servers = Array.from({ length: 24 }, (_, n) => `s${n}`);
  const gateway = stub([item("s0", "t"), item("s1", "t", { state: "notice" })], servers);
  const shown = async (query: string) => {
    const { rows, pages } = (await reviewPage(gateway, new URLSearchParams(query))).policies;
    return [rows[0]?.server, rows[0]?.isHolding, rows.length, pages];
  };
  assert.deepEqual(await shown(""), ["s0", true, 10, 3]);
  assert.deepEqual(await shown("policies=3"), ["s20", false, 4, 3]);
  assert.deepEqual(await shown("server=s1"), ["s1", false, 1, 1]);
});

Deno.test("reviewPage() filters by the URL, and groups by server or by reason", async () => {
  const items = [
    item("a", "t", { kind: "finding", state: "quarantined", findings: [found("hidden")] }),
    item("b", "u", { kind: "finding", state: "flagged", findings: [found("hidden")] }),
    item("a", "u"),
  ];
  const shown = async (query: string) => {
    const { groups } = await reviewPage(stub(items), new URLSearchParams(query));
    return groups.map(({ name, cards }) => `${name}: ${cards.map(({ tool }) => tool).join()}`);
  };
  assert.deepEqual(await shown(""), ["a: t,u", "b: u"]);
  assert.deepEqual(await shown("group=reason"), ["hidden: t,u", "Definition changed: u"]);
  assert.deepEqual(await shown("server=a&tool=u"), ["a: u"]);
  assert.deepEqual(await shown("state=flagged"), ["b: u"]);
  assert.deepEqual(await shown("q=HIDDEN"), ["a: t", "b: u"]);
  assert.deepEqual(await shown("server=gone"), []);
});

Deno.test("an update is tried only from the gateway's own machine, and the page offers it there only", async () => {
  const tried: unknown[] = [];
  const packages = () => Promise.resolve({ try: (name: string) => tried.push(name) });
  const decide = (isLocal: boolean) =>
    decideByForm(
      REVIEW_DECISIONS,
      servicesOf({ packages }),
      new URLSearchParams({ action: "try-update", name: "s" }),
      callBy("everyone", { isLocal }),
    );
  await assert.rejects(decide(false), { code: "ACCESS_DENIED" });
  assert.deepEqual(tried, []);
  await decide(true);
  assert.deepEqual(tried, ["s"]);
  for (const isLocal of [true, false]) {
    assert.equal((await reviewPage(stub([]), NONE, { isLocal })).canTry, isLocal);
  }
});

/** A review of 130 findings and 20 held changes, on a real store. */
async function openMany() {
  const store = await Store.open({ location: ":memory:" });
  const review = openReview(store, { s: "hold" });
  await review.load();
  const held = (text: string) =>
    Array.from({ length: 20 }, (_, n) => listed(`held_${n}`, `Does ${text}`));
  const evil = Array.from({ length: 130 }, (_, n) => listed(`evil_${n}`, "EVIL and ODD"));
  await review.list("s", ...held("one"), ...evil);
  await review.list("s", ...held("more"), ...evil);
  const admin = new ReviewAdmin({
    ...review,
    servers: () => [{ name: "s", spec: {}, source: { kind: "store" } }] as never,
    admin: { describe: () => ({}), read: () => Promise.reject(), update: () => Promise.reject() },
  });
  const ask = async (decision: string, tools: string[]) => {
    const keys = admin.waiting().filter(({ tool }) => tools.includes(tool)).map(keyOf);
    const form = new URLSearchParams({ ask: decision, select: keys.join(" ") });
    return (await reviewPage({ ...stub([]), review: admin }, NONE, undefined, form)).asked!;
  };
  const send = (decision: string, items: unknown[], more = {}) => {
    const form = new URLSearchParams({ action: `${decision}-selected`, ...more });
    for (const each of items) form.append("items", JSON.stringify(each));
    return decideByForm(REVIEW_DECISIONS, servicesOf({ review: admin }), form, callBy("me"))
      .then(() => undefined, (error) => formOutcome(REVIEW_DECISIONS, form, error));
  };
  return { store, review, admin, ask, send, held, evil };
}

Deno.test("review page pages many findings, and decides on whole groups of them", async () => {
  const { store, review, admin, ask, send } = await openMany();
  await using _ = store;
  const page = await reviewPage({ ...stub([]), review: admin });
  assert.deepEqual([page.total, page.list.rows.length, page.list.pages], [150, 50, 3]);
  assert.deepEqual(page.groups.map(({ total, cards }) => [total, cards.length]), [[150, 50]]);

  const everything = admin.waiting().map(({ tool }) => tool);
  const asked = await ask("waive", everything);
  assert.deepEqual([asked.items.length, asked.skipped], [260, 20], "two rules each, no changes");
  assert.equal(await send("waive", asked.items, { reason: "Ours" }), undefined);
  assert.equal(review.names("s").length, 150);
  const changes = await ask("approve", everything);
  assert.deepEqual([changes.items.length, changes.skipped], [20, 0]);
  assert.equal(await send("approve", changes.items), undefined);
  assert.equal(admin.count().total, 0);
});

Deno.test("review page tells of each item that could not be decided, and decides the others", async () => {
  const { store, review, admin, ask, send, held, evil } = await openMany();
  await using _ = store;
  const { items } = await ask("reject", ["held_0", "held_1"]);
  const [, ...others] = held("more");
  await review.list("s", listed("held_0", "Does else"), ...others, ...evil);
  const outcome = await send("reject", items);
  assert.deepEqual([outcome?.isPartial, outcome?.refused?.message], [
    true,
    "1 of 2 decisions failed",
  ]);
  assert.match(outcome?.refused?.steps[0] ?? "", /^s\.held_0: .* has changed again/);
  const waiting = admin.waiting().map(({ tool }) => tool);
  assert.ok(waiting.includes("held_0") && !waiting.includes("held_1"));
  // A waiver without a reason is refused for each.
  const waived = await send("waive", (await ask("waive", ["evil_0"])).items);
  assert.equal(waived?.refused?.steps.length, 2);
});
