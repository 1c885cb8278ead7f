import assert from "node:assert/strict";
import { GatewayError } from "../../../../../lib/core/errors.ts";
import type { ReviewItem } from "../../../../../lib/trust/review_items.ts";
import type { ReviewAdmin } from "../../../../../lib/trust/review_admin.ts";
import { callBy, servicesOf } from "../../../../../lib/operations/testing/services.ts";
import { decideByForm } from "../../../../../lib/console/form_page.ts";
import { REVIEW_DECISIONS, reviewPage } from "./model.ts";

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
  ];
  for (const form of wrong) {
    await assert.rejects(decide(form as Record<string, string>), { code: "INVALID_ARGUMENTS" });
  }
});

Deno.test("reviewPage() says of each item what happened and what clients get", async () => {
  const item = { server: "s", tool: "t", fingerprint: "f", findings: [] };
  const kinds = [
    { ...item, kind: "changed" as const, state: "held" as const },
    { ...item, kind: "added" as const, state: "held" as const },
    { ...item, kind: "changed" as const, state: "notice" as const },
    { ...item, kind: "finding" as const, state: "quarantined" as const },
    { ...item, tool: "(instructions)", kind: "finding" as const, state: "quarantined" as const },
    { ...item, kind: "finding" as const, state: "flagged" as const },
  ];
  const page = await reviewPage({
    review: {
      list: () => ({ items: kinds, more: 2 }),
      show: () => [],
      waiting: () => [],
      decisions: () => Promise.resolve([]),
      policies: () => [],
    },
  });
  assert.deepEqual(page.cards.map(({ id, effect }) => [id, effect]), [
    ["item-1", "Clients go on with the version they know."],
    ["item-2", "No client sees it until it is approved."],
    ["item-3", "The change was passed on to clients."],
    ["item-4", "No client sees the tool or can call it."],
    ["item-5", "No client is given this text."],
    ["item-6", "Clients still see it."],
  ]);
  assert.equal(page.more, 2);
});

Deno.test("reviewPage() knows which servers have something held back, behind the end of its list too", async () => {
  const item = { tool: "t", kind: "changed" as const };
  const policy = { policy: "hold" as const, trust: "trusted" as const, isEditable: true };
  const { policies } = await reviewPage({
    review: {
      list: () => ({ items: [], more: 2 }),
      show: () => [],
      waiting: () => [
        { ...item, server: "a", state: "held" as const },
        { ...item, server: "b", state: "notice" as const },
      ],
      decisions: () => Promise.resolve([]),
      policies: () => ["a", "b"].map((server) => ({ ...policy, server })),
    },
  });
  assert.deepEqual(policies.rows.map(({ isHolding }) => isHolding), [true, false]);
});

Deno.test("reviewPage() has the policies of many servers by the page, or of the one asked for", async () => {
  const policy = { policy: "hold" as const, trust: "trusted" as const, isEditable: true };
  const gateway = {
    review: {
      list: () => ({ items: [], more: 0 }),
      show: () => [],
      waiting: () => [],
      decisions: () => Promise.resolve([]),
      policies: () => Array.from({ length: 120 }, (_, n) => ({ ...policy, server: `s${n}` })),
    },
  };
  const shown = async (query: string) => {
    const { rows, pages } = (await reviewPage(gateway, new URLSearchParams(query))).policies;
    return [rows[0]?.server, rows.length, pages];
  };
  assert.deepEqual(await shown(""), ["s0", 50, 3]);
  assert.deepEqual(await shown("page=3"), ["s100", 20, 3]);
  assert.deepEqual(await shown("server=s7"), ["s7", 1, 1]);
});

Deno.test("reviewPage() shows what is about one server or tool where the address asks for it", async () => {
  const held = (server: string, tool: string): ReviewItem => ({
    server,
    tool,
    fingerprint: "f",
    findings: [],
    kind: "changed",
    state: "held",
  });
  const items = [held("a", "t"), held("a", "u"), held("b", "t")];
  const gateway = {
    review: {
      list: (only?: string) => ({
        items: items.filter(({ server }) => only === undefined || server === only),
        more: only === undefined ? 2 : 1,
      }),
      show: (only: string, wanted: string): ReviewItem[] => {
        if (only !== "a") throw new GatewayError("SERVER_NOT_FOUND");
        const shown = items.filter(({ server, tool }) => server === only && tool === wanted);
        return [...shown, { ...held(only, wanted), state: "rejected" }];
      },
      waiting: () => items,
      decisions: () => Promise.resolve([]),
      policies: () => [],
    },
  };
  const shown = async (query: string) => {
    const { cards, more } = await reviewPage(gateway, new URLSearchParams(query));
    return [cards.map(({ server, tool }) => `${server}.${tool}`).join(" "), more];
  };
  assert.deepEqual(await shown(""), ["a.t a.u b.t", 2]);
  assert.deepEqual(await shown("server=a"), ["a.t a.u", 1]);
  assert.deepEqual(await shown("server=a&tool=u"), ["a.u", 0]);
  assert.deepEqual(await shown("server=gone&tool=u"), ["", 0]);
});
