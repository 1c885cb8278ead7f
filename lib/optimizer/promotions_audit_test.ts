import assert from "node:assert/strict";
import type { AuditedChange } from "../core/access.ts";
import { PromotionsRepository } from "../storage/promotions_repository.ts";
import { Store } from "../storage/store.ts";
import { Promotions } from "./promotions.ts";

Deno.test("Promotions tells the audit log of each step once, and of a job's as the gateway's", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const audited: AuditedChange[] = [];
  let canonical = "Its own";
  const promotions = new Promotions({
    repository: new PromotionsRepository(store),
    canonical: () => canonical,
    onChange: () => {},
    onAudit: (change) => void audited.push(change),
  });
  const wanted = { server: "s", toolName: "t", candidateId: "cand_1", description: "Better" };
  await promotions.promote({ ...wanted, by: "job" });
  canonical = "Another of its own";
  await promotions.keep({ server: "s", tool: "t", by: "person" });
  // Nothing is stale any more, and nothing is done.
  await promotions.keep({ server: "s", tool: "t", by: "person" });
  await promotions.revert({ server: "s", tool: "t", by: "caller", reason: "It was worse" });
  assert.deepEqual(audited.map(({ action, subject, principal }) => [action, subject, principal]), [
    ["promotion.promote", "s.t", "gateway"],
    ["promotion.keep", "s.t", undefined],
    ["promotion.revert", "s.t", undefined],
  ]);
  assert.deepEqual(audited[2]?.before, { description: "Better", candidate: "cand_1" });
  assert.deepEqual(audited[2]?.after, {
    description: "the server's own",
    reason: "It was worse",
    by: "caller",
  });
});
