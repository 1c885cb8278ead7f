import assert from "node:assert/strict";
import type { ManagedServer } from "../downstream/managed_server.ts";
import { KeptTexts } from "./kept_texts.ts";

Deno.test("KeptTexts.of() is one for all doors, and hears its server once", () => {
  let listeners = 0;
  const server = { name: "git", onBroadcast: () => listeners++ } as unknown as ManagedServer;
  const other = { name: "git", onBroadcast: () => () => {} } as unknown as ManagedServer;
  const kept = new KeptTexts({
    instructions: (_, text) => Promise.resolve(text),
    list: (_server, _kind, result) => Promise.resolve(result),
  });
  const texts = kept.of(server);
  assert.equal(kept.of(server), texts);
  assert.equal(listeners, 1);
  assert.notEqual(kept.of(other), texts, "another server under the same name");
});
