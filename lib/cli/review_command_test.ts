import assert from "node:assert/strict";
import type { GatewayError } from "../core/errors.ts";
import type { ReviewItem } from "../surfaces/review_item.ts";
import type { ReviewClient } from "./review_client.ts";
import { itemToDecide } from "./review_command.ts";
import { policyWords } from "./review_policy.ts";

const finding = { severity: "high" as const, where: "description", excerpt: "", why: "" };
const quarantined: ReviewItem = {
  server: "sums",
  tool: "add",
  kind: "finding",
  state: "quarantined",
  fingerprint: "f",
  findings: [{ ...finding, rule: "hidden-orders" }, { ...finding, rule: "secret-paths" }],
};

function reviewsOf(...items: ReviewItem[]): ReviewClient {
  return { show: () => Promise.resolve(items) } as unknown as ReviewClient;
}

Deno.test("itemToDecide() points to waivers where there is only a quarantine", async () => {
  const subject = { server: "sums", tool: "add" };
  const isWanted = ({ kind }: ReviewItem) => kind !== "finding";
  const flags = { flags: new Map() };
  await assert.rejects(
    itemToDecide(reviewsOf(quarantined), subject, flags, isWanted),
    (error: GatewayError) => {
      assert.equal(error.code, "TOOL_QUARANTINED");
      const steps = error.details.recoverySteps?.join("\n") ?? "";
      assert.match(steps, /review waive sums\.add hidden-orders --reason TEXT/);
      assert.match(steps, /review waive sums\.add secret-paths --reason TEXT/);
      return true;
    },
  );
  await assert.rejects(itemToDecide(reviewsOf(), subject, flags, isWanted), { code: "NOT_FOUND" });
  const held: ReviewItem = { ...quarantined, kind: "changed", state: "held" };
  assert.equal(
    await itemToDecide(reviewsOf(quarantined, held), subject, flags, isWanted),
    held,
  );
});

Deno.test("policyWords() has both what becomes of changes and the trust", () => {
  assert.equal(
    policyWords({ server: "a", policy: "hold", trust: "untrusted", isEditable: true }),
    "Changes of a: hold, trust: untrusted",
  );
});
