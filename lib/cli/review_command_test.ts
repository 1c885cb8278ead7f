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

Deno.test("itemToDecide() takes the definition that is named, of two with the same finding", async () => {
  const held: ReviewItem = { ...quarantined, kind: "changed", state: "held", fingerprint: "g" };
  const decideOn = (fingerprint?: string) =>
    itemToDecide(
      reviewsOf(quarantined, held),
      { server: "sums", tool: "add" },
      { flags: new Map(fingerprint === undefined ? [] : [["fingerprint", fingerprint]]) },
      ({ findings }) => findings.length > 0,
    );
  assert.equal(await decideOn("g"), held);
  assert.equal(await decideOn("f"), quarantined);
  assert.equal(await decideOn(), quarantined);
  await assert.rejects(decideOn("h"), { code: "CONFLICT" });
});

Deno.test("itemToDecide() has one of several versions named", async () => {
  const held = (fingerprint: string): ReviewItem => ({
    ...quarantined,
    kind: "changed",
    state: "held",
    fingerprint,
  });
  const decideOn = (flags: Map<string, string>, ...items: ReviewItem[]) =>
    itemToDecide(reviewsOf(...items), { server: "sums", tool: "add" }, { flags }, () => true);
  await assert.rejects(decideOn(new Map(), held("g"), held("h")), (error: GatewayError) => {
    assert.equal(error.code, "INVALID_ARGUMENTS");
    assert.match(error.details.recoverySteps?.join("\n") ?? "", /--fingerprint/);
    return true;
  });
  const named = new Map([["fingerprint", "h"]]);
  assert.equal((await decideOn(named, held("g"), held("h"))).fingerprint, "h");
  const turnedDown: ReviewItem = { ...held("h"), state: "rejected" };
  assert.equal((await decideOn(new Map(), held("g"), turnedDown)).fingerprint, "g");
});

Deno.test("policyWords() has both what becomes of changes and the trust", () => {
  assert.equal(
    policyWords({ server: "a", policy: "hold", trust: "untrusted", isEditable: true }),
    "Changes of a: hold, trust: untrusted",
  );
});
