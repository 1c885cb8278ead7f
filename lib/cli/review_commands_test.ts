import assert from "node:assert/strict";
import { compareTools } from "../catalog/tool_diff.ts";
import type { GatewayError } from "../core/errors.ts";
import type { ReviewItem } from "../trust/review_items.ts";
import { itemText, itemToDecide, kindText } from "./review_commands.ts";

const plain = (_: string, text: string) => text;

Deno.test("itemText() shows the diff and the findings, and hides nothing of them", () => {
  const diff = compareTools(
    '{"name":"a","description":"Reads files"}',
    '{"name":"a","description":"Reads \\u001b[2Jsecrets\\u202e"}',
  );
  const text = itemText({
    server: "s",
    tool: "a\u001b[31m",
    kind: "changed",
    state: "held",
    fingerprint: "f00",
    diff,
    findings: [{
      rule: "secrets",
      severity: "high",
      where: "description",
      excerpt: "Reads \u001b[2Jsecrets\u200b\ufeff",
      why: "It asks for secrets",
    }],
  }, plain);
  assert.doesNotMatch(text, /[[\p{Cc}\p{Cf}]--\n]/v);
  assert.match(text, /description: .*secrets<U\+202E>/);
  assert.match(text, /secrets<U\+200B U\+FEFF>\n/);
  assert.match(text, /held {2}changed {2}compatible\n {2}fingerprint f00/);
  assert.match(text, /high: secrets in description\n {4}It asks for secrets/);
});

Deno.test("kindText() names what a tool was called before", () => {
  assert.equal(kindText({ kind: "renamed", from: "a" }), "renamed, was a");
  assert.equal(kindText({ kind: "invalid" }), "no longer a valid tool");
});

const finding = { severity: "high" as const, where: "description", excerpt: "", why: "" };
const quarantined: ReviewItem = {
  server: "sums",
  tool: "add",
  kind: "finding",
  state: "quarantined",
  fingerprint: "f",
  findings: [{ ...finding, rule: "hidden-orders" }, { ...finding, rule: "secret-paths" }],
};

function reviewsOf(...items: ReviewItem[]) {
  return { run: () => Promise.resolve({ items }) };
}

Deno.test("itemToDecide() points to waivers where there is only a quarantine", async () => {
  const subject = { tool: "sums.add" };
  const isWanted = ({ kind }: ReviewItem) => kind !== "finding";
  const flags = { flags: new Map() };
  await assert.rejects(
    itemToDecide(reviewsOf(quarantined), subject, flags, isWanted),
    (error: GatewayError) => {
      assert.equal(error.code, "TOOL_QUARANTINED");
      const waivers = error.details.next?.filter(({ operation }) => operation === "review.waive");
      assert.deepEqual(waivers?.map(({ input }) => input), [
        { tool: "sums.add", rule: "hidden-orders", reason: "TEXT" },
        { tool: "sums.add", rule: "secret-paths", reason: "TEXT" },
      ]);
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
      { tool: "sums.add" },
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
    itemToDecide(reviewsOf(...items), { tool: "sums.add" }, { flags }, () => true);
  await assert.rejects(decideOn(new Map(), held("g"), held("h")), (error: GatewayError) => {
    assert.equal(error.code, "INVALID_ARGUMENTS");
    assert.match(error.details.recoveryAction ?? "", /--fingerprint/);
    return true;
  });
  const named = new Map([["fingerprint", "h"]]);
  assert.equal((await decideOn(named, held("g"), held("h"))).fingerprint, "h");
  const turnedDown: ReviewItem = { ...held("h"), state: "rejected" };
  assert.equal((await decideOn(new Map(), held("g"), turnedDown)).fingerprint, "g");
});
