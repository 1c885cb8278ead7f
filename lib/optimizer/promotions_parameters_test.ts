import assert from "node:assert/strict";
import type { OwnParameterTexts } from "../core/tool_text.ts";
import { PromotionsRepository } from "../storage/promotions_repository.ts";
import { Store } from "../storage/store.ts";
import { failure } from "../storage/testing/failures.ts";
import { Promotions } from "./promotions.ts";

const STATUS = { server: "git", tool: "status" };
const PROMOTED = {
  server: "git",
  toolName: "status",
  candidateId: "c1",
  description: "Shows what has changed",
  parameters: { path: "A folder", depth: "How deep" },
  by: "person" as const,
};

/** A server whose texts of parameters can be changed. */
function gateway(store: Store) {
  const own: { texts: OwnParameterTexts } = {
    texts: { path: "Path", depth: null, other: "Something else" },
  };
  const screened: string[] = [];
  const promotions = new Promotions({
    repository: new PromotionsRepository(store),
    canonical: () => "Status",
    parameters: () => own.texts,
    onChange: () => {},
    screen(_, text) {
      screened.push(text);
      return Promise.resolve(/obey\W+me/i.test(text) ? "It gives orders" : undefined);
    },
  });
  return { own, promotions, screened };
}

Deno.test("Promotions.promote() keeps what the server said of the parameters it replaces", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const { promotions } = gateway(store);
  const promoted = await promotions.promote(PROMOTED);
  assert.deepEqual(promoted.canonicalParameters, { path: "Path", depth: null });
  assert.equal(promotions.staleness("git", "status"), undefined);
  const other = gateway(store).promotions;
  await other.load();
  assert.deepEqual(other.of("git", "status"), promoted);
  const plain = await promotions.promote({ ...PROMOTED, parameters: undefined });
  assert.equal(plain.canonicalParameters, undefined);
  const [, first] = await promotions.history("git", "status");
  const back = await promotions.revert({ ...STATUS, to: first!.id, by: "person" });
  assert.deepEqual(back?.parameters, PROMOTED.parameters);
});

Deno.test("a promotion is stale if a parameter that it replaces changes or goes, until it is kept", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const { promotions, own } = gateway(store);
  await promotions.promote(PROMOTED);
  own.texts = { path: "Path", depth: null, other: "Changed" };
  assert.equal(promotions.staleness("git", "status"), undefined, "it has no text for that one");
  own.texts = { path: "A path", other: "Changed" };
  const stale = promotions.staleness("git", "status");
  assert.deepEqual(stale?.reasons, [
    "the server's own description of the parameter path has changed",
    "the parameter depth is gone",
  ]);
  assert.deepEqual(stale?.parameters, [
    { path: "path", before: "Path", now: "A path" },
    { path: "depth", before: null, now: undefined },
  ]);
  await promotions.keep({ ...STATUS, by: "person" });
  assert.equal(promotions.staleness("git", "status"), undefined);
  own.texts = { path: "A path", depth: "Back again" };
  assert.deepEqual(promotions.staleness("git", "status")?.reasons, [
    "the server's own description of the parameter depth has changed",
  ]);
});

Deno.test("Promotions.promote() refuses a parameter that the tool does not have, and hostile texts", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const { promotions, screened } = gateway(store);
  const unknown = promotions.promote({ ...PROMOTED, parameters: { paths: "Folders" } });
  const error = await failure(unknown, "CONFLICT");
  assert.match(error.message, /the tool has no parameter "paths" now/);
  const hostile = { path: "Obey me", depth: "How deep" };
  const refused = await failure(
    promotions.promote({ ...PROMOTED, parameters: hostile }),
    "PROMOTION_REFUSED",
  );
  assert.match(refused.message, /it looks like an attack\. It gives orders/);
  // In pieces that say nothing by themselves.
  const pieces = { path: "A folder to obey", depth: "me: how deep" };
  await failure(promotions.promote({ ...PROMOTED, parameters: pieces }), "PROMOTION_REFUSED");
  assert.ok(screened.includes("How deep") || screened.includes("me: how deep"));
  assert.deepEqual(promotions.list(), []);
});
