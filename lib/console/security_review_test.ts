import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { readReviewAction, reviewPage } from "./security_review.ts";

Deno.test("readReviewAction() takes what can be decided, and says what is wrong with the rest", () => {
  const exact = { server: "s", tool: "t", fingerprint: "f" };
  assert.equal(readReviewAction({ action: "approve", ...exact }).action, "approve");
  const policy = readReviewAction({ action: "policy", server: "s", changes: "hold" });
  assert.equal(policy.action === "policy" && policy.changes, "hold");
  const wrong = [
    {},
    { action: "destroy", ...exact },
    { action: "approve", server: "s", tool: "t" },
    { action: "policy", server: "s", changes: "never" },
    { action: "waive", ...exact },
  ];
  for (const input of wrong) {
    assert.throws(
      () => readReviewAction(input),
      (error) => error instanceof GatewayError && error.code === "INVALID_ARGUMENTS",
    );
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
    ["item-6", "Clients see it all the same."],
  ]);
  assert.equal(page.more, 2);
});

Deno.test("reviewPage() knows which servers have something held back", async () => {
  const item = { tool: "t", fingerprint: "f", findings: [], kind: "changed" as const };
  const policy = { policy: "hold" as const, trust: "trusted" as const, isEditable: true };
  const { policies } = await reviewPage({
    review: {
      list: () => ({
        items: [
          { ...item, server: "a", state: "held" as const },
          { ...item, server: "b", state: "notice" as const },
        ],
        more: 0,
      }),
      decisions: () => Promise.resolve([]),
      policies: () => ["a", "b"].map((server) => ({ ...policy, server })),
    },
  });
  assert.deepEqual(policies.map(({ isHolding }) => isHolding), [true, false]);
});
